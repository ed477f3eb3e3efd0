"""How much of a profile is printed; apart from what prints it, as every command that measures may be told."""

from __future__ import annotations

from dataclasses import dataclass

WIDTH, TOP = 80, 20


@dataclass(frozen=True, slots=True)
class Shown:
    """How much of a profile is printed, and in which order."""

    width: int = WIDTH
    ascii_only: bool = False
    sort: str = ""
    """A column; '' is the usual one."""
    top: int | None = TOP
    now: float | None = None
    """Seconds since 1970, for how long ago it was made; None leaves that out."""
