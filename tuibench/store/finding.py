"""What a look at the store gathers."""

from __future__ import annotations

from dataclasses import dataclass, field

from tuibench.core.trash import Problem, StoreReport


@dataclass(slots=True)
class Findings:
    """Counts and problems while a check goes on."""

    checked: int = 0
    read: int = 0
    migrated: int = 0
    problems: list[Problem] = field(default_factory=list)

    def add(self, kind: str, path: str, detail: str, repaired: bool = False) -> None:
        """One problem more."""
        self.problems.append(Problem(kind, path, detail, repaired))

    def report(self) -> StoreReport:
        """All of it."""
        return StoreReport(self.checked, self.read, tuple(self.problems), self.migrated)
