"""What styles look like: named by what they mean, in colours of the terminal's own palette."""

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
"""Name to a Rich style; none is told from another by colour alone where that would carry meaning."""

_WITHOUT_COLOUR = {"ok": "", "warn": "bold", "bad": "bold", "accent": "", "good": "", "series-1": "", "series-2": ""}


def style_of(name: str, colour: bool = True) -> Style:
    """The style of that name; without colour only bold, dim and reverse are left."""
    text = STYLES[name] if colour else _WITHOUT_COLOUR.get(name, "" if name == "series-3" else STYLES[name])
    return Style.parse(text) if text else Style.null()
