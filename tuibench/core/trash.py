"""What was removed and can come back, and what a look at the store found."""

from __future__ import annotations

from dataclasses import dataclass

from tuibench.core.errors import ExitCode

NEWER = "newer"
"""The kind of problem that only a newer version can look after."""


@dataclass(frozen=True, slots=True)
class TrashEntry:
    """One removal: everything that went with it comes back with it."""

    id: str
    removed_utc: str
    kind: str
    """benchmark or project."""
    names: tuple[str, ...]
    """What it held, for people: short ids with names."""
    benchmarks: tuple[str, ...]
    projects: tuple[str, ...]
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in the store: what, where, and what was or can be done about it."""

    kind: str
    """unlisted, missing, damaged, stale, leftover, unfinished, newer, edited."""
    path: str
    """Relative to the store."""
    detail: str
    repaired: bool = False
    mendable: bool = False
    """Whether `store check --repair` would do something about it."""


@dataclass(frozen=True, slots=True)
class StoreReport:
    """What `store check` or `store migrate` found and did."""

    checked: int
    """Files looked at."""
    read: int
    """Files whose checksums were verified."""
    problems: tuple[Problem, ...] = ()
    migrated: int = 0
    partial: bool = False
    """Whether contents were left unread that `--read-data` would have read."""

    @property
    def exit_code(self) -> int:
        """As every command's: 6 where something is left that is not as it was written.

        What a newer version wrote is none of that: that version knows what to do with it.
        """
        left = any(not problem.repaired and problem.kind != NEWER for problem in self.problems)
        return ExitCode.STORE if left else ExitCode.OK
