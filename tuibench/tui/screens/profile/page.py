"""The common page of measured and theoretical profiles: tabs, selectors, filter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widget import Widget

from tuibench.core.errors import TuibenchError
from tuibench.core.stored import StoredBenchmark
from tuibench.present.error.words import hint_words, message_words
from tuibench.present.profile.view import ProfileView
from tuibench.tui import key
from tuibench.tui.screens.base import Panes, TabbedPage
from tuibench.tui.screens.detail.facts import INDENT, Fact, FactBlock, environment_facts, hung, log_facts
from tuibench.tui.screens.detail.screen import WORDS
from tuibench.tui.screens.profile.layers import DepthPane, LayersPane
from tuibench.tui.screens.profile.pane import BarList, ChoicePane, SummaryPane
from tuibench.tui.widgets.field import FilterLine
from tuibench.tui.widgets.text_block import CursorList, TextBlock
from tuibench.tui.widgets.title_line import TabLine

TABS = ("summary", "layers", "depth", "environment", "log")
NAMES = ("Summary", "Layers", "Depth", "Env", "Log")
OF_THEORY = 3
"""Number of tabs that need no record."""


_OWN = {
    "summary": ("summary-type", "value-display", "open", "up", "down"),
    "layers": ("open", "sort", "reverse", "filter", "wide"),
    "depth": ("summary-type", "value-display", "up", "down", "open"),
}
KEYS = ("tab", "profile")
View = ProfileView[Any]


class ProfilePage(TabbedPage):
    """Base class: a subclass reads the profile and calls `show_view`."""

    CSS_PATH = "profile.tcss"
    AUTO_FOCUS = ""
    tab_ids = TABS
    tab_names = NAMES
    BINDINGS: ClassVar[list[BindingType]] = key.bindings(*KEYS)
    words: ClassVar[Mapping[str, str]] = WORDS
    about = (
        "A profile. Summary has the whole model, what follows from it, and a bar for each type of layer: m or the "
        "arrows choose what the bars show, t how; enter on a bar shows its layers. Layers is the table of all of them, "
        "and enter opens everything that is known of one. Depth shows the same values from the beginning of the model "
        "to its end."
    )
    record_keys: ClassVar[tuple[str, ...]] = ()
    """Keys for a stored record, in the bottom line."""

    def __init__(self, tab: str = "") -> None:
        super().__init__(tab)
        self.view: View | None = None
        self.stored: StoredBenchmark | None = None
        self._reasons: tuple[Fact, ...] = ()
        """Why there is no profile."""

    def body(self) -> Iterable[Widget]:
        """Yield tabs with the filter, the error text, and the current tab."""
        with Horizontal(id="head"):
            yield TabLine(id="tabs")
            yield FilterLine(id="filter")
        yield TextBlock(id="about")
        yield Panes()

    @property
    def tabs(self) -> int:
        """Number of tabs."""
        return len(TABS) if self.stored is not None else OF_THEORY

    # Content

    def show_view(self, view: View, stored: StoredBenchmark | None = None) -> None:
        """Show a profile; `stored` is its record, if it has one."""
        self.view, self.stored, self._reasons = view, stored, ()
        self.tab_index = min(self.tab_index, self.tabs - 1)
        self.query_one("#about", TextBlock).show_lines(())
        self.show_title()
        self.call_next(self._show_tab)

    def show_wrong(self, error: TuibenchError) -> None:
        """Show an error and its hint."""
        sign = f" {self.dashboard.glyphs.differs}"
        self.show_reasons((Fact(sign, message_words(error), "bad", "bad"), Fact(" ", hint_words(error))))

    def show_reasons(self, facts: Iterable[Fact]) -> None:
        """Show these facts instead of a profile."""
        self._reasons = tuple(facts)
        about = self.query_one("#about", TextBlock)
        width = max(self.size.width - 1, 20)
        about.show_lines([row for fact in self._reasons for row in hung(fact, 3, width, about.legible)])

    async def _show_tab(self) -> None:
        view = self.view
        if view is None:
            return
        name = self.tab
        await self.query_one(Panes).show_pane(name, lambda: self._make(name, view))
        own = _OWN.get(name, ("up", "down"))
        self.hints = (*own, "tab-previous", "tab-next", "back", *self.record_keys, "palette", "help")
        self.show_keys()
        self.show_around()

    def right_words(self) -> str:
        """Return the text at the right of the tabs."""
        return ""

    def show_around(self) -> None:
        """Update the line of tabs, with order and filter of the table."""
        panes = self.query(LayersPane)
        words = panes.first().words() if self.tab == "layers" and panes else self.right_words()
        self.show_tab_line(words)

    def on_layers_pane_changed(self, message: LayersPane.Changed) -> None:
        """Show the new order or filter."""
        message.stop()
        self.show_around()

    def on_resize(self) -> None:
        """Lay out the texts for the new width."""
        if self.view is not None:
            self.show_around()
        elif self._reasons:
            self.show_reasons(self._reasons)

    # Tabs

    def _make(self, name: str, view: View) -> Widget:
        stored, app = self.stored, self.dashboard
        makers: dict[str, Callable[[], Widget]] = {
            "summary": lambda: SummaryPane(view, id=name),
            "layers": lambda: LayersPane(view, id=name),
            "depth": lambda: DepthPane(view, id=name),
        }
        if stored is not None:
            makers["environment"] = lambda: FactBlock(environment_facts(stored.result, app.glyphs), INDENT, id=name)
            makers["log"] = lambda: FactBlock(log_facts(stored, app.now()), INDENT, id=name)
        return makers[name]()

    async def go_to_tab(self, tab: int) -> None:
        """Show a tab by its index."""
        if self.view is None:
            self.say("it is not read yet" if self.stored is None else "it is empty: there is nothing to show", "warn")
        elif tab < self.tabs and tab != self.tab_index:
            self.tab_index = tab
            await self._show_tab()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys of choices on tabs without any."""
        if action in ("summary_type", "value_display", "type_previous", "type_next"):
            return self._choice is not None
        return super().check_action(action, parameters)

    # Choices

    @property
    def _choice(self) -> ChoicePane | None:
        """The current tab, if it has a choice."""
        found = self.query(f"#{self.tab}")
        return next((pane for pane in found if isinstance(pane, ChoicePane)), None)

    def action_summary_type(self) -> None:
        """Show the next quantity per layer."""
        if (pane := self._choice) is not None:
            pane.step_kind(1)

    def action_type_next(self) -> None:
        """Show the next quantity per layer."""
        self.action_summary_type()

    def action_type_previous(self) -> None:
        """Show the previous quantity per layer."""
        if (pane := self._choice) is not None:
            pane.step_kind(-1)

    def action_value_display(self) -> None:
        """Show the values in another form."""
        if (pane := self._choice) is not None:
            pane.step_display()

    # The table

    async def on_cursor_list_opened(self, message: CursorList.Opened) -> None:
        """Show the bar's layers in the table, and no others with its name."""
        message.stop()
        label = self.query_one(BarList).label
        await self.go_to_tab(TABS.index("layers"))
        self.query_one(LayersPane).show_bar(label)
        self.say(f"only {label}: esc shows all layers again")

    def on_filter_line_typed(self, message: FilterLine.Typed) -> None:
        """Filter while the user types."""
        message.stop()
        self.query_one(LayersPane).filter_by(message.text)

    def action_back(self) -> None:
        """Clear the filter, else go back."""
        panes = self.query(LayersPane)
        if self.tab == "layers" and panes and (panes.first().text or panes.first().bar):
            panes.first().show_bar("")
        else:
            super().action_back()
