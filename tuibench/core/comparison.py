"""Two stored results side by side, measured at different times and perhaps on different machines."""

from __future__ import annotations

from dataclasses import dataclass

from tuibench.core.cell import Estimate
from tuibench.core.label import CellName
from tuibench.core.run import Comparison


@dataclass(frozen=True, slots=True)
class Figure:
    """One operand of a pair, in the unit of the pair."""

    key: str
    """Key of the cell."""
    estimate: Estimate
    grade: str
    """'' if there is none."""
    status: str
    """ok, failed, partial or skipped."""


@dataclass(frozen=True, slots=True)
class CellPair:
    """Two cells with the same requested settings, or with all but one in common."""

    cell: CellName
    bars: tuple[str, ...]
    """Reasons against a verdict, even if both had been measured at the same time: unequal conditions."""
    unit: str
    """ms or items/s."""
    old: Figure
    new: Figure
    comparison: Comparison | None
    """Ratio of times, new / old; None if an operand has no numbers."""
    reason: str = ""
    """Reason for a missing ratio or a missing interval."""

    @property
    def name(self) -> str:
        """Return the settings in words, safe to print."""
        return self.cell.words()


@dataclass(frozen=True, slots=True)
class SideBySide:
    """All cells of two results, paired where possible, and the differences of their environments."""

    old_id: str
    new_id: str
    pairs: tuple[CellPair, ...]
    old_only: tuple[str, ...]
    """Names of cells without a partner."""
    new_only: tuple[str, ...]
    environment: tuple[str, ...]
    """Differences of the machines, or of one machine's states, that affect the speed."""

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Comparisons of the pairs that have one."""
        return tuple(pair.comparison for pair in self.pairs if pair.comparison is not None)
