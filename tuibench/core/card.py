"""What people and runs add to a stored result: the only part of a record that is ever rewritten."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    headline: str
    grade: str
    """Worst letter of the measured cells, '' where there is none."""
    foreign: str
    """The tool that measured it where that was not tuibench; '' for our own."""
    name: str = ""
    note: str = ""
    project: str = ""
    rerun_of: str = ""
    card_generation: int = 1
    kind: str = ""
    """performance or loss where it is a profile."""


@dataclass(frozen=True, slots=True)
class StoredBenchmark:
    """A whole record."""

    row: BenchmarkRow
    card: Card
    result: RunResult
