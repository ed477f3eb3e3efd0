"""The dashboard's side of profiles: lists of them, what a model costs in theory, and their set-up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tuibench.tui.desk import LOOSE

if TYPE_CHECKING:
    from tuibench.core.card import BenchmarkRow
    from tuibench.workbench.hall import Workbench


class ProfileBridge:
    """Of a Bridge, which says by what it reads."""

    _bench: Workbench

    def rows(self, project: str) -> tuple[BenchmarkRow, ...]:
        """Benchmarks and profiles, newest first."""
        raise NotImplementedError

    def profiles(self, project: str) -> tuple[BenchmarkRow, ...]:
        """See ProfileDesk."""
        return tuple(row for row in self.rows(project) if row.kind)


__all__ = ["LOOSE", "ProfileBridge"]
