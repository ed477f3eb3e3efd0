"""What the keys of a run do: end it, finish it, give it time, take it up, read its log."""

from __future__ import annotations

from collections.abc import Callable

from tuibench.core import activity
from tuibench.core.cell import CellResult
from tuibench.core.units import count_of
from tuibench.core.watch import RunView
from tuibench.report.label import failure_text
from tuibench.report.lines import own_lines
from tuibench.tui import key
from tuibench.tui.desk import Removed
from tuibench.tui.screens.benchmark_actions import BenchmarkActions
from tuibench.tui.screens.run_log import RunLogScreen
from tuibench.tui.widgets.key_line import KeyLine
from tuibench.tui.widgets.question import Notice, ask
from tuibench.tui.widgets.row import LineLike

_COMMON = ("log", "copy-command", "palette", "help")
_GOING = ("back", "cancel", "open", "extend", "finish", *_COMMON)
_WAITING = ("back", "cancel", *_COMMON)
_BROKEN = ("resume", "finish", "open", "remove", "back", *_COMMON)
_ENDED = ("open", "rerun", "rerun-changed", "compare", "back", "export", "remove", *_COMMON)
_LOST = ("back", "remove", *_COMMON)
_WORDS = {"back": "leave, run goes on", "cancel": "cancel, keep finished", "open": "open cell"}
_BROKEN_WORDS = {"open": "open cell", "finish": "save what there is"}


class RunKeys(BenchmarkActions):
    """To be inherited by the screen of a run."""

    run_id: str
    view: RunView | None

    def target(self) -> str | None:
        """The run itself."""
        return self.run_id

    def set_hints(self) -> None:
        """What can be done depends on the state."""
        view = self.view
        if view is None or not (view.cells or view.ended) or view.info.state == activity.WAITING:
            self.hints = _WAITING
        elif not view.ended:
            self.hints = (*_GOING[:3], "side", *_GOING[3:]) if self.has_sides else _GOING
        elif view.saved:
            self.hints = _ENDED
        else:
            self.hints = _BROKEN if view.info.resumable else _LOST
        self.show_keys()

    def show_keys(self) -> None:
        """In longer words than elsewhere where a run goes on: that it does so is what people ask themselves."""
        app, view = self.dashboard, self.view
        words: dict[str, str] = {}
        if view is not None and not view.saved:
            words = _BROKEN_WORDS if view.ended else _WORDS
        pairs = [(key.shown(one, app.keymap, app.ascii_only), words.get(one, key.KEYS[one].word)) for one in self.hints]
        self.query_one("#keys", KeyLine).show(pairs)

    # While it goes on

    def _is_going(self) -> bool:
        if self.view is not None and not self.view.ended:
            return True
        self.say("it has ended already", "warn")
        return False

    def action_cancel(self) -> None:
        """End it, after a question."""
        if not self._is_going():
            return
        view = self.view
        kept = sum(bool(cell.executions) for cell in view.cells) if view is not None else 0
        words = f"{count_of(kept, 'cell')} measured so far {'is' if kept == 1 else 'are'} kept."
        text = f"Cancel this run? {words if kept else 'Nothing is measured yet.'}"
        ask(self, text, {"y": "cancel it"}, lambda answer: self._cancel() if answer == "y" else None)

    def _cancel(self) -> None:
        self.say("cancelling ...")
        self._wish(lambda: self.desk.cancel(self.run_id))

    def action_finish(self) -> None:
        """End it after the present execution; of one that broke off, save what there is."""
        view = self.view
        if view is not None and view.ended and view.info.resumable:
            self._take_up(finish=True)
        elif self._is_going():
            self._wish(lambda: self.desk.finish(self.run_id))

    def action_extend(self) -> None:
        """More time for what is not precise enough yet."""
        if self._is_going():
            self._wish(lambda: self.desk.extend(self.run_id))

    def _wish(self, work: Callable[[], str]) -> None:
        self.ask(work, self._tell, group="wish")

    def _tell(self, words: str) -> None:
        self.went_on(words)

    # Once it broke off

    def action_resume(self) -> None:
        """Take it up where it broke off; where the machine is not what it was, somebody must want numbers of two."""
        view = self.view
        if view is not None and not view.ended:
            self.say("it goes on; there is nothing to take up", "warn")
        elif view is not None and not view.info.resumable:
            self.say("it has ended; r measures it again", "warn")
        elif view is not None and view.other_machine:
            choices = {"m": "go on all the same", "o": "try again", "f": "save"}
            ask(self, "The machine changed.", choices, self._answer_resume)
        else:
            self._take_up()

    def _answer_resume(self, answer: str) -> None:
        if answer:
            self._take_up(mixed=answer == "m", finish=answer == "f")

    def _take_up(self, *, mixed: bool = False, finish: bool = False) -> None:
        words = "what there is is being saved" if finish else "taken up"
        self.ask(
            lambda: self.desk.resume(self.run_id, mixed=mixed, finish=finish),
            lambda _: self.went_on(words),
            group="wish",
        )

    # What can be read

    def action_log(self) -> None:
        """What happened, and what its processes said."""
        self.dashboard.go(RunLogScreen(self.run_id, self.look))

    def look(self) -> RunView:
        """The screen's, for threads: the run as it stands."""
        raise NotImplementedError

    def cell_under_cursor(self) -> CellResult | None:
        """The screen's: as it stands."""
        raise NotImplementedError

    @property
    def has_sides(self) -> bool:
        """The screen's: whether there is more than one engine, model or scenario to go to."""
        raise NotImplementedError

    def cell_name(self, cell: CellResult) -> str:
        """The screen's: what tells it from the other cells."""
        raise NotImplementedError

    def open_cell(self) -> None:
        """All that is known of the cell under the cursor."""
        cell = self.cell_under_cursor()
        if cell is None:
            return
        lines: list[LineLike] = [*own_lines(cell)] if cell.executions else []
        if cell.failure is not None:
            said = (cell.failure.log_tail or "").splitlines()
            lines = [(failure_text(cell), "bad"), *((f"  {line}", "dim") for line in said), *lines]
        self.app.push_screen(Notice(self.cell_name(cell), lines or ["nothing is measured yet"]))

    # What a benchmark in the store can

    def _is_stored(self) -> bool:
        if self.view is not None and self.view.saved:
            return True
        self.say("this needs its result, which is stored when it has ended", "warn")
        return False

    def action_rerun(self) -> None:
        """Measure again."""
        if self._is_stored():
            super().action_rerun()

    def action_rerun_changed(self) -> None:
        """Measure with changes."""
        if self._is_stored():
            super().action_rerun_changed()

    def action_compare(self) -> None:
        """With what it re-ran."""
        if self._is_stored():
            super().action_compare()

    def action_export(self) -> None:
        """To a file."""
        if self._is_stored():
            super().action_export()

    def action_edit(self) -> None:
        """Name and note."""
        if self._is_stored():
            super().action_edit()

    def action_copy_command(self) -> None:
        """The shell command that does the same; a run knows its own, stored or not."""

        def find() -> tuple[str, str]:
            command = self.desk.command(run=self.run_id)
            return command, self.desk.keep_copy(command)

        self.ask(find, self._show_copied, group="command")

    def _show_removed(self, removed: Removed) -> None:
        """There is nothing left to show here."""
        super()._show_removed(removed)
        self.dashboard.go_back()
        self.dashboard.call_after_refresh(lambda: self.dashboard.page.say(removed.words))
