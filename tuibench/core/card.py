"""What people and runs add to a stored result: the only part of a record that is ever rewritten."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # listing needs no results, and their types take 12 ms
    from tuibench.core.run import RunResult

DAMAGED = "damaged"
"""The status of a row whose record cannot be read."""


@dataclass(frozen=True, slots=True)
class Card:
    """Name, note and links of a benchmark; kept apart from its result, which is written once."""

    name: str = ""
    note: str = ""
    project: str | None = None
    """The ULID of the project it belongs to."""
    rerun_of: str | None = None
    """The ULID of the benchmark whose settings it repeats."""
    updated_utc: str = ""
    compare_to: str | None = None
    """The ULID of the benchmark that it was measured to be held against."""

    @property
    def partner(self) -> str | None:
        """What it is shown beside: what was chosen for that, else what it repeats."""
        return self.compare_to or self.rerun_of


@dataclass(frozen=True, slots=True)
class BenchmarkRow:
    """One benchmark in a list: flat, small, and wholly derived from its record, so that an index can be rebuilt."""

    id: str
    host: str
    started_utc: str
    status: str
    """finished, cancelled or interrupted."""
    models: str
    """Names of the models, joined by commas."""
    model_sha256: str
    """Of the first model; '' where none could be read."""
    engines: str
    scenarios: str
    cores: str
    batches: str
    """Comma-joined axes, as they were asked or chosen."""
    cells: int
    measured: int
    """Cells that have numbers."""
    grade: str
    """Of the headline's numbers, else the worst one of the cells; '' where there is none."""
    foreign: str
    """The tool that measured it where that was not tuibench; '' for our own."""
    name: str = ""
    note: str = ""
    project: str = ""
    rerun_of: str = ""
    card_generation: int = 1
    kind: str = ""
    """performance or loss where it is a profile."""
    facts: dict[str, Any] = field(default_factory=dict, hash=False)
    """The headline as plain values (core/headline.py); empty until they are derived for a row of an older version."""
    headline: str = ""
    """The sentence of a row of an older version."""


@dataclass(frozen=True, slots=True)
class StoredBenchmark:
    """A whole record."""

    row: BenchmarkRow
    card: Card
    result: RunResult
