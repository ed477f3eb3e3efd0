"""Options for printing a profile, in a module of their own since every measuring command accepts them."""

from __future__ import annotations

from dataclasses import dataclass

WIDTH, TOP = 80, 20


@dataclass(frozen=True, slots=True)
class Shown:
    """The printed part of a profile, its order and its bars; '' means the default."""

    width: int = WIDTH
    ascii_only: bool = False
    sort: str = ""
    """The column to sort by."""
    top: int | None = TOP
    """Most layers shown; None for all."""
    now: float | None = None
    """Seconds since 1970, to show the profile's age; None leaves the age out."""
    reverse: bool = False
    text: str = ""
    """Show only layers that contain each of these words."""
    summary: str = ""
    """Type of the bars."""
    display: str = ""
    """Display of the bars: values, logarithmic scale or shares."""
    layer: str = ""
    """A layer's number, node or weight: show its details in place of the page."""
