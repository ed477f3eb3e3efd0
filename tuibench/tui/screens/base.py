"""Base classes of all screens: title, body, status line, keys, calls of services in threads, and tabs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import ContentSwitcher, Input
from textual.worker import get_current_worker

from tuibench.core.activity import Snapshot
from tuibench.core.errors import TuibenchError
from tuibench.core.text import show
from tuibench.present.error.words import error_line
from tuibench.services.api import Services
from tuibench.tui import key
from tuibench.tui.messages import Answered, Refused
from tuibench.tui.textual_seam import after_painting
from tuibench.tui.widgets.painted import QuietContainer, QuietScreen
from tuibench.tui.widgets.record_table import RecordTable
from tuibench.tui.widgets.status_line import StatusLine
from tuibench.tui.widgets.title_line import KeyLine, TabLine, TitleLine, together

if TYPE_CHECKING:
    from tuibench.tui.app import Dashboard


T = TypeVar("T")


class FooterScreen(QuietScreen, Screen[None]):
    """A screen whose footer shows its keys, as bound by the user."""

    hints: tuple[str, ...] = ()
    """Ids of keys for the footer, the most important first; the others are on the help page."""
    words: ClassVar[Mapping[str, str]] = key.ONE_WORD  # words that differ from the key's default
    last_hint = "help"
    """The key that the footer shows at any width; '' for none."""
    _typing = False
    """True if a text field had the focus when the footer was last painted."""

    @property
    def dashboard(self) -> Dashboard:
        """The app with its own type."""
        return cast("Dashboard", self.app)

    def show_keys(self) -> None:
        """Show this screen's keys as bound by the user; while typing, only those that are not text."""
        self._typing = isinstance(self.focused, Input)
        last = (self.last_hint,) if self.last_hint else ()
        self.show_pairs([each for each in self.hints_now if each not in last], last)

    def show_pairs(self, some: Iterable[str], last: Iterable[str], words: Mapping[str, str] | None = None) -> None:
        """Show keys with their words in the footer; neighbours with one word are merged, `last` are never cut."""
        words = self.words if words is None else words

        def pairs(ids: Iterable[str]) -> list[tuple[str, str]]:
            app = self.dashboard
            names = ((each, key.shown(each, app.keymap, app.ascii_only, self._typing)) for each in ids)
            return together((name, words.get(each, key.KEYS[each].word)) for each, name in names if name)

        self.query_one("#keys", KeyLine).show(pairs(some), pairs(last))

    def shown_key(self, name: str) -> str:
        """Return the key of an action, as bound by the user."""
        return key.shown(name, self.dashboard.keymap, self.dashboard.ascii_only)

    @property
    def hints_now(self) -> tuple[str, ...]:
        """Keys of this screen; while a table is wide, the keys that scroll it come early, as the footer is short."""
        if not any(table.wide and _is_seen(table) for table in self.query(RecordTable)):
            return self.hints
        first, *others = (each for each in self.hints if each != "wide")
        return (first, "wide", "scroll-left", "scroll-right", *others)

    def on_record_table_widened(self, message: RecordTable.Widened) -> None:
        """Update the keys: scrolling a table is now possible, or no longer."""
        message.stop()
        self.show_keys()

    def on_descendant_focus(self) -> None:
        """Update the keys: other keys are active in a text field."""
        if self.is_mounted and self._typing != isinstance(self.focused, Input):
            self.show_keys()

    def on_descendant_blur(self) -> None:
        """Update the keys when a text field loses the focus."""
        self.on_descendant_focus()


class Page(FooterScreen):
    """One screen: subclasses provide `body` and `hints`, and its path in `title_parts`."""

    BINDINGS: ClassVar[list[BindingType]] = []
    AUTO_FOCUS = "RecordTable, ScrollBlock"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 - Textual declares it for instances
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (8, "-short"), (30, "-tall")]  # noqa: RUF012 - Textual declares it for instances
    follows_store: ClassVar[bool] = True
    """True to reload when stored data may have changed; False for pages that other sessions cannot change."""
    about: ClassVar[str] = ""
    """Description of the screen for its help page, one paragraph."""
    _was_left = False
    _due: Callable[[], object] | None = None
    """Function to call when this screen is shown again."""

    def __init__(self) -> None:
        super().__init__()
        self.choices: dict[str, Any] = {}
        """Choices such as figure, metric and order, kept while the page is open."""

    @property
    def services(self) -> Services:
        """The dashboard's API; its methods block, so use them in `request` and `submit` only."""
        return self.dashboard.services

    def compose(self) -> ComposeResult:
        """Yield title, body, status line and keys."""
        # Textual sets these classes after the first layout; the screen would be laid out and sent twice.
        for limits, room in zip((self.HORIZONTAL_BREAKPOINTS, self.VERTICAL_BREAKPOINTS), self.app.size, strict=True):
            self.add_class(max((least, name) for least, name in limits if room >= least)[1])
        yield TitleLine(id="title")
        yield from self.body()
        yield StatusLine(id="news")
        yield KeyLine(id="keys")

    def body(self) -> Iterable[Widget]:
        """Yield the widgets between title and status line."""
        return ()

    def title_parts(self) -> tuple[str, ...]:
        """Return the path to this screen, outermost part first; the title line makes foreign text safe."""
        return ()

    def on_mount(self) -> None:
        """Show title and keys and load the content; Textual calls this after the subclass's own `on_mount`."""
        self.show_title()
        self.show_keys()
        self.load()
        self.dashboard.page_is_there()

    def on_screen_suspend(self) -> None:
        """Clear the status line: it refers to an action the user no longer remembers on return."""
        self._was_left = True
        if self.is_mounted:
            self.say("")
            # Omit a run's remaining time: below a dialog the title is not updated, and the time is soon wrong.
            self.query_one("#title", TitleLine).show_end(self.dashboard.going_words(timeless=True))

    def on_screen_resume(self) -> None:
        """Reload: the data may have changed while another screen was shown. The first load is in `on_mount`."""
        if self.is_mounted and self._was_left:
            self._was_left = False
            self.show_title()
            self.load()
        if self._due is not None:
            # Wait until the switch of screens that sent this event is complete.
            self.call_later(self._due)
            self._due = None

    def when_shown(self, then: Callable[[], object]) -> None:
        """Call `then`, which opens another screen, now or when no other screen covers this one any more."""
        if self.app.screen is self:
            then()
        else:
            self._due = then

    def load(self) -> None:
        """Request the content; called when the screen appears and when its data may have changed."""

    def snapshot_changed(self, snapshot: Snapshot, before: Snapshot | None) -> None:
        """Handle a poll that differs from the last; by default, reload if stored data may have changed."""
        if self.follows_store and (before is None or snapshot.stamp != before.stamp):
            self.load()

    def show_title(self) -> None:
        """Show the path at the left and the runs on this machine at the right."""
        place = f" {self.dashboard.glyphs.place} ".join(show(part, 60) for part in self.title_parts() if part)
        self.query_one("#title", TitleLine).show(place, self.dashboard.going_words())

    def on_key(self, event: events.Key) -> None:
        """Clear the status text, which refers to the previous action."""
        self.say("")

    @property
    def profile_kind(self) -> str:
        """Kind of the profile shown, as lists name it; '' for none."""
        return ""

    def returned_from(self, kind: str) -> None:
        """Handle the return from the page above; `kind` is its `profile_kind`."""

    def say(self, text: str, kind: str = "info") -> None:
        """Show a status text; kinds warn and bad are also marked in words."""
        self.query_one("#news", StatusLine).say(text, kind)

    def say_after_errors(self, text: str) -> None:
        """Show a status text in front of an unread error: no key was pressed since, and lines are cut at the end."""
        line = self.query_one("#news", StatusLine)
        if line.kind == "bad" and line.said:
            self.say(f"{text}; earlier: {line.said.removeprefix('! ')}", "bad")
        else:
            self.say(text)

    def say_more(self, text: str) -> None:
        """Append a warning to the status text, which is still needed."""
        said = self.query_one("#news", StatusLine).said
        self.say(f"{said}; {text}" if said else text, "warn")

    def request(
        self,
        work: Callable[[], T],
        then: Callable[[T], object],
        *,
        group: str,
        otherwise: Callable[[TuibenchError], object] | None = None,
        opens: bool = False,
    ) -> None:
        """Call `work` in a thread, then `then` with its answer; a newer call of the same group discards the answer.

        An error goes to `otherwise`, else to the status line. If `then` `opens` a screen, keys typed meanwhile wait for
        it.
        """
        app, mark = self.dashboard, self.dashboard.key_queue.hold() if opens else None

        def carry_out() -> None:
            worker, answer = get_current_worker(), _call(app, work, then, otherwise, mark)
            if not worker.is_cancelled:
                self.post_message(answer)

        self.run_worker(carry_out, thread=True, exclusive=True, group=group, exit_on_error=True)

    def submit(
        self,
        work: Callable[[], T],
        then: Callable[[T], object],
        *,
        otherwise: Callable[[TuibenchError], object] | None = None,
    ) -> None:
        """Call `work`, which changes something, as `request` does; a newer call does not discard its answer.

        If this screen was left meanwhile, an error is shown on the current one.
        """
        app = self.dashboard

        def carry_out() -> None:
            answer = _call(app, work, then, otherwise, None)
            if not self.post_message(answer) and isinstance(answer, Refused):
                app.post_message(answer)

        app.run_worker(carry_out, thread=True, group="submit", exit_on_error=True)

    def on_answered(self, message: Answered) -> None:
        """Pass the answer of a thread on."""
        message.stop()
        if not self.dashboard.is_running:
            # At exit, pages lose their widgets before their messages.
            return
        message.then(message.value)
        self.dashboard.key_queue.release(message.mark)
        after_painting(self, self.dashboard.start_polling)

    def on_refused(self, message: Refused) -> None:
        """Handle the error of a thread."""
        message.stop()
        if not self.dashboard.is_running:
            return
        if message.otherwise is not None:
            message.otherwise(message.error)
        else:
            self.explain(message.error)
        self.dashboard.key_queue.release(message.mark, drop=True)
        after_painting(self, self.dashboard.start_polling)

    def copy_text(self, find: Callable[[], str]) -> None:
        """Copy a text, which a thread finds, to the clipboard and, as not every terminal has one, to a file."""

        def keep() -> tuple[str, str]:
            text = find()
            return text, str(self.services.keep_copy(text))

        def show_copied(found: tuple[str, str]) -> None:
            self.app.copy_to_clipboard(found[0])
            self.say(f"copied, also to {found[1]}: {found[0]}")

        self.request(keep, show_copied, group="copy")

    def explain(self, error: TuibenchError) -> None:
        """Show the error and its hint in the status line."""
        self.say(error_line(error), "bad")

    def action_back(self) -> None:
        """Go one screen back; subclasses first close what is open on the screen."""
        self.dashboard.go_back()

    def action_leave(self) -> None:
        """Go one screen back, or quit at home."""
        self.dashboard.leave()


def _is_seen(widget: Widget) -> bool:
    """Return whether the widget is displayed, not on a hidden tab."""
    return all(each.display for each in widget.ancestors_with_self if isinstance(each, Widget))


def _call(
    app: Dashboard,
    work: Callable[[], T],
    then: Callable[[T], object],
    otherwise: Callable[[TuibenchError], object] | None,
    mark: object,
) -> Answered | Refused:
    try:
        return Answered(then, work(), mark)
    except Exception as error:  # a failed call ends neither the screen nor other calls
        return Refused(app.known_error(error), otherwise, mark)


MOST_TABS = 9
"""Each tab has the key of its number."""


class TabbedPage(Page):
    """A page with tabs; a key with a number shows the tab of that number."""

    tab_ids: ClassVar[tuple[str, ...]] = ()
    tab_names: ClassVar[tuple[str, ...]] = ()
    """Labels of the tabs."""

    def __init__(self, tab: str = "") -> None:
        """Create the page; `tab` is the id of the tab shown first."""
        super().__init__()
        self.tab_index = self.tab_ids.index(tab) if tab in self.tab_ids else 0

    @property
    def tab(self) -> str:
        """Id of the shown tab."""
        return self.tab_ids[self.tab_index]

    @property
    def tabs(self) -> int:
        """Number of tabs."""
        return len(self.tab_ids)

    def show_tab_line(self, right: str = "") -> None:
        """Show the tabs with a text at the right; those without content are dimmed."""
        disabled = set(range(self.tabs)).difference(self.open_tabs())
        self.query_one("#tabs", TabLine).show(
            self.tab_names[: self.tabs], self.tab_index, disabled=disabled, right=(f"{right} " if right else "", "dim")
        )

    def go_to_tab(self, tab: int) -> Awaitable[None] | None:
        """Show a tab by its index."""
        raise NotImplementedError

    def open_tabs(self) -> Sequence[int]:
        """Return the indexes of the tabs with content."""
        return range(self.tabs)

    def _step(self, by: int) -> Awaitable[None] | None:
        shown, at = self.open_tabs(), self.tab_index
        return self.go_to_tab(shown[(shown.index(at) + by) % len(shown)]) if at in shown else None

    def action_tab_next(self) -> Awaitable[None] | None:
        """Show the next tab, wrapping around."""
        return self._step(1)

    def action_tab_previous(self) -> Awaitable[None] | None:
        """Show the previous tab, wrapping around."""
        return self._step(-1)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys of missing tabs."""
        if action.startswith("tab_") and action[4:].isdigit():
            return int(action[4:]) <= self.tabs
        return super().check_action(action, parameters)


def _tab_action(tab: int) -> Callable[[TabbedPage], Awaitable[None] | None]:
    return lambda page: page.go_to_tab(tab)


for _tab in range(MOST_TABS):
    setattr(TabbedPage, f"action_tab_{_tab + 1}", _tab_action(_tab))


class Pane(QuietContainer, Vertical):
    """The content of one tab, made when it is first shown."""

    DEFAULT_CSS = "Pane { height: 1fr; width: 1fr; }"

    @property
    def page(self) -> Page:
        """The screen with its own type."""
        return cast("Page", self.screen)

    @property
    def dashboard(self) -> Dashboard:
        """The app with its own type."""
        return self.page.dashboard

    @property
    def choices(self) -> dict[str, Any]:
        """Choices that all tabs of this page share."""
        return self.page.choices

    def update_choices(self) -> None:
        """Show the latest choices, perhaps made on another tab."""

    def focus_first(self) -> None:
        """Focus the first focusable widget."""
        self.screen.set_focus(next((widget for widget in self.query("*") if widget.focusable), None))


class Panes(QuietContainer, ContentSwitcher):
    """Shows one tab and focuses its first focusable widget."""

    def __init__(self) -> None:
        super().__init__(id="panes")

    async def show_pane(self, name: str, make: Callable[[], Widget]) -> None:
        """Show a tab; keep it hidden until complete, so that a slow terminal never shows an empty page."""
        pane = next(iter(self.query(f"#{name}")), None)
        if pane is None:
            pane = make()
            pane.display = False
            await self.mount(pane)
        elif isinstance(pane, Pane):
            pane.update_choices()
        self.current = name
        if isinstance(pane, Pane):
            pane.focus_first()
        else:
            self.screen.set_focus(pane)
