"""What is printed of a profile, and how; apart from what prints it, as every command that measures may be told."""

from __future__ import annotations

from dataclasses import dataclass

WIDTH, TOP = 80, 20


@dataclass(frozen=True, slots=True)
class Shown:
    """How much of a profile is printed, in which order, and what its bars show; '' is the usual everywhere."""

    width: int = WIDTH
    ascii_only: bool = False
    sort: str = ""
    """A column."""
    top: int | None = TOP
    """So many layers; None for all."""
    now: float | None = None
    """Seconds since 1970, for how long ago it was made; None leaves that out."""
    reverse: bool = False
    text: str = ""
    """Only layers that hold each of its words."""
    summary: str = ""
    """What the bars show."""
    display: str = ""
    """As values, on a logarithmic scale, or as shares."""
    layer: str = ""
    """One layer with all that is known of it, in place of the page: by its number, a node or its weight."""
