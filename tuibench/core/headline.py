"""The facts of a result's headline; `report/headline.py` makes its sentences from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from tuibench.core.failure import Failure
from tuibench.core.record import from_plain
from tuibench.core.scenario import LATENCY, THROUGHPUT
from tuibench.core.stored import BenchmarkRow
from tuibench.core.units import ms, short

if TYPE_CHECKING:  # listing needs no results, and importing their types takes 12 ms
    from tuibench.core.result import Comparison

BATCH_TIME = "time per batch"
"""The metric of a performance profile."""


@dataclass(frozen=True, slots=True)
class HeadlineNumber:
    """A best number and the cell it belongs to; model, dims and settings only where the cells differ in them."""

    metric: str
    """LATENCY and BATCH_TIME in milliseconds, or THROUGHPUT."""
    value: float
    half_width: float | None = None
    """Half of the 95 % interval as a fraction of the value."""
    engine: str = ""
    scenario: str = ""
    cores: int = 0
    batch: int | None = None
    streams: int = 0
    model: str = ""
    dims: dict[str, int] = field(default_factory=dict)
    precision: str = ""
    pin: str = ""
    options: dict[str, str] = field(default_factory=dict)

    @property
    def unit(self) -> str:
        """Return the unit of the value."""
        return THROUGHPUT if self.metric == THROUGHPUT else "ms"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The comparison of two operands: ratio is new / base in time, with its 95 % interval."""

    kind: str | None
    """faster, slower, equivalent or undecided; None where `reasons` forbid a verdict."""
    ratio: float
    low: float | None
    high: float | None
    n: int
    """Number of pairs."""
    base: str
    new: str
    """Names of the operands."""
    metric: str = LATENCY
    margin: float = 0.02
    """Differences below it count as equivalent."""
    more_pairs: int | None = None
    """Pairs that would decide an undecided comparison; None if more pairs would not."""
    more_s: float | None = None
    """Seconds for those pairs."""
    reasons: tuple[str, ...] = ()
    told: str = ""
    """The sentence of a record that lacks the facts above."""


@dataclass(frozen=True, slots=True)
class ProfileFacts:
    """The result of a profile apart from its time."""

    kind: str
    """performance, measured or approximated."""
    op: str = ""
    """The operator with the largest time."""
    share: float = 0.0
    """Its share of the time."""
    below_resolution: bool = False
    asked: int = 0
    """Number of layers to measure."""
    measured: int = 0
    harmed: str = ""
    """The first layer whose change spoils the outputs."""
    harmed_count: int = 0
    layer: str = ""
    """The most sensitive one of the other layers."""
    level: str = ""
    db: float | None = None
    unknown: str = ""
    """The reason why no layer has a number."""
    known: bool = True
    """True if the weights of any layer were read."""
    unsure: bool = False
    """True if the result of some layers is unknown."""


@dataclass(frozen=True, slots=True)
class Headline:
    """The best numbers of a result, with warnings for the reader."""

    numbers: tuple[HeadlineNumber, ...] = ()
    varied: tuple[str, ...] = ()
    """The axes in which the cells differ."""
    grade: str = ""
    """The worst one of the numbers."""
    differs: bool = False
    """True if outputs differ from the reference."""
    missing: dict[str, int] = field(default_factory=dict)
    """Number of cells by status: failed, partial, skipped."""
    cells: int = 0
    verdict: Verdict | None = None
    """Verdict of the only comparison."""
    failure: Failure | None = None
    """The first failure, if nothing was measured."""
    more_failures: int = 0
    status: str = "finished"
    tool: str = ""
    """The other tool that measured it; its numbers have no grade and no interval."""
    profile: ProfileFacts | None = None


def verdict_of(found: Comparison, base: str = "", new: str = "") -> Verdict:
    """Return the facts of a comparison; `base` and `new` name the operands if a record of an older version does not."""
    return Verdict(
        kind=found.verdict,
        ratio=found.ratio,
        low=found.low,
        high=found.high,
        n=found.n,
        base=found.base_name or base,
        new=found.new_name or new,
        metric=found.metric,
        margin=found.margin,
        more_pairs=found.more_pairs,
        more_s=found.more_s,
        reasons=(found.why_no_verdict,) if found.why_no_verdict else (),
        told="" if found.base_name else found.sentence,
    )


def row_headline(row: BenchmarkRow) -> Headline | None:
    """Return the headline of a row; None where its facts are not derived yet."""
    return from_plain(Headline, row.facts) if row.facts else None


def fact_texts(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the numbers and texts of a row's facts, for a search through thousands of rows."""
    for number in facts.get("numbers", ()):
        yield short(number["value"]) if number["metric"] == THROUGHPUT else ms(number["value"])
    for part in ("failure", "verdict", "profile"):
        if part in facts:
            yield from (text for text in facts[part].values() if isinstance(text, str))


def to_facts(value: Any) -> Any:
    """Return a headline as plain values without those that are at their default; `from_plain` reads them."""
    if is_dataclass(value) and not isinstance(value, type):
        blank = {f.name: f.default_factory() if callable(f.default_factory) else f.default for f in fields(value)}
        found = {name: getattr(value, name) for name in blank}
        return {name: to_facts(part) for name, part in found.items() if part != blank[name]}
    return [to_facts(part) for part in value] if isinstance(value, tuple) else value
