"""Base classes of a profile's tabs: the book, and the chosen quantity and form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from textual.containers import Vertical

from tuibench.tui import key
from tuibench.tui.screens.detail_fact import hung
from tuibench.tui.screens.profile_book import Book
from tuibench.tui.widgets.calm import Bare
from tuibench.tui.widgets.painted import Painted
from tuibench.tui.widgets.question import Notice
from tuibench.tui.widgets.row import LineLike
from tuibench.tui.widgets.selector_line import Selector, SelectorLine

if TYPE_CHECKING:
    from tuibench.tui.app import Dashboard
    from tuibench.tui.screens.base import Page

_INDENT = 15
"""Columns for the names of a layer's values."""


class ProfilePane(Bare, Vertical):
    """One tab; subclasses show `self.book`."""

    DEFAULT_CSS = "ProfilePane { height: 1fr; width: 1fr; }"

    def __init__(self, book: Book, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.book = book

    @property
    def dashboard(self) -> Dashboard:
        """The app with its own type."""
        return cast("Dashboard", self.app)

    @property
    def choices(self) -> dict[str, Any]:
        """Choices that all tabs of this page share."""
        return cast("Page", self.screen).choices

    @property
    def chosen_kind(self) -> str:
        """The quantity shown per layer."""
        usual = self.book.usual
        return str(self.choices.get("kind", usual if usual in self.book.kinds else self.book.kinds[0]))

    @property
    def chosen_display(self) -> str:
        """The form of the values."""
        return str(self.choices.get("display", self.book.displays[0]))

    def take_up(self) -> None:
        """Show the last choice, perhaps made on another tab."""

    def open_layer(self, one: str) -> None:
        """Show all facts of a layer in a notice."""
        app, legible = self.dashboard, self.query(Painted).first().legible
        # Use the layer's name as the panel does; its key is internal.
        name = self.book.name_of(one, app.glyphs)
        lines: list[LineLike] = [
            ((" ", ""), *row)
            for fact in self.book.details(one, app.glyphs)
            for row in hung(fact, _INDENT, max(app.size.width - 2, 20), legible)
        ]
        app.push_screen(Notice(name, lines))

    def focus_first(self) -> None:
        """Focus the first focusable widget."""
        first = next((widget for widget in self.query("*") if widget.focusable), None)
        self.screen.set_focus(first)


class ChoicePane(ProfilePane):
    """A tab with a choice of quantity and form."""

    def show_choices(self) -> None:
        """Show the line of selectors."""
        book, app = self.book, self.dashboard

        def name(one: str) -> str:
            return key.shown(one, app.keymap, app.ascii_only)

        ways = name("type-previous"), name("type-next")
        arrows = ("" if max(map(len, ways)) == 1 else " ").join(ways)
        selectors = [
            Selector(
                book.kinds_name, book.kinds, book.kinds.index(self.chosen_kind), f"{name('summary-type')} {arrows}"
            )
        ]
        if len(book.displays) > 1:
            at = book.displays.index(self.chosen_display)
            selectors.append(Selector("as", book.displays, at, name("value-display")))
        self.query_one(SelectorLine).show(selectors)

    def take_up(self) -> None:
        """Show selectors and figure."""
        self.show_choices()
        self.draw()

    def draw(self) -> None:
        """Draw the chosen figure."""
        raise NotImplementedError

    def step_kind(self, by: int) -> None:
        """Show the next or previous quantity per layer."""
        kinds = self.book.kinds
        wanted = kinds[(kinds.index(self.chosen_kind) + by) % len(kinds)]
        self.choices["kind"] = wanted
        self.take_up()

    def step_display(self) -> None:
        """Show the values in the next form."""
        displays = self.book.displays
        self.choices["display"] = displays[(displays.index(self.chosen_display) + 1) % len(displays)]
        self.take_up()
