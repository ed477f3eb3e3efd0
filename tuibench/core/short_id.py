"""The four characters by which people name what is stored."""

from __future__ import annotations


def short_id(ulid: str) -> str:
    """The last four characters, lower case: the random end, where ids of one day differ."""
    return ulid[-4:].lower()
