"""The conclusions of a result: the best cells, and models that could not be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tuibench.core.cell import (
    CellResult,
    Choice,
    Estimate,
    by_work,
    choose,
    is_clean,
    latency,
    measured,
    throughput,
    throughput_per_core,
)
from tuibench.core.label import Names, describe, model_names, names_by_sha256, varying_axes
from tuibench.core.result import RunResult
from tuibench.core.scenario import find
from tuibench.core.text import show
from tuibench.core.units import ms, percent, short
from tuibench.present.reason import no_interval_words

_MOST_TIED = 3
_MOST_SAID = 3


@dataclass(frozen=True, slots=True)
class Conclusion:
    """One statement about the cells of a result, safe to print."""

    title: str
    """The question that it answers; '' for a statement without one."""
    text: str

    @property
    def sentence(self) -> str:
        """Return title and text in one line."""
        return f"{self.title}: {self.text}" if self.title else self.text


def conclusions(run: RunResult) -> tuple[Conclusion, ...]:
    """Return the conclusions from a result's cells; none for a profile or another tool's result."""
    if not run.cells or run.foreign:
        return ()
    names = names_by_sha256(run)
    return (*conclude(run.cells, names), *(Conclusion("", text) for text in explain_missing(run)))


def conclude(cells: Sequence[CellResult], names: Names) -> tuple[Conclusion, ...]:
    """Return a conclusion for least latency, most items/s and most items/s per core, if there is a choice.

    Cells with a smaller model or a shorter sequence do less work, so each group of equal work has its own conclusions.
    """
    able = measured(cells)
    return tuple(found for group in by_work(able) for found in _conclude(group, able, names))


def _conclude(able: Sequence[CellResult], among: Sequence[CellResult], names: Names) -> list[Conclusion]:
    # Streams trade the latency of one request for throughput, so they are not compared by latency.
    alone = [c for c in able if find(c.asked.scenario).is_latency] or able
    found = [_best("Least latency", choose(alone, latency, most=False), alone, among, names, "ms")]
    found.append(_best("Most items/s", choose(able, throughput, most=True), able, among, names, "items/s"))
    if "cores" in varying_axes(cell.asked for cell in able):
        best = choose(able, throughput_per_core, most=True)
        found.append(_best("Most items/s per core", best, able, among, names, "items/s per core"))
    return [one for one in found if one is not None]


def _best(
    title: str, best: Choice | None, cells: Sequence[CellResult], among: Sequence[CellResult], names: Names, unit: str
) -> Conclusion | None:
    if best is None or len(cells) < 2:
        return None
    words = [f"{_amount(best.estimate, unit)} ({describe(best.cell, among, names)})"]
    if best.cell.grade is not None:
        words.append(f"grade {best.cell.grade.letter}")
    if best.estimate.low is None and best.estimate.reason:
        words.append(no_interval_words(best.estimate.reason))
    if not is_clean(best.cell):
        words.append("no cell is clean" if not _differs(best.cell) else "outputs differ, and no cell is clean")
    return Conclusion(title, ", ".join(words) + _ties(best, among, names) + ".")


def _ties(best: Choice, cells: Sequence[CellResult], names: Names) -> str:
    if not best.tied:
        return ""
    shown = [describe(c, cells, names) for c in best.tied[:_MOST_TIED]]
    rest = len(best.tied) - len(shown)
    return "; tied with " + " / ".join(shown) + (f" and {rest} more" if rest else "")


def _amount(estimate: Estimate, unit: str) -> str:
    value = estimate.value or 0.0
    half = estimate.half_width
    amount = ms(value) if unit == "ms" else f"{short(value)} {unit}"
    return amount if half is None else f"{amount} ±{percent(half)}"


def _differs(cell: CellResult) -> bool:
    return cell.check is not None and cell.check.state == "differs"


def explain_missing(run: RunResult) -> tuple[str, ...]:
    """Return a sentence for each further model that has no comparison."""
    able = measured(run.cells)
    model_of = {cell.key: cell.asked.model_sha256 for cell in able}
    pairs = [(model_of.get(c.base), model_of.get(c.new)) for c in run.comparisons]
    compared = {new for base, new in pairs if new != base}
    sentences = []
    first: dict[str, str] = {}
    for model, label in zip(run.models, model_names(run.spec.models), strict=False):
        if model.sha256 in first:
            sentences.append(f"{label} has the same content as {first[model.sha256]}: measured once.")
        elif first and model.sha256 not in compared:
            base, name = next(iter(first.items()))
            why = _why_apart(*([c for c in able if c.asked.model_sha256 == sha] for sha in (base, model.sha256)))
            sentences += [f"{label} is not compared with {name}: {why}."] if why else []
        first.setdefault(model.sha256, label)
    return tuple(sentences)


def _why_apart(base: Sequence[CellResult], new: Sequence[CellResult]) -> str:
    """Return '' if one model has no numbers: its failure is reason enough."""
    if not base or not new:
        return ""
    for noun, say in (("batch sizes", _batch_words), ("dims", _dim_words)):
        left, right = (list(dict.fromkeys(say(cell) for cell in cells)) for cells in (base, new))
        if not set(left) & set(right):
            return f"their {noun} differ ({' / '.join(right[:_MOST_SAID])} against {' / '.join(left[:_MOST_SAID])})"
    return "no round measured both with the same settings"


def _batch_words(cell: CellResult) -> str:
    return "none" if cell.asked.batch is None else str(cell.asked.batch)


def _dim_words(cell: CellResult) -> str:
    return " ".join(f"{show(name, 40)}={size}" for name, size in cell.asked.dims.items()) or "none"
