"""Signs with their ASCII substitutes, and styles."""

from __future__ import annotations

from dataclasses import dataclass

from rich.style import Style


@dataclass(frozen=True, slots=True)
class Glyphs:
    """One set of signs; every state has its own sign, so that none depends on colour alone."""

    running: str
    waiting: str
    failed: str
    interrupted: str
    differs: str
    done: str
    cursor: str
    mark: str
    rule: str
    upright: str
    times: str
    plus_minus: str
    dot: str
    chosen: str
    open_choice: str
    ticked: str
    open_tick: str
    before: str
    after: str
    ellipsis: str
    place: str
    """Separates the parts of a title."""
    enter: str
    micro: str
    to: str


UNICODE = Glyphs(
    running="▶", waiting="…", failed="✗", interrupted="‖", differs="!", done=" ", cursor=">", mark="*", rule="─",
    upright="│", times="×", plus_minus="±", dot="·", chosen="(•)", open_choice="( )", ticked="[x]", open_tick="[ ]",
    before="‹", after="›", ellipsis="…", place="›", enter="⏎", micro="µ", to="→",
)  # fmt: skip
ASCII = Glyphs(
    running="R", waiting="~", failed="X", interrupted="#", differs="!", done=" ", cursor=">", mark="*", rule="-",
    upright="|", times="x", plus_minus="+-", dot="|", chosen="(o)", open_choice="( )", ticked="[x]", open_tick="[ ]",
    before="<", after=">", ellipsis="~", place=">", enter="enter", micro="u", to="->",
)  # fmt: skip


def glyphs_of(ascii_only: bool) -> Glyphs:
    """Return the set that the terminal can show."""
    return ASCII if ascii_only else UNICODE


STYLES: dict[str, str] = {
    "": "",
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
