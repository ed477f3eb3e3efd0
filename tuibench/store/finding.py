"""The findings of a store check."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tuibench.core.trash import Problem, StoreReport
from tuibench.store.trouble import drop_name


@dataclass(slots=True)
class Findings:
    """Counts and problems collected during a check."""

    repair: bool = False
    """True if the check repairs; problems it then leaves cannot be repaired."""
    checked: int = 0
    read: int = 0
    migrated: int = 0
    problems: list[Problem] = field(default_factory=list)

    def copy(self) -> Findings:
        """Return a copy of the findings so far."""
        return replace(self, problems=list(self.problems))

    def reset(self, before: Findings) -> None:
        """Discard everything found since `before` was copied."""
        self.checked, self.read, self.migrated = before.checked, before.read, before.migrated
        self.problems[:] = before.problems

    def add(self, kind: str, path: str, detail: str) -> None:
        """Add a problem that no repair mends; `detail` need not name the file again."""
        self.problems.append(Problem(kind, path, drop_name(detail, path)))

    def mend(self, kind: str, path: str, detail: str, done: bool) -> None:
        """Add a problem that a repair mends or has mended."""
        mendable = not done and not self.repair
        self.problems.append(Problem(kind, path, drop_name(detail, path), done, mendable))

    def report(self, *, partial: bool = False) -> StoreReport:
        """Return the report."""
        return StoreReport(self.checked, self.read, tuple(self.problems), self.migrated, partial)
