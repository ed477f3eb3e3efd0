"""Help page: the keys of the focused widget, of the screen and of the app, as bound by the user."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from tuibench.tui import key
from tuibench.tui.key import written
from tuibench.tui.palette import live_keys
from tuibench.tui.screens.base import Page
from tuibench.tui.screens.detail.facts import Fact, FactBlock
from tuibench.tui.widgets.title_line import RuleLine

_WIDGETS = {
    "RecordTable": "the list",
    "ScrollBlock": "the text",
    "Field": "the field",
    "Input": "the field",
}
"""Widget class to its name in headings; a subclass uses the name of its nearest base."""
_GAP = 2
_TAB = "tab-"
_LEAVING = "ctrl+c shows how to quit; runs continue when you quit or the connection breaks."


class HelpScreen(Page):
    """Lists the keys that are active on the page below when help is opened."""

    BINDINGS: ClassVar[list[BindingType]] = key.bindings(only=("help",))
    hints: tuple[str, ...] = ("back", "down", "page-down", "page-up", "last", "first")
    last_hint = ""

    def __init__(self, page: Page, focused: Widget | None) -> None:
        super().__init__()
        self._place = page.title_parts()
        app = page.dashboard
        sections = sort_keys(page, focused)
        self.facts = tuple(describe(page.about, sections, ascii_only=app.ascii_only, changed=app.keymap))

    def body(self) -> Iterable[Widget]:
        """Yield the text."""
        yield RuleLine()
        yield FactBlock(self.facts, id="text", classes="body")

    def title_parts(self) -> tuple[str, ...]:
        """Return the path to the page that the help describes."""
        return ("Help", *self._place)

    def action_help(self) -> None:
        """Close the help with the key that opened it."""
        self.action_back()


Section = tuple[str, Mapping[str, Sequence[str]]]
"""A heading, and ids of actions with the keys that run each."""


def sort_keys(page: Page, focused: Widget | None) -> tuple[Section, ...]:
    """Return all active keys by the receiver: the focused widget, the screen, the app."""
    here: dict[str, list[str]] = {}
    screen: dict[str, list[str]] = {}
    everywhere: dict[str, list[str]] = {}
    for name, one, active in live_keys(page):
        place = everywhere if active.node is page.app else screen if active.node is page else here
        place.setdefault(one, []).append(name)
    called = f"Keys of {_called(focused)}" if focused is not None else ""
    return (
        (called, _in_order(here)),
        ("Keys of this screen", _in_order(screen)),
        ("Everywhere", _in_order(everywhere)),
    )


def _called(widget: Widget) -> str:
    names = (kind.__name__ for kind in type(widget).__mro__)
    return next((_WIDGETS[name] for name in names if name in _WIDGETS), "this part")


def _in_order(found: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    return {one: found[one] for one in key.KEYS if one in found}


def describe(
    about: str, sections: Iterable[Section], *, ascii_only: bool = False, changed: Iterable[str] = ()
) -> Iterator[Fact]:
    """Yield the whole text; `changed` are the ids of actions that the user has bound to other keys."""
    if about:
        yield Fact("", about)
    own = frozenset(changed)
    named = [(title, list(_rows(keys, ascii_only, own))) for title, keys in sections if keys]
    indent = max((len(pressed) for _, rows in named for pressed, _ in rows), default=0) + 1 + _GAP
    for title, rows in named:
        yield Fact("", "")
        yield Fact("", title, "title")
        for pressed, text in rows:
            yield Fact(f" {pressed}", text, "", "key", indent)
    yield Fact("", "")
    yield Fact("", _LEAVING)


def _rows(keys: Mapping[str, Sequence[str]], ascii_only: bool, own: frozenset[str]) -> Iterator[tuple[str, str]]:
    tabs = [one for one in keys if one.startswith(_TAB) and one[len(_TAB) :].isdigit()]
    for one, names in keys.items():
        pressed = " ".join(written(name, arrows=not ascii_only) for name in names)
        text = key.KEYS[one].text + (" (From your config file.)" if one in own else "")
        if one not in tabs or own & set(tabs):
            yield pressed, text
        elif one == tabs[0]:
            # One line for all tabs.
            yield (
                (f"{pressed}-{keys[tabs[-1]][0]}", "Go to the tab with that number.")
                if len(tabs) > 1
                else (pressed, text)
            )
