"""A project: named work around one model, and the model's state when last seen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tuibench.core.units import count_of


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
    """-1 if not counted yet."""
    size_bytes: int
    """Bytes in the store for it; -1 if not measured yet."""
    last_run_utc: str
    """'' if nothing was measured yet."""
    profiles: int = 0
    """Stored profiles of both kinds; `benchmarks` does not count them."""

    @property
    def measured(self) -> int:
        """Number of stored benchmarks and profiles; -1 if not counted yet."""
        return self.benchmarks + self.profiles if self.benchmarks >= 0 else -1

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
