"""A pair of compared cells, for every kind of comparison, with either cell as the base."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tuibench.core.cell import CellResult, Estimate, main_number, p50_latency
from tuibench.core.ids import short_id
from tuibench.core.label import CellName
from tuibench.core.reason import Reason, Verdict
from tuibench.core.result import Comparison, RunResult, SideBySide
from tuibench.core.units import ms
from tuibench.present.amount import amount
from tuibench.present.cells import cell_name, varying
from tuibench.present.reason import all_words, no_interval_words
from tuibench.present.verdict import verdict_sentence


@dataclass(frozen=True, slots=True)
class PairSide:
    """One operand of a pair."""

    name: str
    """Name of the benchmark, or of the differing setting inside one benchmark."""
    key: str
    """Key of the cell."""
    estimate: Estimate
    grade: str
    status: str


@dataclass(frozen=True, slots=True)
class Pair:
    """A row of a comparison."""

    cell: CellName
    """Differing cores and streams show both values."""
    unit: str
    """ms or items/s."""
    base: PairSide
    new: PairSide
    ratio: Estimate
    """new / base in time; below 1 the new operand is faster."""
    found: Verdict | None
    """None without a ratio."""
    why: str
    """Reason why there is no verdict or no ratio."""

    @property
    def verdict(self) -> str:
        """Return faster, slower, equivalent or undecided; '' if a verdict is not allowed."""
        return (self.found.kind or "") if self.found is not None else ""

    @property
    def sentence(self) -> str:
        """Return the comparison in words."""
        return self.why if self.found is None else verdict_sentence(self.found)

    @property
    def name(self) -> str:
        """Return the settings in words."""
        return self.cell.words()

    @property
    def key(self) -> str:
        """Return a unique key that does not depend on the choice of the base."""
        return ":".join(sorted((self.base.key + self.base.name, self.new.key + self.new.name)))

    def turned(self) -> Pair:
        """Return the pair with the operands exchanged."""
        value, low, high = (None if v is None else 1 / v for v in (self.ratio.value, self.ratio.high, self.ratio.low))
        ratio = Estimate(value, low, high, self.ratio.n, self.ratio.reason)
        found = self.found.turned() if self.found is not None else None
        return replace(self, cell=self.cell.turned(), base=self.new, new=self.base, ratio=ratio, found=found)


def pairs_of_sides(side: SideBySide) -> tuple[Pair, ...]:
    """Return the pairs of two stored benchmarks."""
    names = short_id(side.old_id), short_id(side.new_id)
    pairs = []
    for pair in side.pairs:
        base, new = (
            PairSide(name, figure.key, figure.estimate, figure.grade, figure.status)
            for name, figure in zip(names, (pair.old, pair.new), strict=True)
        )
        pairs.append(_pair(pair.cell, pair.unit, base, new, pair.comparison, pair.reason))
    return tuple(pairs)


def pairs_of_run(run: RunResult) -> tuple[Pair, ...]:
    """Return the pairs of operands that one benchmark measured in turns."""
    cells = {cell.key: cell for cell in run.cells}
    pairs = []
    varied = varying(run)
    for found in run.comparisons:
        base, new = cells.get(found.base), cells.get(found.new)
        if base is None or new is None:
            continue
        axes = [axis for axis in ("model", "engine", "precision") if _differ(base, new, axis)] or ["engine"]
        sides = [
            PairSide(_side_name(run, cell, axes), cell.key, main_number(cell).estimate(cell), _grade(cell), cell.status)
            for cell in (base, new)
        ]
        unit = main_number(new).unit
        name = cell_name(run, new, [axis for axis in varied if axis not in axes])
        pairs.append(_pair(name, unit, sides[0], sides[1], found, None))
    return tuple(pairs)


def operand_amount(side: PairSide, unit: str) -> str:
    """Return the text of an operand's column."""
    return amount(side.estimate, "ms" if unit == "ms" else "/s", side.status)


def ratio_words(ratio: Estimate) -> str:
    """Return new / base with its interval."""
    if ratio.value is None:
        return "-"
    highest = max(ratio.value, ratio.high or 0.0)
    digits = 3 if highest < 10 else 1 if highest < 100 else 0
    text = f"{ratio.value:.{digits}f}"
    if ratio.low is None or ratio.high is None:
        return text
    return f"{text} [{ratio.low:.{digits}f}, {ratio.high:.{digits}f}]"


def verdict_words(pair: Pair) -> str:
    """Return the verdict, or that there is none; the lines below the table give the reason."""
    return pair.verdict or "no verdict"


def side_names(pairs: Sequence[Pair]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the bases and of the others: one each, unless more than two operands were measured."""
    return tuple(dict.fromkeys(p.base.name for p in pairs)), tuple(dict.fromkeys(p.new.name for p in pairs))


def side_line(side: PairSide, cells: Mapping[str, CellResult]) -> str:
    """Return all figures for the speed of one operand."""
    cell = cells.get(side.key)
    if cell is None or (p50 := p50_latency(cell)).value is None:
        return f"{side.name}  {side.status}"
    parts = [amount(p50, "ms/batch"), f"{ms(p50.value / max(cell.items, 1))}/item"]
    parts += [amount(cell.items_per_sec, "items/s")] if cell.items_per_sec.value is not None else []
    parts += [f"grade {side.grade}"] if side.grade else []
    return f"{side.name}  " + "  ".join(parts)


def _pair(
    name: CellName, unit: str, base: PairSide, new: PairSide, found: Comparison | None, reason: Reason | None
) -> Pair:
    words = no_interval_words(reason)
    if found is None:
        return Pair(name, unit, base, new, Estimate(None, reason=reason), None, words)
    verdict = found.verdict
    ratio = Estimate(verdict.ratio, verdict.low, verdict.high, verdict.n, reason)
    why = "; ".join(filter(None, (*all_words(verdict.reasons), words)))
    return Pair(name, unit, base, new, ratio, verdict, why)


def _differ(base: CellResult, new: CellResult, axis: str) -> bool:
    name = "model_sha256" if axis == "model" else axis
    return bool(getattr(base.asked, name) != getattr(new.asked, name))


def _side_name(run: RunResult, cell: CellResult, axes: list[str]) -> str:
    models = {model.sha256: source.asked for model, source in zip(run.models, run.spec.models, strict=False)}
    sha256 = cell.asked.model_sha256
    model = models.get(sha256, sha256[:8]).rpartition("/")[2]
    return " ".join(model if axis == "model" else str(getattr(cell.asked, axis)) for axis in axes)


def _grade(cell: CellResult) -> str:
    return cell.grade.letter if cell.grade is not None else ""
