"""The dashboard's app: services, one poll per second for other processes' changes, navigation, and removals."""

from __future__ import annotations

import asyncio
import gc
import signal
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, TypeVar

from textual.binding import BindingType
from textual.screen import Screen
from textual.worker import get_current_worker

from tuibench.core import activity
from tuibench.core.activity import RunInfo, Snapshot
from tuibench.core.errors import ExitCode, TuibenchError
from tuibench.core.ids import short_id
from tuibench.core.reason import FINISHED_ON_REQUEST, SAVED_AS_FAR
from tuibench.core.stored import Removal, TrashEntry
from tuibench.core.text import show
from tuibench.core.units import count_of, seconds
from tuibench.present.error.words import message_words
from tuibench.present.outcome import restored_words
from tuibench.present.reason import reason_words
from tuibench.services.api import Services
from tuibench.services.state_file import StateFile
from tuibench.tui import key, route
from tuibench.tui.ages import Ages
from tuibench.tui.config import Config
from tuibench.tui.messages import Refused, SnapshotTaken
from tuibench.tui.palette import Palette
from tuibench.tui.screens.base import Page
from tuibench.tui.start import DaemonThreads
from tuibench.tui.terminal import Display
from tuibench.tui.textual_seam import QuietApp, known_error
from tuibench.tui.widgets.painted import glyphs_of
from tuibench.tui.widgets.status_line import confirm

T = TypeVar("T")


class Removals:
    """Removals of this session; other sessions may remove from the same store meanwhile."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._own: list[str] = []
        """Trash entries, the latest last; only accessed by the work whose turn it is."""
        self._last = threading.Event()
        self._last.set()

    def in_turn(self, work: Callable[[], T]) -> Callable[[], T]:
        """Wrap `work`, to be run in a thread, so that it waits for all work passed in before."""
        before, self._last = self._last, (done := threading.Event())

        def carry_out() -> T:
            before.wait()
            try:
                return work()
            finally:
                done.set()

        return carry_out

    def removing(self, work: Callable[[], Removal]) -> Callable[[], Removal]:
        """Wrap a removal likewise, and remember its trash entry."""

        def carry_out() -> Removal:
            removed = work()
            if removed.entry is not None:
                self._own.append(removed.entry.id)
            return removed

        return self.in_turn(carry_out)

    def undoing(self) -> Callable[[], TrashEntry]:
        """Return work that restores this session's last removal, or anyone's if none of its own is left."""
        return self.in_turn(self._undo)

    def _undo(self) -> TrashEntry:
        if not self._own:
            return self._services.library.undo()
        there = {entry.id for entry in self._services.library.trash()}
        self._own = [one for one in self._own if one in there]
        return self._services.library.restore(self._own[-1]) if self._own else self._services.library.undo()


@dataclass(frozen=True, slots=True)
class End:
    """The end of one run."""

    title: str
    """The result of the run."""
    well: bool
    """True if the user has nothing left to do about it."""
    detail: str = ""

    @property
    def words(self) -> str:
        """Return the whole line."""
        return ": ".join(filter(None, (self.title, self.detail)))


def ends_between(before: Snapshot, now: Snapshot) -> tuple[End, ...]:
    """Return the ends of runs that were alive in `before` and are not in `now`, newest first."""
    alive = {row.info.id for row in now.runs if row.info.state in activity.ALIVE}
    gone = [row.info for row in before.runs if row.info.state in activity.ALIVE and row.info.id not in alive]
    left = {row.info.id: row.info for row in now.runs}
    done = {info.id: info for info in now.ended}
    return tuple(_end(was, left.get(was.id), done.get(was.id)) for was in gone)


def _end(was: RunInfo, left: RunInfo | None, done: RunInfo | None) -> End:
    name = f"run {short_id(was.id)}"
    if left is not None:
        return End(f"{name} {left.state}", False, reason_words(left.detail))
    if done is None:
        return End(f"{name} was removed", True)
    if done.state == activity.CANCELLED:
        kept = f"{count_of(done.executions, 'execution')} saved" if done.executions else "nothing was measured"
        return End(f"{name} cancelled, {kept}", True)
    words, code = reason_words(done.detail), done.detail.code if done.detail is not None else ""
    if code in (FINISHED_ON_REQUEST, SAVED_AS_FAR):
        return End(f"{name} {words}" + (" and saved" if code == FINISHED_ON_REQUEST else ""), True)
    if not done.executions:
        models = f" of {show(', '.join(done.models), 40)}" if done.models else ""
        return End(f"{name}{models} ended", False, "every cell failed")
    return End(f"{name} finished and saved", True, words)


LOOK_S = 1.0
"""Seconds between two polls of other processes' changes."""
_PATIENCE_S = 10.0
"""Longest wait for the first rows before the garbage collector is switched on."""


@dataclass(frozen=True, slots=True)
class Opening:
    """Arguments of the dashboard."""

    path: str = ""
    """A model whose form opens first; '' for the projects."""


class Dashboard(QuietApp):
    """Screens are made by `route` and get their dependencies from the app."""

    # Includes the first screen's rules, because adding rules later parses all of them again.
    CSS_PATH: ClassVar = ["app.tcss", "screens/project/home.tcss"]
    TITLE = "tuibench"
    # The dashboard has its own palette.
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = key.bindings("everywhere")

    def __init__(
        self,
        services: Services,
        display: Display,
        config: Config,
        state: StateFile,
        opening: Opening | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self.now = now
        self._ages = Ages(now)
        self.services = services
        self.shown_on = display
        self.config = config
        self.remembered = state
        self.ascii_only = display.ascii_only
        self.colour = display.colour
        self.glyphs = glyphs_of(display.ascii_only)
        self.keymap = dict(config.keys)
        self.removals = Removals(services)
        self.snapshot: Snapshot | None = None
        self.started = ""
        """The run started last: lists select it once."""
        self.drafts: dict[str, Any] = {}
        """By project: values typed into the set-up of profiles and not started."""
        self._opening = opening or Opening()
        self._first_hold: object = None
        self._polling = False
        self._begun = False
        self._notices: set[str] = set()
        self.set_keymap(self.keymap)

    def get_default_screen(self) -> Screen[None]:
        """Return home as the lowest screen, because Textual would paint a blank one below it twice at the start."""
        return route.home()

    def on_mount(self) -> None:
        """Install signal handlers, and start polling."""
        loop = asyncio.get_running_loop()
        loop.set_default_executor(DaemonThreads())
        loop.add_signal_handler(signal.SIGHUP, self._hang_up, ExitCode.HANGUP)
        loop.add_signal_handler(signal.SIGTERM, self._hang_up, ExitCode.TERMINATED)
        # Keys typed from now on are queued until the first page has its rows, which takes over this hold.
        self._first_hold = self.key_queue.hold()
        if self._opening.path:
            self.push_screen(route.form(path=self._opening.path))
        if self.config.problems:
            self.call_after_refresh(self._tell_problems)
        self.set_interval(LOOK_S, self.poll)
        self.set_timer(_PATIENCE_S, _enable_garbage_collector)

    def _tell_problems(self) -> None:
        """Report errors in the config file; its valid settings are used."""
        problems = self.config.problems
        many = f"{len(problems)} errors in the config file (see tuibench config): "
        self.page.say((many if len(problems) > 1 else "error in the config file: ") + problems[0], "warn")

    def _hang_up(self, code: ExitCode) -> None:
        """Exit; runs continue, because they are other processes."""
        self.exit(int(code), return_code=int(code))

    # Changes by other processes

    def page_is_there(self) -> None:
        """Replay queued keys: the first page is ready, unless it holds them itself."""
        self.key_queue.release(self._first_hold)

    def start_polling(self) -> None:
        """Poll first after the first screen has its rows, so that it does not delay them."""
        _enable_garbage_collector()
        if not self._begun:
            self.poll()

    def poll(self) -> None:
        """Request a poll, unless one is running already."""
        if self.terminal_is_gone():
            self._hang_up(ExitCode.HANGUP)
        if self._polling:
            return
        self._polling = self._begun = True
        self.run_worker(self._take_snapshot, thread=True, group="snapshot", exit_on_error=False)

    def _take_snapshot(self) -> None:
        worker = get_current_worker()
        try:
            snapshot = self.services.monitor.look()
        except Exception as error:  # the next poll retries in a second; the error is reported as a notice
            snapshot = replace(self.snapshot or Snapshot("", ()), notices=(message_words(known_error(error)),))
        if not worker.is_cancelled:
            self.post_message(SnapshotTaken(snapshot))

    def on_snapshot_taken(self, message: SnapshotTaken) -> None:
        """Notify the current screen of changes, and report ended runs on any screen."""
        self._polling = False
        if not self.is_running or not any(isinstance(screen, Page) for screen in self.screen_stack):
            # No page is shown at exit and between two pages.
            return
        page = self.page
        self._ages.advance(page)
        if not page.is_mounted or self.snapshot == message.snapshot:
            # A page that is not mounted gets the next poll; at exit pages lose their widgets first.
            return
        before, self.snapshot = self.snapshot, message.snapshot
        for notice in message.snapshot.notices:
            if notice not in self._notices:
                self._notices.add(notice)
                page.say_more(notice)
        self._tell_ended(before, message.snapshot)
        if self.screen is page:
            # A page below a dialog would be repainted as a whole; it reloads when it is visible again.
            page.show_title()
            page.snapshot_changed(message.snapshot, before)

    def _tell_ended(self, before: Snapshot | None, now: Snapshot) -> None:
        """Report the end of runs that were active at the last poll; ring once."""
        ends = ends_between(before, now) if before is not None else ()
        if not ends:
            return
        self.page.say("; ".join(end.words for end in ends), "info" if all(end.well for end in ends) else "warn")
        if self.config.bell:
            self.bell()
        self.set_terminal_title(f"tuibench: {'; '.join(end.title for end in ends)}")

    def forget_runs(self, ids: Collection[str]) -> None:
        """Remove runs that the user ended here from the last snapshot: the next poll must not report them again."""
        if self.snapshot is not None:
            self.snapshot = replace(
                self.snapshot, runs=tuple(row for row in self.snapshot.runs if row.info.id not in ids)
            )

    def going_words(self, *, timeless: bool = False) -> str:
        """Return the runs active on this machine, for the right end of titles; `timeless` omits the time left."""
        runs = self.snapshot.runs if self.snapshot is not None else ()
        running = [row.info for row in runs if row.info.state == activity.RUNNING]
        waiting = sum(row.info.state == activity.WAITING for row in runs)
        broken = sum(row.info.state in activity.RESUMABLE for row in runs)
        words = []
        if running:
            eta = running[0].eta_s
            about = f" ~{seconds(eta)}" if eta is not None and len(running) == 1 and not timeless else ""
            words.append(f"{short_id(running[0].id)} runs{about}" if len(running) == 1 else f"{len(running)} running")
        words += [f"{waiting} waiting"] if waiting else []
        words += [f"{broken} to resume"] if broken else []
        return f" {self.glyphs.dot} ".join(words)

    def known_error(self, error: Exception) -> TuibenchError:
        """Return the error to show for an error that the services raised."""
        return known_error(error)

    # Navigation between screens

    @property
    def page(self) -> Page:
        """Return the current page, also below a dialog."""
        return next(screen for screen in reversed(self.screen_stack) if isinstance(screen, Page))

    def go(self, screen: Screen[None], *, replace: bool = False) -> None:
        """Open another screen; `replace` removes the current one from the history."""
        if replace:
            self.switch_screen(screen)
        else:
            self.push_screen(screen)

    def go_back(self) -> None:
        """Return to the previous screen; home stays open."""
        if len([screen for screen in self.screen_stack if isinstance(screen, Page)]) > 1:
            self._pop()

    def _pop(self) -> None:
        left = self.page
        self.pop_screen()
        self.page.returned_from(left.profile_kind)

    def leave(self) -> None:
        """Return to the previous screen; from home leave the dashboard."""
        if len([screen for screen in self.screen_stack if isinstance(screen, Page)]) > 1:
            self._pop()
        else:
            self.action_quit_now()

    def remember(self, **values: object) -> None:
        """Save values for the next session."""
        if self.remembered.note(values):
            self.run_worker(self.remembered.keep, thread=True, group="remember", exit_on_error=False)

    async def action_back(self) -> None:
        """Delegate to the page; Textual's own action would leave it at once, even with open dialogs."""
        self.page.action_back()

    def action_leave(self) -> None:
        """Delegate to the page."""
        self.page.action_leave()

    def action_quit_now(self) -> None:
        """Leave the dashboard from any screen; ask first if that cancels an installation."""
        job, page, quit_now = self.services.installing(), self.page, partial(self.exit, int(ExitCode.OK))
        if job is None or job.is_done:
            quit_now()
            return
        page.when_shown(lambda: confirm(page, f"{job.id} is being installed; quitting cancels it", "quit", quit_now))
        if self.screen is not page:
            self.pop_screen()  # a dialog covers the line that asks

    def action_palette(self) -> None:
        """Open the palette of actions."""
        if not isinstance(self.screen, Palette):
            self.push_screen(Palette())

    def action_help_quit(self) -> None:
        """Name the keys that quit, because Ctrl-C ends other programs."""
        keys = [key.shown(each, self.keymap, self.ascii_only) for each in ("quit-now", "leave")]
        self.page.say(f"{keys[0]} quits, {keys[1]} goes one screen back; runs continue")

    def action_help(self) -> None:
        """Show the keys of this page."""
        page = self.page
        self.go(route.help_for(page, self.focused))

    def action_system(self) -> None:
        """Open the system page."""
        self.go(route.system())

    def action_trash(self) -> None:
        """Open the trash."""
        self.go(route.trash())

    def action_undo(self) -> None:
        """Restore the benchmark or project removed last."""
        self.page.submit(self.removals.undoing(), self._tell_undone)

    def on_refused(self, message: Refused) -> None:
        """Report the error of an action whose page was left before it failed."""
        message.stop()
        if self.is_running and (page := self.page).is_mounted:
            page.explain(message.error)

    def _tell_undone(self, entry: TrashEntry) -> None:
        self.page.say(restored_words(entry))
        self.poll()


def _enable_garbage_collector() -> None:
    """Switch the garbage collector on; `start` left it off until the first rows are shown."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
