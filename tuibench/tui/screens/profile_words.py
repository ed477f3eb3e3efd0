"""Words that several pages of profiles share."""

from __future__ import annotations


def processes(count: int) -> str:
    """A number of them."""
    return f"{count} process" if count == 1 else f"{count} processes"
