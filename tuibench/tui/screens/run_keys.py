"""What the keys of a run do: end it, finish it, give it time, take it up, read its log."""

from __future__ import annotations

from tuibench.core import activity
from tuibench.core.cell import CellResult
from tuibench.core.errors import TuibenchError
from tuibench.core.short_id import short_id
from tuibench.core.units import count_of
from tuibench.core.watch import RunView
from tuibench.report.label import failure_text
from tuibench.report.lines import own_lines
from tuibench.tui.screens.benchmark_actions import BenchmarkActions
from tuibench.tui.widgets.question import Notice, ask
from tuibench.tui.widgets.row import LineLike

_GOING = ("cancel", "finish", "extend", "log", "copy-command", "back", "palette", "help")
_WAITING = ("cancel", "log", "copy-command", "back", "palette", "help")
_BROKEN = ("resume", "remove", "log", "copy-command", "back", "palette", "help")
_ENDED = ("open", "rerun", "log", "copy-command", "remove", "back", "palette", "help")


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
        if view is None or view.info.state == activity.WAITING:
            self.hints = _WAITING
        elif not view.ended:
            self.hints = _GOING
        else:
            self.hints = _ENDED if view.saved else _BROKEN
        self.show_keys()

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
        words = f"{count_of(kept, 'cell')} measured so far {'is' if kept == 1 else 'are'} kept"
        text = f"Cancel this run? {words if kept else 'Nothing is measured yet.'}"
        ask(self, text, {"y": "cancel it"}, lambda answer: self._cancel() if answer == "y" else None)

    def _cancel(self) -> None:
        run = self.run_id
        self.say("cancelling ...")
        self.ask(lambda: self.desk.cancel(run), self._tell, group="wish")

    def action_finish(self) -> None:
        """End it after the present execution."""
        if self._is_going():
            run = self.run_id
            self.ask(lambda: self.desk.finish(run), self._tell, group="wish")

    def action_extend(self) -> None:
        """More time for what is not precise enough yet."""
        if self._is_going():
            run = self.run_id
            self.ask(lambda: self.desk.extend(run), self._tell, group="wish")

    def _tell(self, words: str) -> None:
        self.say(words)
        self.dashboard.look()
        self.load()

    def action_resume(self) -> None:
        """Take it up where it broke off."""
        view = self.view
        if view is not None and not view.ended:
            self.say("it goes on; there is nothing to take up", "warn")
            return
        run = self.run_id
        self.ask(lambda: self.desk.resume(run), lambda _: self._begun(), group="wish", otherwise=self._cannot_resume)

    def _cannot_resume(self, error: TuibenchError) -> None:
        """The machine may have changed, and then somebody must want numbers of two; or what there is can be saved."""
        view = self.view
        if view is None or not view.info.resumable:
            self.explain(error)
            return
        run = self.run_id
        choices = {"m": "go on all the same", "f": "save what there is"}

        def answered(answer: str) -> None:
            if answer:
                self.ask(
                    lambda: self.desk.resume(run, mixed=answer == "m", finish=answer == "f"),
                    lambda _: self._begun(),
                    group="wish",
                )

        ask(self, error.message, choices, answered)

    def _begun(self) -> None:
        self.say("taken up")
        self.dashboard.look()
        self.look_again()

    def cell_under_cursor(self) -> CellResult | None:
        """The screen's: as it stands."""
        raise NotImplementedError

    def look_again(self) -> None:
        """The screen's: everything may be another."""
        raise NotImplementedError

    def action_log(self) -> None:
        """What happened, and what its processes said."""
        run, view = self.run_id, self.view
        told: list[LineLike] = list(view.log) if view is not None else []

        def show_log(lines: tuple[str, ...]) -> None:
            said: list[LineLike] = ["", ("What its processes said:", "title"), *lines] if lines else []
            self.app.push_screen(Notice(f"Log of run {short_id(run)}", [*told, *said]))

        self.ask(lambda: self.desk.run_log(run), show_log, group="log")

    def open_cell(self) -> None:
        """All that is known of the cell under the cursor."""
        cell = self.cell_under_cursor()
        if cell is None:
            return
        lines = own_lines(cell) or [failure_text(cell) or "nothing is measured yet"]
        self.app.push_screen(Notice("This cell so far", lines))

    def action_back(self) -> None:
        """Leave; a run goes on."""
        super().action_back()
