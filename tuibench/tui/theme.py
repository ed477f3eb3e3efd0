"""Text styles by name, in the colours of the terminal's own palette."""

from __future__ import annotations

from rich.style import Style

STYLES: dict[str, str] = {
    "": "",
    "plain": "",
    "title": "bold",
    "key": "bold",
    "dim": "dim",
    "ok": "green",
    "warn": "yellow",
    "bad": "red bold",
    "accent": "cyan",
    "mark": "bold",
    "cursor": "reverse",
    "axis": "dim",
    "ideal": "dim",
    "series-1": "cyan",
    "series-2": "magenta",
    "series-3": "yellow",
    "good": "green",
}
"""Name to Rich style; no meaning depends on colour alone."""

_WITHOUT_COLOUR = {"ok": "", "warn": "bold", "bad": "bold", "accent": "", "good": "", "series-1": "", "series-2": ""}


def style_of(name: str, colour: bool = True) -> Style:
    """Return the style of that name; without colour, only bold, dim and reverse."""
    text = STYLES[name] if colour else _WITHOUT_COLOUR.get(name, "" if name == "series-3" else STYLES[name])
    return Style.parse(text) if text else Style.null()
