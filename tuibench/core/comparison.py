"""Two stored results side by side: what was measured at different times, perhaps on different machines."""

from __future__ import annotations

from dataclasses import dataclass

from tuibench.core.cell import Estimate
from tuibench.core.label import CellName
from tuibench.core.run import Comparison


@dataclass(frozen=True, slots=True)
class Figure:
    """One side of a pair, in the unit that the pair goes by."""

    key: str
    """Of the cell."""
    estimate: Estimate
    grade: str
    """'' where there is none."""
    status: str
    """ok, failed, partial or skipped."""


@dataclass(frozen=True, slots=True)
class CellPair:
    """Two cells that were asked for the same, or for all but one setting."""

    cell: CellName
    bars: tuple[str, ...]
    """Why they could have no verdict even if they had been measured at one time: what they do not share."""
    unit: str
    """ms or items/s."""
    old: Figure
    new: Figure
    comparison: Comparison | None
    """Ratio of times, new / old; None where a side has no numbers."""
    reason: str = ""
    """Why there is no ratio, or no interval around it."""

    @property
    def name(self) -> str:
        """Return the settings in words, safe to print."""
        return self.cell.words()


@dataclass(frozen=True, slots=True)
class SideBySide:
    """All cells of two results, paired as far as they can be, and what else was not the same."""

    old_id: str
    new_id: str
    pairs: tuple[CellPair, ...]
    old_only: tuple[str, ...]
    """Cells without a partner, in words."""
    new_only: tuple[str, ...]
    environment: tuple[str, ...]
    """What differs between the two machines, or states of one machine, that matters for speed."""

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Those of the pairs that have one."""
        return tuple(pair.comparison for pair in self.pairs if pair.comparison is not None)
