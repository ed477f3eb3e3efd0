"""A project: a named piece of work around one model, and what its model was when it was last seen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tuibench.core.units import count_of


@dataclass(frozen=True, slots=True)
class FileStamp:
    """A file as it was: enough to notice cheaply that it may have changed, and surely that it has."""

    path: str
    size: int
    mtime_ns: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelReference:
    """A model by reference: nothing of the user's is ever copied unless asked."""

    asked: str
    """As the user named it: a path, sample:NAME, hf:… or https:…"""
    file: FileStamp
    sha256: str
    """Of the model and its external data together: what cells are keyed by."""
    external: tuple[FileStamp, ...] = ()


@dataclass(frozen=True, slots=True)
class Version:
    """One variant of a project's model; a file that changed in place becomes a new one."""

    id: str
    project: str
    name: str
    """original, then v2, v3 …"""
    created_utc: str
    model: ModelReference
    note: str = ""
    recipe: dict[str, str] = field(default_factory=dict)
    """How it was made, where we made it."""


@dataclass(frozen=True, slots=True)
class Project:
    """What people see of a project; its versions are files of their own."""

    id: str
    name: str
    description: str
    created_utc: str
    modified_utc: str
    versions: tuple[Version, ...]
    """Oldest first."""
    dims: dict[str, int] = field(default_factory=dict)
    """Symbolic dims other than the batch, asked once and remembered."""
    generation: int = 1

    def holds_file(self, path: str) -> bool:
        """Whether one of its versions was measured from that file, whatever lies there now."""
        return any(version.model.file.path == path for version in self.versions)

    def holds(self, sha256: str) -> bool:
        """Whether one of its versions has this content."""
        return any(version.model.sha256 == sha256 for version in self.versions)


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """One project in a list."""

    project: Project
    benchmarks: int
    """-1 where nobody has counted yet."""
    size_bytes: int
    """Of what the store holds for it; -1 where nobody has looked yet."""
    last_run_utc: str
    """'' where nothing was measured yet."""
    profiles: int = 0
    """Stored ones of both kinds, which `benchmarks` leaves out."""

    @property
    def measured(self) -> int:
        """How much is stored, of whatever kind; -1 where nobody has counted yet."""
        return self.benchmarks + self.profiles if self.benchmarks >= 0 else -1

    @property
    def held(self) -> str:
        """What is stored, in words."""
        return held_words((self,))


def held_words(rows: Iterable[ProjectRow]) -> str:
    """What is stored for all of them: who has only profiles has not nothing."""
    counts = [(row.benchmarks, row.profiles) for row in rows]
    benchmarks, profiles = sum(each for each, _ in counts), sum(each for _, each in counts)
    words = [count_of(benchmarks, "benchmark")] if benchmarks or not profiles else []
    return ", ".join([*words, *([count_of(profiles, "profile")] if profiles else [])])
