"""What was removed and can come back, and what a look at the store found."""

from __future__ import annotations

from dataclasses import dataclass


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


@dataclass(frozen=True, slots=True)
class StoreReport:
    """What `store check` or `store migrate` found and did."""

    checked: int
    """Files looked at."""
    read: int
    """Files whose checksums were verified."""
    problems: tuple[Problem, ...] = ()
    migrated: int = 0

    @property
    def exit_code(self) -> int:
        """0 clean, 1 all repaired, 2 damage is left: this command's own scale, as backup tools have it."""
        if not self.problems:
            return 0
        return 1 if all(problem.repaired for problem in self.problems) else 2
