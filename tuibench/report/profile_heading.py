"""The heading of a profile's reports."""

from __future__ import annotations

from dataclasses import dataclass

from tuibench.core.text import show


@dataclass(frozen=True, slots=True)
class ProfileHeading:
    """The known names of a profile and its model."""

    name: str = ""
    id: str = ""
    model: str = ""
    started: str = ""
    note: str = ""


def heading_lines(heading: ProfileHeading) -> list[str]:
    """Return the heading as lines, without unknown parts."""
    name, short = show(heading.name), show(heading.id)
    named = f"{name} ({short})" if name and short else name or short
    pairs = (
        ("Profile", named),
        ("Model", show(heading.model, 4096)),
        ("Started", show(heading.started)),
        ("Note", show(heading.note, 4096)),
    )
    return [f"{label}: {value}" for label, value in pairs if value]
