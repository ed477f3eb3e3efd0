"""The words of a headline: numbers, grade, missing cells and the verdict, in one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tuibench.core.cell import (
    CellResult,
    Choice,
    Metric,
    by_work,
    choose,
    is_clean,
    measured,
    p50_latency,
    ran_elsewhere,
    throughput,
    throughput_per_core,
)
from tuibench.core.headline import BATCH_TIME, Headline, HeadlineNumber, ProfileFacts
from tuibench.core.label import Names, describe, model_names, name_cell, names_by_sha256, varying_axes
from tuibench.core.result import RunResult
from tuibench.core.result_headline import headline_of
from tuibench.core.scenario import find
from tuibench.core.spec import APPROXIMATED, PERFORMANCE
from tuibench.core.text import show
from tuibench.core.units import count_of, percent, short
from tuibench.present.amount import amount, elsewhere_words
from tuibench.present.reason import failure_words, no_interval_words, reason_words
from tuibench.present.verdict import verdict_sentence

if TYPE_CHECKING:
    from tuibench.core.result import RunResult


_MAX_NAME_CHARS = 60
_MOST_WORDS = 200
_WHERE_KNOWN = ", where that is known"
_FINISHED = "finished"


def result_headline(result: RunResult) -> str:
    """Return the headline of a result."""
    return headline_sentence(headline_of(result))


def headline_sentence(found: Headline, *, verdict: bool = True) -> str:
    """Return the whole line; `verdict` False omits the verdict, for places with a separate line for it."""
    parts = [*_numbers(found, cells=True), *grade_words(found), *remark_words(found)]
    if verdict and found.verdict is not None:
        parts.append(verdict_sentence(found.verdict))
    return " · ".join(filter(None, [*parts, *([] if found.status == _FINISHED else [show(found.status)])]))


def brief_headline(found: Headline) -> str:
    """Return the line without cells, grade and tool, which lists show in columns; an abnormal status comes first."""
    if found.status == _FINISHED:
        parts = [*_numbers(found, cells=False), *remark_words(found)]
    else:
        # An interrupted or cancelled run implies incomplete cells.
        failed = {status: count for status, count in found.missing.items() if status == "failed"}
        parts = [show(found.status), *_numbers(found, cells=False), *remark_words(found, failed)]
    if found.verdict is not None:
        parts.append(verdict_sentence(found.verdict, brief=True))
    return show(" · ".join(filter(None, parts)), _MOST_WORDS)


def number_words(number: HeadlineNumber) -> str:
    """Return a number with its unit and interval."""
    return amount(number, number.unit + ("/batch" if number.metric == BATCH_TIME else ""))


def remark_words(found: Headline, missing: dict[str, int] | None = None) -> list[str]:
    """Return warnings about the numbers; empty without any."""
    if not found.numbers or found.profile is not None:
        return []
    remarks = ["outputs differ"] if found.differs else []
    remarks += [elsewhere_words(found.elsewhere)] if found.elsewhere else []
    return remarks + missing_words(found, missing)


def missing_words(found: Headline, missing: dict[str, int] | None = None) -> list[str]:
    """Return the number of incomplete cells by status."""
    every = found.missing if missing is None else missing
    return [f"{count} of {count_of(found.cells, 'cell')} {status}" for status, count in every.items()]


def grade_words(found: Headline) -> list[str]:
    """Return the grade, or a note that the tool gives none."""
    if found.tool:
        return [f"{show(found.tool)}, no grade, no interval"]
    return [f"grade {show(found.grade, 4)}"] if found.grade else []


def _numbers(found: Headline, *, cells: bool) -> Iterator[str]:
    for number in found.numbers:
        yield number_words(number) + (f" ({_cell(number, found)})" if cells and number.scenario else "")
    if found.profile is not None:
        yield from _profile_words(found)
    elif not found.numbers:
        yield _nothing(found, more=cells)


def _nothing(found: Headline, *, more: bool) -> str:
    """Return the reason of the first failure, the first thing to fix."""
    if found.failure is not None:
        others = f" (and {found.more_failures} more)" if more and found.more_failures else ""
        return failure_words(found.failure) + others
    skipped = found.missing.get("skipped", 0)
    return f"nothing measured: {count_of(skipped, 'cell')} skipped" if skipped else "nothing measured"


def _cell(number: HeadlineNumber, found: Headline) -> str:
    return name_cell(number, found.varied, model=show(number.model, _MAX_NAME_CHARS), brief=not found.tool)


def _profile_words(found: Headline) -> Iterator[str]:
    facts = found.profile
    assert facts is not None
    if facts.kind == PERFORMANCE:
        if not found.numbers:
            yield "no time"
        yield "layers below the profiler's resolution" if facts.below_resolution else _heaviest(facts)
    elif facts.kind == APPROXIMATED:
        yield _largest_change(facts)
        yield "a proxy"
    else:
        yield from _loss_words(facts)


def _heaviest(facts: ProfileFacts) -> str:
    return f"{percent(facts.share)} {show(facts.op, _MAX_NAME_CHARS)}" if facts.op else ""


def _largest_change(facts: ProfileFacts) -> str:
    if facts.layer and facts.db is not None:
        name = show(facts.layer, _MAX_NAME_CHARS)
        return f"largest change of weights: {name}, {short(facts.db)} dB at {show(facts.level, 20)}"
    return "no weights change" + _WHERE_KNOWN * facts.unsure if facts.known else "no change of weights is known"


def _loss_words(facts: ProfileFacts) -> Iterator[str]:
    """Yield the layer that harms the outputs most, or the reason why there is none."""
    # If a profile ended early, the other layers are unknown.
    cut = facts.measured < facts.asked
    part = f"of {facts.measured} of {count_of(facts.asked, 'layer')} " if cut else ""
    if facts.harmed:
        others = facts.harmed_count - 1
        more = f" and {count_of(others, 'more layer')}" if others else ""
        yield f"{part}harm beyond dB: {show(facts.harmed, _MAX_NAME_CHARS)}{more}"
    if facts.layer:
        most = "most sensitive of the others" if facts.harmed else f"{part}most sensitive"
        yield f"{most}: {sensitive_words(facts)}"
    elif not facts.harmed and facts.unknown:
        yield f"unknown for all layers: {reason_words(facts.unknown, _MOST_WORDS)}"
    elif not facts.harmed:
        yield (f"{part}none" if part else "no layer") + " loses anything" + _WHERE_KNOWN * facts.unsure


def sensitive_words(facts: ProfileFacts) -> str:
    """Return the most sensitive layer with its loss."""
    db = 0.0 if facts.db is None else facts.db
    return f"{show(facts.layer, _MAX_NAME_CHARS)}, {short(db)} dB SQNR at {show(facts.level, 20)}"


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
    # Scenarios for throughput trade the latency of a request for it, so they are not compared by latency.
    alone = [c for c in able if find(c.asked.scenario).is_latency] or able
    found = [_best("Least latency", p50_latency, alone, among, names, "ms")]
    found.append(_best("Most items/s", throughput, able, among, names, "items/s"))
    if "cores" in varying_axes(cell.asked for cell in able):
        found.append(_best("Most items/s per core", throughput_per_core, able, among, names, "items/s per core"))
    return [one for one in found if one is not None]


def _best(
    title: str, metric: Metric, cells: Sequence[CellResult], among: Sequence[CellResult], names: Names, unit: str
) -> Conclusion | None:
    most = unit != "ms"
    best = choose(cells, metric, most=most)
    if best is None or len(cells) < 2:
        return None
    words = [f"{amount(best.estimate, unit)} ({describe(best.cell, among, names)})"]
    if best.cell.grade is not None:
        words.append(f"grade {best.cell.grade.letter}")
    if best.estimate.low is None and best.estimate.reason:
        words.append(no_interval_words(best.estimate.reason))
    if ran_elsewhere(best.cell):
        words.append(elsewhere_words(best.cell.asked.engine))
    elif not is_clean(best.cell):
        words.append("no cell is clean" if not _differs(best.cell) else "outputs differ, and no cell is clean")
    return Conclusion(title, ", ".join(words) + _ties(best, among, names) + _left_out(best, cells, metric, most) + ".")


def _left_out(best: Choice, cells: Sequence[CellResult], metric: Metric, most: bool) -> str:
    """Return the engines with a better number that another engine inside them computed; '' if there are none."""
    value = best.estimate.value
    if value is None or ran_elsewhere(best.cell):
        return ""
    engines = [
        cell.asked.engine
        for cell in cells
        if ran_elsewhere(cell) and (other := metric(cell).value) is not None and (other > value) is most
    ]
    return "".join(f"; {show(one, 40)} left out: {elsewhere_words(one)}" for one in dict.fromkeys(engines))


def _ties(best: Choice, cells: Sequence[CellResult], names: Names) -> str:
    if not best.tied:
        return ""
    shown = [describe(c, cells, names) for c in best.tied[:_MOST_TIED]]
    rest = len(best.tied) - len(shown)
    return "; tied with " + " / ".join(shown) + (f" and {rest} more" if rest else "")


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
