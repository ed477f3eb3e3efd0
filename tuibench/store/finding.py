"""What a look at the store gathers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tuibench.core.trash import Problem, StoreReport
from tuibench.store.trouble import drop_name


@dataclass(slots=True)
class Findings:
    """Counts and problems while a check goes on."""

    repair: bool = False
    """Whether it mends: what it then leaves is beyond it."""
    checked: int = 0
    read: int = 0
    migrated: int = 0
    problems: list[Problem] = field(default_factory=list)

    def copy(self) -> Findings:
        """The findings so far."""
        return replace(self, problems=list(self.problems))

    def reset(self, before: Findings) -> None:
        """Drop everything found since `before` was copied."""
        self.checked, self.read, self.migrated = before.checked, before.read, before.migrated
        self.problems[:] = before.problems

    def add(self, kind: str, path: str, detail: str) -> None:
        """One problem more, which no repair does anything about; `detail` need not name the file again."""
        self.problems.append(Problem(kind, path, drop_name(detail, path)))

    def mend(self, kind: str, path: str, detail: str, done: bool) -> None:
        """One problem more that a repair mends, or has mended."""
        mendable = not done and not self.repair
        self.problems.append(Problem(kind, path, drop_name(detail, path), done, mendable))

    def report(self, *, partial: bool = False) -> StoreReport:
        """All of it."""
        return StoreReport(self.checked, self.read, tuple(self.problems), self.migrated, partial)
