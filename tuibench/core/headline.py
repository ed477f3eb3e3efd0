"""Facts of a result's headline; `present/headline.py` formats them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, fields, is_dataclass
from typing import Any

from tuibench.core.reason import Failure, Reason, Verdict
from tuibench.core.record import from_plain, to_plain
from tuibench.core.scenario import THROUGHPUT
from tuibench.core.stored import BenchmarkRow
from tuibench.core.units import ms, short
from tuibench.core.value import dataclass

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
    unknown: Reason | None = None
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
    elsewhere: str = ""
    """The engine of a number that another engine inside it computed."""
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
    unknown = facts.get("profile", {}).get("unknown")
    if isinstance(unknown, dict):
        yield str(unknown.get("code")).replace("_", " ")
        yield from (text for text in dict(unknown.get("fields") or {}).values() if isinstance(text, str))


def to_facts(value: Any) -> Any:
    """Return a headline as plain values without those that are at their default; `from_plain` reads them."""
    if isinstance(value, Reason):
        return to_plain(value)
    if is_dataclass(value) and not isinstance(value, type):
        blank = {f.name: f.default_factory() if callable(f.default_factory) else f.default for f in fields(value)}
        found = {name: getattr(value, name) for name in blank}
        return {name: to_facts(part) for name, part in found.items() if part != blank[name]}
    return [to_facts(part) for part in value] if isinstance(value, tuple) else value
