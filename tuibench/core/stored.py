"""Contents of the store: benchmarks and their rows, projects, the trash, and the report of a check."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import TYPE_CHECKING, Any

from tuibench.core.activity import UNSAVED, RunInfo
from tuibench.core.errors import ExitCode
from tuibench.core.reason import Reason
from tuibench.core.units import count_of, size
from tuibench.core.value import dataclass

if TYPE_CHECKING:
    from tuibench.core.result import RunResult


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


NEWER = "newer"
"""The kind of problem that only a newer version can handle."""


@dataclass(frozen=True, slots=True)
class TrashEntry:
    """One removal; it is restored as a whole."""

    id: str
    removed_utc: str
    kind: str
    """benchmark or project."""
    names: tuple[str, ...]
    """Its contents for people: short ids with names."""
    benchmarks: tuple[str, ...]
    projects: tuple[str, ...]
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Removal:
    """The result of a removal: the trash has it, unless it was never saved."""

    entry: TrashEntry | None
    cancelled: tuple[RunInfo, ...] = ()
    discarded: tuple[RunInfo, ...] = ()
    """Removed permanently."""

    @property
    def unsaved(self) -> tuple[RunInfo, ...]:
        """Cancelled runs whose result could not be saved; they still exist and are listed."""
        return tuple(run for run in self.cancelled if run.state == UNSAVED)


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem in the store: kind, path, and what was or can be done about it."""

    kind: str
    """unlisted, missing, damaged, stale, leftover, unfinished, newer, edited."""
    path: str
    """Path relative to the store."""
    detail: Reason | None
    repaired: bool = False
    mendable: bool = False
    """True if `store check --repair` would act on it."""


@dataclass(frozen=True, slots=True)
class StoreReport:
    """The findings and actions of `store check` or `store migrate`."""

    checked: int
    """Files checked."""
    read: int
    """Files whose checksums were verified."""
    problems: tuple[Problem, ...] = ()
    migrated: int = 0
    derived: int = 0
    """Rows of an older version whose facts were derived from their records."""
    partial: bool = False
    """True if contents were skipped that `--read-data` would have read."""

    @property
    def exit_code(self) -> int:
        """Exit code of the command: 6 if a difference from the written data remains.

        Files of a newer version do not count: that version can handle them.
        """
        left = any(not problem.repaired and problem.kind != NEWER for problem in self.problems)
        return ExitCode.STORE if left else ExitCode.OK


@dataclass(frozen=True, slots=True)
class FileStamp:
    """A file's stamp: size and time detect a possible change cheaply, the checksum confirms it."""

    path: str
    size: int
    mtime_ns: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelReference:
    """A model by reference: a user's file is copied only on request."""

    asked: str
    """The name the user gave: a path, sample:NAME, hf:… or https:…"""
    file: FileStamp
    sha256: str
    """Checksum of the model with its external data; cells are keyed by it."""
    external: tuple[FileStamp, ...] = ()


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a project's model; a file changed in place becomes a new version."""

    id: str
    project: str
    name: str
    """original, then v2, v3 …"""
    created_utc: str
    model: ModelReference
    note: str = ""
    recipe: dict[str, str] = field(default_factory=dict)
    """The steps that made it, if tuibench made it."""


@dataclass(frozen=True, slots=True)
class Project:
    """A project with its versions; each version has its own file."""

    id: str
    name: str
    description: str
    created_utc: str
    modified_utc: str
    versions: tuple[Version, ...]
    """Oldest first."""
    dims: dict[str, int] = field(default_factory=dict)
    """Sizes of symbolic dims other than the batch, asked once and saved."""
    generation: int = 1

    def holds_file(self, path: str) -> bool:
        """Return whether a version was measured from that path, whatever file is there now."""
        return any(version.model.file.path == path for version in self.versions)

    def holds(self, sha256: str) -> bool:
        """Return whether a version has this content."""
        return any(version.model.sha256 == sha256 for version in self.versions)


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """One project in a list."""

    project: Project
    benchmarks: int
    size_bytes: int | None
    """Bytes in the store for it; None if it was not looked up, and nothing was counted."""
    last_run_utc: str
    """'' if nothing was measured yet."""
    profiles: int = 0
    """Stored profiles of both kinds; `benchmarks` does not count them."""

    @property
    def measured(self) -> int:
        """Number of stored benchmarks and profiles."""
        return self.benchmarks + self.profiles

    @property
    def size_text(self) -> str:
        """The size with its unit; '' if it was not looked up."""
        return "" if self.size_bytes is None else size(self.size_bytes)

    @property
    def held(self) -> str:
        """The stored items in words."""
        return held_words((self,))


def held_words(rows: Iterable[ProjectRow]) -> str:
    """Return the stored items of all rows in words; name profiles even if there is no benchmark."""
    counts = [(row.benchmarks, row.profiles) for row in rows]
    benchmarks, profiles = sum(each for each, _ in counts), sum(each for _, each in counts)
    words = [count_of(benchmarks, "benchmark")] if benchmarks or not profiles else []
    return ", ".join([*words, *([count_of(profiles, "profile")] if profiles else [])])
