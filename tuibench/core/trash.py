"""Removed items that can be restored, and the report of a store check."""

from __future__ import annotations

from dataclasses import dataclass

from tuibench.core.errors import ExitCode

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
class Problem:
    """A problem in the store: kind, path, and what was or can be done about it."""

    kind: str
    """unlisted, missing, damaged, stale, leftover, unfinished, newer, edited."""
    path: str
    """Path relative to the store."""
    detail: str
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
    partial: bool = False
    """True if contents were skipped that `--read-data` would have read."""

    @property
    def exit_code(self) -> int:
        """Exit code of the command: 6 if a difference from the written data remains.

        Files of a newer version do not count: that version can handle them.
        """
        left = any(not problem.repaired and problem.kind != NEWER for problem in self.problems)
        return ExitCode.STORE if left else ExitCode.OK
