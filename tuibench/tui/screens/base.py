"""What all screens share: title, body, news and keys; and the one way to ask the desk without blocking."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import get_current_worker

from tuibench.core.errors import TuibenchError
from tuibench.core.text import show
from tuibench.tui import key
from tuibench.tui.desk import Desk, Pulse
from tuibench.tui.message import Answered, Refused
from tuibench.tui.textual_seam import after_painting
from tuibench.tui.widgets.calm import Calm
from tuibench.tui.widgets.key_line import KeyLine, together
from tuibench.tui.widgets.record_table import RecordTable
from tuibench.tui.widgets.status_line import StatusLine
from tuibench.tui.widgets.title_line import TitleLine

if TYPE_CHECKING:
    from tuibench.tui.app import Dashboard

T = TypeVar("T")


class Page(Calm, Screen[None]):
    """One screen: subclasses give `body` and `hints`, and say by `title_parts` where the user is."""

    BINDINGS: ClassVar[list[BindingType]] = []
    AUTO_FOCUS = "RecordTable, ScrollBlock"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 - Textual declares it for instances
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (8, "-short"), (30, "-tall")]  # noqa: RUF012 - Textual declares it for instances
    hints: tuple[str, ...] = ()
    """Ids of keys for the bottom lines, the most important first; what they lack is in the help."""
    words: ClassVar[Mapping[str, str]] = key.ONE_WORD  # for keys that have another one elsewhere
    last_hint = "help"
    """The one that stays in sight however narrow it is; '' for none."""
    about: ClassVar[str] = ""
    """What the screen shows, in a paragraph for its help."""
    _was_left = False
    _due: Callable[[], object] | None = None
    """What waits until this screen is shown again."""

    def __init__(self) -> None:
        super().__init__()
        self._typing = False
        """Whether a text had the focus when the keys were shown."""
        self.choices: dict[str, Any] = {}
        """Figure, metric, order: what its tabs show, as long as the page is open."""

    @property
    def dashboard(self) -> Dashboard:
        """The app, by its own type."""
        return cast("Dashboard", self.app)

    @property
    def desk(self) -> Desk:
        """For `ask` alone: it blocks."""
        return self.dashboard.desk

    def compose(self) -> ComposeResult:
        """Title, body, news, keys."""
        # Textual learns it from the first layout, which would then be laid out and sent twice.
        for limits, room in zip((self.HORIZONTAL_BREAKPOINTS, self.VERTICAL_BREAKPOINTS), self.app.size, strict=True):
            self.add_class(max((least, name) for least, name in limits if room >= least)[1])
        yield TitleLine(id="title")
        yield from self.body()
        yield StatusLine(id="news")
        yield KeyLine(id="keys")

    def body(self) -> Iterable[Widget]:
        """What stands between title and news."""
        return ()

    def title_parts(self) -> tuple[str, ...]:
        """Where the user is, outermost first; foreign text is made safe by the line."""
        return ()

    def on_mount(self) -> None:
        """Say where the user is and what can be done; Textual itself calls it behind that of the page's own class."""
        self.show_title()
        self.show_keys()
        self.load()
        self.dashboard.page_is_there()

    def on_screen_suspend(self) -> None:
        """Another screen is shown; who comes back later no longer knows what the news was about."""
        self._was_left = True
        if self.is_mounted:
            self.say("")
            # Below a dialog nothing is told anew, and how long a run still takes goes stale within a second.
            self.query_one("#title", TitleLine).show_end(self.dashboard.going_words(timeless=True))

    def on_screen_resume(self) -> None:
        """Others may have changed things while another screen was shown; when it first appears it loads anyway."""
        if self.is_mounted and self._was_left:
            self._was_left = False
            self.show_title()
            self.load()
        if self._due is not None:
            # Not in the middle of the change of screens that this tells of.
            self.call_later(self._due)
            self._due = None

    def when_shown(self, then: Callable[[], object]) -> None:
        """Go on to another screen from this one, once nothing that its user opened meanwhile stands over it."""
        if self.app.screen is self:
            then()
        else:
            self._due = then

    def load(self) -> None:
        """Ask for what is shown; called when the screen appears and whenever something may have changed."""

    def pulse_changed(self, pulse: Pulse, before: Pulse | None) -> None:
        """The look of this second differs from the last; by default lists are read again where they may differ."""
        if before is None or pulse.stamp != before.stamp:
            self.load()

    def show_title(self) -> None:
        """Left the place, right what goes on on this machine."""
        place = f" {self.dashboard.glyphs.place} ".join(show(part, 60) for part in self.title_parts() if part)
        self.query_one("#title", TitleLine).show(place, self.dashboard.going_words())

    def show_keys(self) -> None:
        """The keys of this screen, as the user has bound them; in a text those that are not typed into it."""
        app, self._typing = self.dashboard, isinstance(self.focused, Input)

        def pairs(ids: Iterable[str]) -> list[tuple[str, str]]:
            names = ((each, key.shown(each, app.keymap, app.ascii_only, self._typing)) for each in ids)
            return together((name, self.words.get(each, key.KEYS[each].word)) for each, name in names if name)

        last = (self.last_hint,) if self.last_hint else ()
        self.query_one("#keys", KeyLine).show(pairs(each for each in self.hints_now if each not in last), pairs(last))

    @property
    def hints_now(self) -> tuple[str, ...]:
        """The keys of this screen; while a table is wide what scrolls it comes early, as key lines are short."""
        if not any(table.wide and _is_seen(table) for table in self.query(RecordTable)):
            return self.hints
        first, *others = (each for each in self.hints if each != "wide")
        return (first, "wide", "scroll-left", "scroll-right", *others)

    def on_record_table_widened(self, message: RecordTable.Widened) -> None:
        """A table may be scrolled from now on, or no longer."""
        message.stop()
        self.show_keys()

    def on_descendant_focus(self) -> None:
        """In a text other keys do something than elsewhere."""
        if self.is_mounted and self._typing != isinstance(self.focused, Input):
            self.show_keys()

    def on_descendant_blur(self) -> None:
        """Likewise."""
        self.on_descendant_focus()

    def on_key(self, event: events.Key) -> None:
        """What was said was about what was done before."""
        self.say("")

    @property
    def profile_kind(self) -> str:
        """Of the profile that is shown, by which lists have it; '' where none is."""
        return ""

    def returned_from(self, kind: str) -> None:
        """The page above this one was left; it was of a profile of that kind, or '' of none."""

    def say(self, text: str, kind: str = "info") -> None:
        """One line of news; warn and bad say so in words, too."""
        self.query_one("#news", StatusLine).say(text, kind)

    def say_behind_errors(self, text: str) -> None:
        """News, before what another wish was refused for: nobody pressed a key since, and lines are cut at the end."""
        line = self.query_one("#news", StatusLine)
        if line.kind == "bad" and line.said:
            self.say(f"{text}; but before: {line.said.removeprefix('! ')}", "bad")
        else:
            self.say(text)

    def say_more(self, text: str) -> None:
        """A warning behind what was just said, which somebody waits for."""
        said = self.query_one("#news", StatusLine).said
        self.say(f"{said}; {text}" if said else text, "warn")

    def ask(
        self,
        work: Callable[[], T],
        then: Callable[[T], object],
        *,
        group: str,
        otherwise: Callable[[TuibenchError], object] | None = None,
        opens: bool = False,
    ) -> None:
        """Call `work` in a thread and `then` with its answer on this screen; a newer one of the group makes it void.

        An error goes to `otherwise`, else into the news. Where `then` `opens` something, what is typed meanwhile is
        meant for that and waits.
        """
        app, mark = self.dashboard, self.dashboard.typed.hold() if opens else None

        def carry_out() -> None:
            worker, answer = get_current_worker(), _call(app, work, then, otherwise, mark)
            if not worker.is_cancelled:
                self.post_message(answer)

        self.run_worker(carry_out, thread=True, exclusive=True, group=group, exit_on_error=True)

    def wish(
        self,
        work: Callable[[], T],
        then: Callable[[T], object],
        *,
        otherwise: Callable[[TuibenchError], object] | None = None,
    ) -> None:
        """Likewise for what changes something: no other wish makes its answer void.

        Where this screen was left meanwhile, an error is told on the one that is shown.
        """
        app = self.dashboard

        def carry_out() -> None:
            answer = _call(app, work, then, otherwise, None)
            if not self.post_message(answer) and isinstance(answer, Refused):
                app.post_message(answer)

        app.run_worker(carry_out, thread=True, group="wish", exit_on_error=True)

    def on_answered(self, message: Answered) -> None:
        """What a thread found."""
        message.stop()
        if not self.dashboard.is_running:
            # In the end pages lose their widgets before they lose their messages.
            return
        message.then(message.value)
        self.dashboard.typed.let_go(message.mark)
        after_painting(self, self.dashboard.begin_to_look)

    def on_refused(self, message: Refused) -> None:
        """What a thread could not do."""
        message.stop()
        if not self.dashboard.is_running:
            return
        if message.otherwise is not None:
            message.otherwise(message.error)
        else:
            self.explain(message.error)
        self.dashboard.typed.let_go(message.mark, drop=True)
        after_painting(self, self.dashboard.begin_to_look)

    def copy_text(self, text: str) -> None:
        """To the clipboard, which not every terminal has, and to a file."""
        self.app.copy_to_clipboard(text)
        self.ask(lambda: self.desk.keep_copy(text), lambda path: self.say(f"copied, also to {path}"), group="copy")

    def explain(self, error: TuibenchError) -> None:
        """What happened and what to do, in the news."""
        self.say(f"{error.message}{': ' if error.hint else ''}{error.hint}", "bad")

    def action_back(self) -> None:
        """One screen back; what the screen has open comes first: subclasses close it and do not call this."""
        self.dashboard.go_back()

    def action_leave(self) -> None:
        """As `q` says."""
        self.dashboard.leave()


def _is_seen(widget: Widget) -> bool:
    """Not one of another tab."""
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
    except Exception as error:  # one question that nobody can answer ends neither the screen nor the others
        return Refused(app.known_error(error), otherwise, mark)
