"""The editable part of a stored record, and the row of a record in lists."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # listing needs no results, and importing their types takes 12 ms
    from tuibench.core.run import RunResult

DAMAGED = "damaged"
"""The status of a row whose record cannot be read."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """Name, note and links of a benchmark; stored apart from its result, which is written once."""

    name: str = ""
    note: str = ""
    project: str | None = None
    """The ULID of the project it belongs to."""
    rerun_of: str | None = None
    """The ULID of the benchmark whose settings it repeats."""
    updated_utc: str = ""
    compare_to: str | None = None
    """The ULID of the benchmark to compare with."""

    @property
    def partner(self) -> str | None:
        """The benchmark shown beside this one: the one to compare with, else the one it repeats."""
        return self.compare_to or self.rerun_of


@dataclass(frozen=True, slots=True)
class BenchmarkRow:
    """One benchmark in a list: flat, small, and derived only from its record, so that an index can be rebuilt."""

    id: str
    host: str
    started_utc: str
    status: str
    """finished, cancelled or interrupted."""
    models: str
    """Names of the models, joined by commas."""
    model_sha256: str
    """sha256 of the first model; '' if none could be read."""
    engines: str
    scenarios: str
    cores: str
    batches: str
    """Axes as requested or chosen, joined by commas."""
    cells: int
    measured: int
    """Cells that have numbers."""
    grade: str
    """Grade of the headline's numbers, else the worst grade of the cells; '' for none."""
    foreign: str
    """The tool that measured it, if another one; '' for tuibench."""
    name: str = ""
    note: str = ""
    project: str = ""
    rerun_of: str = ""
    card_generation: int = 1
    kind: str = ""
    """performance or loss if it is a profile."""
    facts: dict[str, Any] = field(default_factory=dict, hash=False)
    """The headline as plain values (core/headline.py); empty if not yet derived for a row of an older version."""
    headline: str = ""
    """The sentence of a row written by an older version."""


@dataclass(frozen=True, slots=True)
class StoredBenchmark:
    """A whole record."""

    row: BenchmarkRow
    metadata: Metadata
    result: RunResult
