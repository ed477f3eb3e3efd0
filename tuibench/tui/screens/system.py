"""The System page: facts, noise and engines of this machine; examined only on request, as that takes a second."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from tuibench.core import activity
from tuibench.core.engine import complete_id, entry_of, split_id
from tuibench.core.engine_state import IMPOSSIBLE, MISSING, EngineState
from tuibench.core.errors import TuibenchError
from tuibench.core.ids import short_id
from tuibench.present.doctor import HARM, HEADING, NOTE, REMEDY, ROW, Paragraph, paragraphs
from tuibench.present.engine_list import COLUMNS, purpose_words, removal_question, removed_words
from tuibench.present.error.words import error_line, hint_words, message_words
from tuibench.tui import key
from tuibench.tui.screens.detail.facts import Fact, FactBlock
from tuibench.tui.screens.engines import InstallsEngines
from tuibench.tui.terminal import Display
from tuibench.tui.widgets.field import Answers, TextQuestion
from tuibench.tui.widgets.record_table import RecordTable, line_of
from tuibench.tui.widgets.status_line import StatusLine, confirm
from tuibench.tui.widgets.title_line import RuleLine

_LABEL = 11
"""Width of the labels that `tuibench doctor` prints."""
_NO_ENGINES = "The engines are listed once the machine was examined."
_Looked = tuple[tuple[EngineState, ...], tuple[Paragraph, ...]]


class SystemScreen(InstallsEngines):
    """The output of `tuibench doctor`, and the engines, which can be installed and removed here."""

    follows_store = False
    AUTO_FOCUS = "FactBlock"
    CSS_PATH = "system.tcss"
    BINDINGS: ClassVar[list[BindingType]] = key.bindings("machine", "engine", only=("system",))
    hints: tuple[str, ...] = (
        *("look-again", "install-engine", "remove-engine"),
        *("focus-next", "page-down", "help", "back"),
    )
    about = (
        "The facts of this machine that affect a measurement: the processor, the usable cores, the clock, the memory, "
        "and the load during one second. Below are findings that harm a measurement (!) or are worth knowing (-), "
        "with their remedies. The table has the engines: tab moves to it. i asks for an engine or a release to "
        "install, at first the one under the cursor; X cancels. d removes an installed one. The page does not refresh "
        "by itself, because an examination takes a second and disturbs running measurements."
    )

    def __init__(self) -> None:
        super().__init__()
        self._looked: _Looked | None = None
        self._engines: dict[str, EngineState] = {}
        self._going = False

    def body(self) -> Iterable[Widget]:
        """Yield one scrollable text, and the table of engines."""
        yield RuleLine()
        yield FactBlock(id="facts", classes="body")
        yield RuleLine()
        yield RecordTable(COLUMNS, empty=_NO_ENGINES, id="engines")

    def title_parts(self) -> tuple[str, ...]:
        """Return the page's title."""
        return ("System",)

    def load(self) -> None:
        """Examine once; while a run is measured, only on request."""
        self.follow_installation()
        if self._looked is not None or self._going:
            return
        if (run := self._measuring()) is None:
            self.action_look_again()
        else:
            self.engines_changed()
            self._tell(
                (
                    f"{run} is measuring; examining the machine would disturb it.",
                    f"{self.shown_key('look-again')} examines it anyway.",
                )
            )

    def action_look_again(self) -> None:
        """Examine the machine again, one examination at a time."""
        if self._going:
            return
        self._going = True
        self._tell(("Examining this machine, its noise and its engines (1 s) ...",))
        self.request(self._look, self._have, group="system", otherwise=self._refuse)

    def _look(self) -> _Looked:
        return self.services.engines.every(), tuple(paragraphs(self.services.machine.examine()))

    def action_system(self) -> None:
        """Go back: the key that opened the page also closes it."""
        self.action_back()

    def _measuring(self) -> str | None:
        runs = self.dashboard.snapshot.runs if self.dashboard.snapshot is not None else ()
        return next((short_id(row.info.id) for row in runs if row.info.state == activity.RUNNING), None)

    def _tell(self, sentences: Sequence[str]) -> None:
        """Show a status message if facts are shown, else replace the empty text."""
        if self._looked is not None:
            self.say(" ".join(sentences))
        else:
            self.query_one("#facts", FactBlock).show_facts(Fact("", each) for each in sentences)

    def _have(self, looked: _Looked) -> None:
        again = self._looked is not None
        self._looked, self._going = looked, False
        self.query_one("#facts", FactBlock).update_facts(describe(*looked, self.dashboard.shown_on))
        self._show_engines(looked[0])
        if again:
            self.say("refreshed")

    def _show_engines(self, engines: tuple[EngineState, ...]) -> None:
        self._engines = {one.id: one for one in engines}
        lines = [line_of(COLUMNS, one.id, one, "dim" if one.state == IMPOSSIBLE else "") for one in engines]
        self.query_one("#engines", RecordTable).show_lines(COLUMNS, lines)

    def on_record_table_cursor_moved(self, message: RecordTable.CursorMoved) -> None:
        """Say what the engine under the cursor is for."""
        message.stop()
        self._say_purpose()

    def on_descendant_focus(self) -> None:
        """Say what the engine under the cursor is for, when its table is reached."""
        self._say_purpose()

    def _say_purpose(self) -> None:
        """Show the purpose on an empty status line: the result of an action is worth more."""
        if self.is_mounted and self.focused is self.query_one("#engines") and not self.query_one(StatusLine).said:
            self.say(purpose_words(self._under_cursor))

    @property
    def _under_cursor(self) -> str:
        return self.query_one("#engines", RecordTable).cursor_key or ""

    def action_install_engine(self) -> None:
        """Ask which engine or release to install, at first the one under the cursor."""
        if not self.is_installing():
            name, entry = split_id(self._under_cursor)[0], entry_of(self._under_cursor)
            self._ask_id(name, f"{name}@" if entry is not None and entry.lowest_release else name)

    def _ask_id(self, name: str, typed: str, wrong: str = "") -> None:
        """Ask for an id, or for a release of the engine `name`."""
        hint = "or a release such as 1.27.0"
        question = TextQuestion("Install an engine", (("engine", typed),), hint=hint, wrong=wrong)
        self.app.push_screen(question, partial(self._take_id, name))

    def _take_id(self, name: str, answers: Answers | None) -> None:
        if not answers or not answers[0]:
            return
        typed = answers[0]

        def ask_again(error: TuibenchError) -> None:
            self.when_shown(lambda: self._ask_id(name, typed, error_line(error)))

        self.install_engine(complete_id(typed, name), ask_again)

    def action_remove_engine(self) -> None:
        """Remove the engine under the cursor after a question."""
        state = self._engines.get(self._under_cursor)
        if state is None:
            return
        engines, ask = self.services.engines, partial(self._ask_removal, state)
        self.request(lambda: engines.removable(state.id), ask, group="removal", opens=True)

    def _ask_removal(self, state: EngineState, engine_id: str) -> None:
        confirm(self, removal_question(state), "remove", lambda: self._remove(engine_id))

    def _remove(self, engine_id: str) -> None:
        def show_removed(freed: int) -> None:
            self.say(removed_words(engine_id, freed))
            self.engines_changed()

        self.say(f"removing {engine_id} ...")
        self.submit(lambda: self.services.engines.remove(engine_id), show_removed)

    def engines_changed(self) -> None:
        """Show the engines again; the machine itself is not examined."""
        self.request(self.services.engines.every, self._show_engines, group="engines")

    def _refuse(self, error: TuibenchError) -> None:
        self._going = False
        if self._looked is not None:
            self.explain(error)
        else:
            self._tell((message_words(error), hint_words(error), f"{self.shown_key('look-again')} retries."))


def describe(engines: Iterable[EngineState], found: Iterable[Paragraph], display: Display) -> Iterator[Fact]:
    """Yield doctor's paragraphs, with install commands of missing engines and the dashboard's display."""
    for each in found:
        if each.kind == HEADING:
            yield Fact("", "")
        yield _fact(each)
        if each.label == "Engines":
            yield from _missing(engines)
        elif each.label == "Terminal":
            yield Fact("Dashboard", _shown_on(display), indent=_LABEL)


def _fact(paragraph: Paragraph) -> Fact:
    text = paragraph.text
    facts = {
        ROW: Fact(paragraph.label, text, indent=_LABEL),
        HEADING: Fact("", text, "title"),
        HARM: Fact("!", text, "warn", "warn", 2),
        NOTE: Fact("-", text, indent=2),
        REMEDY: Fact("  →", text, indent=4),
    }
    return facts[paragraph.kind]


def _missing(engines: Iterable[EngineState]) -> Iterator[Fact]:
    for engine in engines:
        if engine.state == MISSING:
            yield Fact("", f"{' ' * _LABEL}{engine.id} is not installed: {engine.command}", "accent")


def _shown_on(display: Display) -> str:
    fps = dict(display.environ).get("TEXTUAL_FPS", "")
    parts = (
        "over SSH" if display.remote else "not over SSH",
        "mouse" if display.mouse else "no mouse",
        "colours" if display.colour else "no colours",
        "ASCII" if display.ascii_only else "Unicode",
        f"at most {fps} frames a second" if fps else "",
        "see tuibench config",
    )
    return " · ".join(part for part in parts if part)
