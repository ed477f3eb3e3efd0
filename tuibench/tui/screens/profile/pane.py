"""Base classes of a profile's tabs: the view, and the chosen quantity and form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.app import ComposeResult
from textual.message import Message

from tuibench.present.plots.depth import draw_bars
from tuibench.present.plots.drawing import Row, wrapped
from tuibench.present.profile.performance_view import MOST_NODES
from tuibench.present.profile.view import ProfileView
from tuibench.tui import key
from tuibench.tui.screens.base import Pane
from tuibench.tui.screens.detail.facts import Fact, FactBlock, hung
from tuibench.tui.widgets.painted import LineLike, Painted, shown
from tuibench.tui.widgets.status_line import Notice
from tuibench.tui.widgets.text_block import CursorList, TextBlock
from tuibench.tui.widgets.title_line import RuleLine, Selector, SelectorLine

_INDENT = 15
"""Columns for the names of a layer's values."""


class ProfilePane(Pane):
    """One tab; subclasses show `self.view`."""

    def __init__(self, view: ProfileView[Any], *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.view = view

    @property
    def chosen_kind(self) -> str:
        """The quantity shown per layer."""
        usual = self.view.usual
        return str(self.choices.get("kind", usual if usual in self.view.kinds else self.view.kinds[0]))

    @property
    def chosen_display(self) -> str:
        """The form of the values."""
        return str(self.choices.get("display", self.view.displays[0]))

    def open_layer(self, one: str) -> None:
        """Show all facts of a layer in a notice."""
        app, legible = self.dashboard, self.query(Painted).first().legible
        # Use the layer's name as the panel does; its key is internal.
        name = self.view.name_of(one)
        lines: list[LineLike] = [
            ((" ", ""), *row)
            for pair in self.view.detail(self.view.row(one), MOST_NODES)
            for row in hung(Fact(*pair), _INDENT, max(app.size.width - 2, 20), legible)
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
        view, app = self.view, self.dashboard

        def name(one: str) -> str:
            return key.shown(one, app.keymap, app.ascii_only)

        ways = name("type-previous"), name("type-next")
        arrows = ("" if max(map(len, ways)) == 1 else " ").join(ways)
        selectors = [
            Selector(
                view.kinds_name, view.kinds, view.kinds.index(self.chosen_kind), f"{name('summary-type')} {arrows}"
            )
        ]
        if len(view.displays) > 1:
            at = view.displays.index(self.chosen_display)
            selectors.append(Selector("as", view.displays, at, name("value-display")))
        self.query_one(SelectorLine).show(selectors)

    def update_choices(self) -> None:
        """Show selectors and figure."""
        self.show_choices()
        self.draw()

    def draw(self) -> None:
        """Draw the chosen figure."""
        raise NotImplementedError

    def step_kind(self, by: int) -> None:
        """Show the next or previous quantity per layer."""
        kinds = self.view.kinds
        wanted = kinds[(kinds.index(self.chosen_kind) + by) % len(kinds)]
        self.choices["kind"] = wanted
        self.update_choices()

    def step_display(self) -> None:
        """Show the values in the next form."""
        displays = self.view.displays
        self.choices["display"] = displays[(displays.index(self.chosen_display) + 1) % len(displays)]
        self.update_choices()


_SIGN = 2


class BarList(CursorList):
    """One bar per line; enter opens the bar under the cursor."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._bars: tuple[tuple[str, float, str], ...] = ()
        self._empty: tuple[str, ...] = ()
        self._drawn: tuple[Row, ...] = ()
        self._drawn_for = -1

    def show_bars(self, bars: Sequence[tuple[str, float, str]], empty: Sequence[str] = ()) -> None:
        """Show these bars and keep the cursor on its label, else at the top; show `empty` if there are none."""
        held = self.label if self.at else ""
        self._bars, self._empty = tuple(bars), tuple(empty)
        self.at = next((n for n, bar in enumerate(self._bars) if bar[0] == held), 0)
        self._drawn_for = -1
        self.move(0)

    @property
    def count(self) -> int:
        """Number of bars."""
        return len(self._bars)

    @property
    def label(self) -> str:
        """Label of the bar under the cursor; '' if there is none."""
        return self._bars[self.at][0] if self.at < len(self._bars) else ""

    def on_resize(self) -> None:
        """Keep the cursor visible."""
        self.move(0)

    def row(self, y: int) -> Row:
        """Return line `y` of the visible bars."""
        width = self.size.width
        if self._drawn_for != width:
            self._drawn_for = width
            self._drawn = self._draw(width)
        at = self._first + y
        if at >= len(self._drawn):
            return ()
        row = self._drawn[at]
        if not self._bars:
            return row
        here = at == self.at
        lit = " cursor" if here and self.has_focus else ""
        sign = self.glyphs.cursor if here else " "
        name, *rest = row
        return ((f"{sign} ", ""), (name[0], f"{name[1]}{lit}".strip()), *rest)

    def _draw(self, width: int) -> tuple[Row, ...]:
        if not self._bars:
            return tuple(part for line in self._empty for part in wrapped(shown(f" {line}"), max(width, 1)))
        bars = [(self.legible(label), length, self.legible(text)) for label, length, text in self._bars]
        return draw_bars(bars, max(width - _SIGN, 1), bool(getattr(self.app, "ascii_only", False)))


_PROFILE_SUMMARY_INDENT = 13


class Numbers(FactBlock):
    """The facts of the whole model; if they exceed the room, the rule below shows the position."""

    class Moved(Message):
        """Posted when other lines become visible."""

    def _set_first(self, first: int) -> None:
        super()._set_first(first)
        self.post_message(self.Moved())


class Below(RuleLine):
    """The rule below the facts."""

    text = ""

    def row(self, y: int) -> Row:
        """Return the rule, with the text near its end."""
        rule = self.glyphs.rule
        end = rule * 2 if self.text else ""
        return ((rule * max(self.size.width - len(self.text) - len(end), 0), "dim"), (self.text, ""), (end, "dim"))


class SummaryPane(ChoicePane):
    """Facts at the top, conclusion and bars below."""

    _words: tuple[str, ...] = ()
    """The title and method of the bars."""

    def compose(self) -> ComposeResult:
        """Yield the widgets from the whole to its parts."""
        yield Numbers([Fact(*each) for each in self.view.facts()], _PROFILE_SUMMARY_INDENT, id="facts")
        yield Below()
        yield TextBlock(id="said")
        yield SelectorLine(id="choices")
        yield BarList(id="bars")
        yield TextBlock(id="words")

    def on_mount(self) -> None:
        """Show the last choice."""
        self.update_choices()

    def on_resize(self) -> None:
        """Wrap the texts again."""
        self._show_said()
        self._show_words()

    def on_numbers_moved(self) -> None:
        """Show the visible line range on the rule if lines are hidden."""
        app, below = self.dashboard, self.query_one(Below)
        seen = self.query_one(Numbers).position
        tab = key.shown("focus-next", app.keymap, app.ascii_only)
        below.text = f" lines {seen}, {tab} and arrows " if seen else ""
        below.repaint()

    def focus_first(self) -> None:
        """Focus the bars, since the facts above mostly fit."""
        self.screen.set_focus(self.query_one(BarList))

    def draw(self) -> None:
        """Draw the bars and their method."""
        found, counted = self.view.summarize(self.chosen_kind, self.chosen_display), self.view.counted
        bars = [(bar.label, bar.length, f"{bar.text}  {bar.layers}" if counted else bar.text) for bar in found.bars]
        self.query_one(BarList).show_bars(bars, found.words)
        title = f"{found.title}, number of {counted}" if counted else found.title
        self._words = (title, *found.words) if bars else (title,)
        self._show_words()
        self._show_said()

    def _show_words(self) -> None:
        block, width = self.query_one("#words", TextBlock), max(self.app.size.width - 2, 1)
        rows = [part for text in self._words for part in wrapped(block.legible_row(shown((text, "dim"))), width)]
        block.show_lines([((" ", ""), *part) for part in rows])

    def _show_said(self) -> None:
        width = max(self.app.size.width - 2, 1)
        block = self.query_one("#said", TextBlock)
        said = [(text, "accent") for text in self.view.said(self.chosen_kind)]
        rows = [part for line in said for part in wrapped(block.legible_row(shown(line)), width)]
        block.show_lines([((" ", ""), *row) for row in rows])
