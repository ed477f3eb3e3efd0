"""Words for several pages of profiles."""

from __future__ import annotations


def processes(count: int) -> str:
    """Return a number of processes in words."""
    return f"{count} process" if count == 1 else f"{count} processes"
