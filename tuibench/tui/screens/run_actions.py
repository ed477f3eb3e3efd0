"""Actions on the run under the cursor: cancel, finish, extend, resume."""

from __future__ import annotations

from collections.abc import Callable

from tuibench.core import activity
from tuibench.core.short_id import short_id
from tuibench.core.units import count_of
from tuibench.core.watch import RunView
from tuibench.tui import key
from tuibench.tui.desk import Desk
from tuibench.tui.screens.benchmark_actions import BenchmarkActions
from tuibench.tui.widgets.question import ask

_NO_RUN = "there is no run under the cursor: this key is for one that goes on or broke off"


class RunActions(BenchmarkActions):
    """Mixin placed before `Page`; acts on the run that `target` returns."""

    def with_run(self, then: Callable[[RunView], object]) -> None:
        """Call `then` with the current view of the run under the cursor, or say that there is none."""
        one = self.target()
        if one is None or self.run_of(one) is None:
            self.say(_NO_RUN, "warn")
        else:
            self.ask(lambda: look_once(self.desk, one), then, group="run", opens=True)

    def run_name(self, view: RunView) -> str:
        """Return the run's name in questions."""
        return f"run {short_id(view.info.id)}"

    # Live runs

    def _is_going(self, view: RunView) -> bool:
        if view.ended:
            self.say("it has ended already", "warn")
        return not view.ended

    def action_cancel(self) -> None:
        """Cancel the run, after a question."""
        self.with_run(self._ask_cancel)

    def _ask_cancel(self, view: RunView) -> None:
        if not self._is_going(view):
            return
        kept, noun = sum(bool(cell.executions) for cell in view.cells), "cell"
        if view.info.kind:
            kept, noun = view.info.executions, "measurement"
        # Use fewer words for a profile, so that the line fits in 80 columns.
        done = "" if view.info.kind else " measured so far"
        words = f"{count_of(kept, noun)}{done} {'is' if kept == 1 else 'are'} kept."
        text = f"Cancel {self.run_name(view)}? {words if kept else 'Nothing is measured yet.'}"
        ask(self, text, {"y": "cancel it"}, lambda answer: self._cancel(view.info.id) if answer == "y" else None)

    def _cancel(self, run: str) -> None:
        self.say("cancelling ...")
        self._wish(lambda: self.desk.cancel(run))

    def action_finish(self) -> None:
        """Finish a live run, or save an interrupted one as it is."""
        self.with_run(self._finish)

    def _finish(self, view: RunView) -> None:
        if view.info.state == activity.WAITING:
            cancel = key.shown("cancel", self.dashboard.keymap, self.dashboard.ascii_only)
            self.say(f"{short_id(view.info.id)} waits and has nothing to finish: {cancel} cancels it", "warn")
        elif view.ended and view.info.resumable:
            self._take_up(view, finish=True)
        elif self._is_going(view):
            self._wish(lambda: self.desk.finish(view.info.id))

    def action_extend(self) -> None:
        """Give more time to cells below their target."""
        self.with_run(self._extend)

    def _extend(self, view: RunView) -> None:
        if view.info.state == activity.WAITING:
            self.say(f"{short_id(view.info.id)} waits and has begun nothing that could need more time", "warn")
        elif self._is_going(view):
            self._wish(lambda: self.desk.extend(view.info.id))

    def _wish(self, work: Callable[[], str]) -> None:
        self.wish(work, self.went_on)

    # Interrupted runs

    def action_resume(self) -> None:
        """Resume the run; after a change of the machine, ask whether to mix the numbers of both."""
        self.with_run(self._resume)

    def _resume(self, view: RunView) -> None:
        if not view.ended:
            self.say("it goes on; there is nothing to take up", "warn")
        elif not view.info.resumable:
            words = "r measures it again" if view.saved else "nothing of it is left to take up"
            self.say(f"it has ended; {words}", "warn")
        elif view.other_machine:
            choices = {"m": "go on all the same", "o": "try again", "f": "save"}
            ask(self, "The machine changed.", choices, lambda answer: self._answer_resume(view, answer))
        else:
            self._take_up(view)

    def _answer_resume(self, view: RunView, answer: str) -> None:
        if answer:
            self._take_up(view, mixed=answer == "m", finish=answer == "f")

    def _take_up(self, view: RunView, *, mixed: bool = False, finish: bool = False) -> None:
        saving = finish or view.info.state == activity.UNSAVED
        words = "what there is is being saved" if saving else "taken up"
        self.wish(lambda: self.desk.resume(view.info.id, mixed=mixed, finish=finish), lambda _: self.went_on(words))


def look_once(desk: Desk, run: str) -> RunView:
    """Return the current view of a run; call it in a thread, since it calls the desk."""
    feed = desk.watch(run)
    try:
        return feed.look()
    finally:
        feed.close()
