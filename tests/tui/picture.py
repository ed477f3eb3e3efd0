"""What a user would see, as text."""

from __future__ import annotations

from typing import Any

from textual.app import App


def picture(app: App[Any]) -> str:
    """The whole screen, a line per row, blanks at the ends of lines cut."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)


def rows(app: App[Any]) -> list[str]:
    """The same as a list, without empty rows at the end."""
    return picture(app).rstrip("\n").split("\n")
