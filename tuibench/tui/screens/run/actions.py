"""Actions on runs, the keys offered in each state of a run, and the log page."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from textual.widget import Widget

from tuibench.core import activity
from tuibench.core.activity import RunView
from tuibench.core.cell import CellResult
from tuibench.core.errors import TuibenchError, UnknownId
from tuibench.core.ids import short_id
from tuibench.core.stored import Removal
from tuibench.core.units import count_of
from tuibench.present.cells import failure_text, own_lines
from tuibench.present.error.words import hint_words, message_words
from tuibench.present.outcome import cancel_words, extend_words, finish_words, removal_words
from tuibench.services.api import Services
from tuibench.tui.screens.base import Page
from tuibench.tui.screens.benchmark.actions import BenchmarkActions
from tuibench.tui.screens.benchmark.record import leave_with
from tuibench.tui.widgets.painted import LineLike
from tuibench.tui.widgets.status_line import Notice, ask, confirm
from tuibench.tui.widgets.text_block import ScrollBlock
from tuibench.tui.widgets.title_line import RuleLine

LOOK_S = 1.0
_Found = tuple[RunView, tuple[str, ...]]


class RunLogScreen(Page):
    """Follows the end of the log until the user scrolls up."""

    follows_store = False
    AUTO_FOCUS = "ScrollBlock"
    hints = ("page-up", "page-down", "first", "last", "back", "palette", "help")
    about = (
        "The events of a run, in the time of this machine, and below them the output of its processes. The page "
        "follows the end while the run is active, until you scroll up."
    )

    def __init__(self, run_id: str, look: Callable[[], RunView]) -> None:
        """`look` returns the run's current view and is called in a thread."""
        super().__init__()
        self._run = run_id
        self._look = look
        self._looking = False
        self._view: RunView | None = None
        self._said: tuple[str, ...] = ()

    def body(self) -> Iterable[Widget]:
        """Yield one scrollable text."""
        yield RuleLine()
        yield ScrollBlock(wrap=True, follow=True, id="lines", classes="body")

    def on_mount(self) -> None:
        """Poll once a second."""
        self.set_interval(LOOK_S, self.load)

    def title_parts(self) -> tuple[str, ...]:
        """Return the run and the word `log`."""
        return (f"run {short_id(self._run)}", "log")

    def load(self) -> None:
        """Poll, unless a poll is in progress or the run is saved."""
        view = self._view
        if self._looking or (view is not None and view.saved):
            return
        self._looking = True
        self.request(self._find, self._show, group="watch", otherwise=self._cannot)

    def _find(self) -> _Found:
        view = self._look()
        # Read process output again only after new events.
        return view, self._said if view is self._view else self.services.runs.log(self._run)

    def _cannot(self, error: TuibenchError) -> None:
        self._looking, self._view = False, None
        self.query_one("#lines", ScrollBlock).show_lines([(f" {message_words(error)}", "bad"), f" {hint_words(error)}"])

    def _show(self, found: _Found) -> None:
        self._looking = False
        before = self._view
        self._view, self._said = found
        if self._view is before:
            return
        lines: list[LineLike] = [f" {line}" for line in self._view.log]
        if self._said:
            lines += ["", (" Process output:", "title"), *(f" {line}" for line in self._said)]
        self.query_one("#lines", ScrollBlock).show_lines(lines or [(" no events yet", "dim")])


_NO_RUN = "no active or interrupted run under the cursor"


class RunActions(BenchmarkActions):
    """Mixin placed before `Page`; acts on the run that `target` returns."""

    def with_run(self, then: Callable[[RunView], object]) -> None:
        """Call `then` with the current view of the run under the cursor, or say that there is none."""
        one = self.target()
        if one is None or self.run_of(one) is None:
            self.say(_NO_RUN, "warn")
        else:
            self.request(lambda: look_once(self.services, one), then, group="run", opens=True)

    def run_name(self, view: RunView) -> str:
        """Return the run's name in questions."""
        return f"run {short_id(view.info.id)}"

    # Live runs

    def _is_going(self, view: RunView) -> bool:
        if view.ended:
            self.say("the run has already ended", "warn")
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
        text = f"Cancel {self.run_name(view)}? {words if kept else 'Nothing measured yet.'}"
        confirm(self, text, "cancel", lambda: self._cancel(view.info.id))

    def _cancel(self, run: str) -> None:
        self.say("cancelling ...")
        self._request(lambda: cancel_words(self.services.runs.cancel(run)))

    def action_finish(self) -> None:
        """Finish a live run, or save an interrupted one as it is."""
        self.with_run(self._finish)

    def _finish(self, view: RunView) -> None:
        if view.info.state == activity.WAITING:
            cancel = self.shown_key("cancel")
            self.say(f"{short_id(view.info.id)} is queued; there is nothing to finish; {cancel} cancels it", "warn")
        elif view.ended and view.info.resumable:
            self._resume_run(view, finish=True)
        elif self._is_going(view):
            self._request(lambda: finish_words(self.services.runs.finish(view.info.id)))

    def action_extend(self) -> None:
        """Give more time to cells below their target."""
        self.with_run(self._extend)

    def _extend(self, view: RunView) -> None:
        if view.info.state == activity.WAITING:
            self.say(f"{short_id(view.info.id)} is queued; there is nothing to extend", "warn")
        elif self._is_going(view):
            self._request(lambda: extend_words(self.services.runs.extend(view.info.id)))

    def _request(self, work: Callable[[], str]) -> None:
        self.submit(work, self.show_done)

    # Interrupted runs

    def action_resume(self) -> None:
        """Resume the run; after a change of the machine, ask whether to mix the numbers of both."""
        self.with_run(self._resume)

    def _resume(self, view: RunView) -> None:
        if not view.ended:
            self.say("the run is active; there is nothing to resume", "warn")
        elif not view.info.resumable:
            words = "r measures it again" if view.saved else "nothing is left to resume"
            self.say(f"it has ended; {words}", "warn")
        elif view.other_machine:
            choices = {"m": "resume anyway", "o": "try again", "f": "save"}
            ask(self, "The machine changed.", choices, lambda answer: self._answer_resume(view, answer))
        else:
            self._resume_run(view)

    def _answer_resume(self, view: RunView, answer: str) -> None:
        if answer:
            self._resume_run(view, mixed=answer == "m", finish=answer == "f")

    def _resume_run(self, view: RunView, *, mixed: bool = False, finish: bool = False) -> None:
        saving = finish or view.info.state == activity.UNSAVED
        words = "saving" if saving else "resumed"
        self.submit(
            lambda: self.services.runs.resume_detached(view.info.id, mixed=mixed, finish=finish),
            lambda _: self.show_done(words),
        )


def look_once(services: Services, run: str) -> RunView:
    """Return the current view of a run; call it in a thread, since it calls the services."""
    feed = services.runs.watch(run)
    try:
        return feed.look()
    finally:
        feed.close()


_COMMON = ("log", "copy-command", "palette", "help")
_GOING = ("back", "cancel", "open", "extend", "finish", *_COMMON)
_MAKING = ("back", "cancel", "finish", *_COMMON)
_WAITING = ("back", "cancel", *_COMMON)
_BROKEN = ("resume", "finish", "open", "remove", "back", *_COMMON)
_UNSAVED = ("resume", "open", "remove", "back", *_COMMON)
_ENDED = ("open", "rerun", "rerun-changed", "compare", "back", "export", "remove", *_COMMON)
_LOST = ("back", "remove", *_COMMON)
_WORDS = {"back": "leave, run continues", "cancel": "cancel, keep finished", "open": "open cell"}
_UNSAVED_WORDS = {"open": "open cell", "resume": "save it"}
_BROKEN_WORDS = {"open": "open cell", "finish": "save as it is"}


class RunKeys(RunActions):
    """Mixin for the screen of a run."""

    run_id: str
    view: RunView | None
    _opened: tuple[Notice, CellResult] | None = None
    """The open notice on a cell that is not stored yet, and the cell it shows."""

    def target(self) -> str | None:
        """Return this run."""
        return self.run_id

    def set_hints(self) -> None:
        """Choose the keys for the run's state."""
        view = self.view
        if view is not None and view.info.kind and not view.ended:
            self.hints = _WAITING if view.info.state == activity.WAITING else _MAKING
        elif view is None or not (view.cells or view.ended) or view.info.state == activity.WAITING:
            self.hints = _WAITING
        elif not view.ended:
            self.hints = (*_GOING[:3], "side", *_GOING[3:]) if self.has_sides else _GOING
            if view.spec is not None and view.spec.effort.target is None:
                self.hints = tuple(one for one in self.hints if one != "extend")
        elif view.saved:
            self.hints = _ENDED
        else:
            broken = _UNSAVED if view.info.state == activity.UNSAVED else _BROKEN
            self.hints = broken if view.info.resumable else _LOST
        self.show_keys()

    def show_keys(self) -> None:
        """Use longer words for a live run: they say that leaving does not stop it."""
        view = self.view
        words: dict[str, str] = {}
        if view is not None and not view.saved:
            words = _BROKEN_WORDS if view.ended else _WORDS
            words = _UNSAVED_WORDS if view.info.state == activity.UNSAVED else words
        # The help key is last and stays visible at any width.
        self.show_pairs(self.hints[:-1], self.hints[-1:], words)

    @property
    def kind(self) -> str:
        """Kind of the profile it makes; '' for a benchmark."""
        return self.view.info.kind if self.view is not None else ""

    @property
    def profile_kind(self) -> str:
        """The same as `kind`."""
        return self.kind

    # Target run

    def with_run(self, then: Callable[[RunView], object]) -> None:
        """Call `then` with the shown view."""
        if self.view is None:
            self.say("still loading this run", "warn")
        else:
            then(self.view)

    def run_name(self, view: RunView) -> str:
        """Return `this run`: the page has only one."""
        return "this run"

    # Log and cells

    def action_log(self) -> None:
        """Open the log of events and process output."""
        self.dashboard.go(RunLogScreen(self.run_id, self.look))

    def look(self) -> RunView:
        """Return the run's current view; safe in any thread; the screen implements it."""
        raise NotImplementedError

    def cell_under_cursor(self) -> CellResult | None:
        """Return the current cell under the cursor; the screen implements it."""
        raise NotImplementedError

    @property
    def has_sides(self) -> bool:
        """True if there are several engines, models or scenarios; the screen implements it."""
        raise NotImplementedError

    def cell_name(self, cell: CellResult) -> str:
        """Return the name that distinguishes the cell; the screen implements it."""
        raise NotImplementedError

    def open_cell(self) -> None:
        """Show all facts of the cell under the cursor, updated while the notice is open."""
        cell = self.cell_under_cursor()
        if cell is not None:
            self._opened = Notice(self.cell_name(cell), _known_lines(cell)), cell
            self.app.push_screen(self._opened[0])

    def show_opened_cell(self, view: RunView) -> None:
        """Update the open notice."""
        if self._opened is None:
            return
        notice, before = self._opened
        cell = next((one for one in view.cells if one.key == before.key), None)
        if not notice.is_attached or cell is None:
            self._opened = None
        elif cell is not before:
            self._opened = notice, cell
            notice.show(_known_lines(cell))

    # Stored runs

    def _is_stored(self) -> bool:
        if self.view is not None and self.view.saved:
            return True
        if self.view is not None and self.view.ended:
            self.say("this run has no saved result", "warn")
        else:
            self.say("not possible before the run has ended", "warn")
        return False

    def with_stored(self, then: Callable[[str], object]) -> None:
        """Call `then` if the run is saved; this page knows that sooner than a list."""
        if self._is_stored():
            then(self.run_id)

    def action_compare(self) -> None:
        """Compare with the repeated run."""
        if self._is_stored():
            super().action_compare()

    def action_edit(self) -> None:
        """Edit name and note."""
        if self._is_stored():
            super().action_edit()

    def action_copy_command(self) -> None:
        """Copy the run's shell command, stored or not."""
        self.copy_text(lambda: self.services.runs.command(self.run_id))

    def _ask_remove(self, wanted: tuple[str, ...]) -> None:
        """Ask a separate question for an unsaved run: it may be in no list, and its removal cannot be undone."""
        view = self.view
        if view is None or not view.ended or view.saved:
            super()._ask_remove(wanted)
            return
        lost = count_of(view.info.executions, "execution") if view.info.executions else ""
        # At 80 columns the consequence comes before the names of the keys.
        what = f"{lost} will be lost, without undo" if lost else "nothing was measured"
        text = f"Delete unsaved run {short_id(self.run_id)}? {what}"
        confirm(self, text, "remove", lambda: self._remove(wanted, False, True))

    def _not_removed(self, error: TuibenchError) -> None:
        """Leave the page if the run is gone: a shell removes a run without measurements itself."""
        if isinstance(error, UnknownId) and not self._is_kept():
            self.dashboard.poll()
            leave_with(self, f"run {short_id(self.run_id)} was already removed")
        else:
            super()._not_removed(error)

    def _is_kept(self) -> bool:
        return self.view is None or self.view.saved or not self.view.ended

    def _show_removed(self, removed: Removal) -> None:
        """Leave the page, unless the run could not be saved: it can be resumed here."""
        if any(run.id == self.run_id for run in removed.unsaved):
            self.show_done(removal_words(removed))
            return
        self.dashboard.poll()
        leave_with(self, removal_words(removed) + ("; u restores it" if removed.entry is not None else ""))


def _known_lines(cell: CellResult) -> list[LineLike]:
    lines: list[LineLike] = [*own_lines(cell)] if cell.executions else []
    if cell.failure is not None:
        said = (cell.failure.log_tail or "").splitlines()
        lines = [(failure_text(cell), "bad"), *((f"  {line}", "dim") for line in said), *lines]
    return lines or ["nothing measured yet"]
