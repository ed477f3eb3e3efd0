"""The dashboard's app: one desk, one look a second at what others do, and the ways between screens."""

from __future__ import annotations

import asyncio
import gc
import signal
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.screen import Screen
from textual.worker import get_current_worker

from tuibench.core import activity
from tuibench.core.errors import ExitCode, TuibenchError
from tuibench.core.short_id import short_id
from tuibench.core.units import seconds
from tuibench.tui import key, route
from tuibench.tui.ages import Ages
from tuibench.tui.config import Config
from tuibench.tui.desk import Desk, Pulse
from tuibench.tui.ending import ends_between
from tuibench.tui.glyph import glyphs_of
from tuibench.tui.message import PulseTaken, Refused
from tuibench.tui.removal import Removals
from tuibench.tui.screens.base import Page
from tuibench.tui.state import StateFile
from tuibench.tui.terminal import Display
from tuibench.tui.textual_seam import CalmApp, known_error
from tuibench.tui.thread import DaemonThreads

LOOK_S = 1.0
"""Between two looks at what others do."""
_PATIENCE_S = 10.0
"""For the first rows; a store that takes longer must not leave the dashboard without its garbage collector."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What the dashboard begins with."""

    path: str = ""
    """A model whose form is to be shown; '' for the projects."""


class Dashboard(CalmApp):
    """Screens are made by `route`; what they need comes through here."""

    # The first screen's with it: rules that come later cost reading all of them again.
    CSS_PATH: ClassVar = ["app.tcss", "screens/home.tcss"]
    TITLE = "tuibench"
    # Ours is another.
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = key.bindings("everywhere")

    def __init__(
        self,
        desk: Desk,
        display: Display,
        config: Config,
        state: StateFile,
        opening: Opening | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self.now = now
        self._ages = Ages(now)
        self.desk = desk
        self.shown_on = display
        self.config = config
        self.remembered = state
        self.ascii_only = display.ascii_only
        self.colour = display.colour
        self.glyphs = glyphs_of(display.ascii_only)
        self.keymap = dict(config.keys)
        self.removals = Removals(desk)
        self.pulse: Pulse | None = None
        self.started = ""
        """The run that was started last: lists go to it once, as that is what its user wants to see next."""
        self.drafts: dict[str, Any] = {}
        """By project: what was typed into the set-up of profiles and not started."""
        self._opening = opening or Opening()
        self._first_hold: object = None
        self._looking = False
        self._begun = False
        self._notices: set[str] = set()
        self.set_keymap(self.keymap)

    def get_default_screen(self) -> Screen[None]:
        """Home is the lowest screen: a blank one below it would have Textual paint it twice in the beginning."""
        return route.home()

    def on_mount(self) -> None:
        """Hear signals, and begin to look."""
        loop = asyncio.get_running_loop()
        loop.set_default_executor(DaemonThreads())
        loop.add_signal_handler(signal.SIGHUP, self._hang_up, ExitCode.HANGUP)
        loop.add_signal_handler(signal.SIGTERM, self._hang_up, ExitCode.TERMINATED)
        # What is typed from now on waits for the first rows: the first page takes this over when it asks for them.
        self._first_hold = self.typed.hold()
        if self._opening.path:
            self.push_screen(route.form(path=self._opening.path))
        if self.config.problems:
            self.call_after_refresh(self._tell_problems)
        self.set_interval(LOOK_S, self.look)
        self.set_timer(_PATIENCE_S, _look_for_garbage)

    def _tell_problems(self) -> None:
        """What is wrong in the config file; the rest of it holds."""
        problems = self.config.problems
        # Each begins with the path, which takes most of the line.
        first = problems[0].partition(": ")[2]
        many = f"{len(problems)} things are wrong in the config file (tuibench config): "
        self.page.say((many if len(problems) > 1 else "wrong in the config file: ") + first, "warn")

    def _hang_up(self, code: ExitCode) -> None:
        """End; runs go on, as they are no part of this process."""
        self.exit(int(code), return_code=int(code))

    # What others do

    def page_is_there(self) -> None:
        """The first page stands: what was typed is its, unless it waits for an answer itself."""
        self.typed.let_go(self._first_hold)

    def begin_to_look(self) -> None:
        """Take the first look once the first screen has its rows, which would come later for it."""
        _look_for_garbage()
        if not self._begun:
            self.look()

    def look(self) -> None:
        """Ask for one look, unless the last one still goes on: looks never pile up."""
        if self.terminal_is_gone():
            self._hang_up(ExitCode.HANGUP)
        if self._looking:
            return
        self._looking = self._begun = True
        self.run_worker(self._take_pulse, thread=True, group="pulse", exit_on_error=False)

    def _take_pulse(self) -> None:
        worker = get_current_worker()
        try:
            pulse = self.desk.pulse()
        except Exception as error:  # the same look is taken again in a second; what keeps it from succeeding is news
            pulse = replace(self.pulse or Pulse("", ()), notices=(known_error(error).message,))
        if not worker.is_cancelled:
            self.post_message(PulseTaken(pulse))

    def on_pulse_taken(self, message: PulseTaken) -> None:
        """Tell the screen that is shown what has changed, and everybody which runs have ended."""
        self._looking = False
        if not self.is_running or not any(isinstance(screen, Page) for screen in self.screen_stack):
            # In the end, and between two pages, none is shown.
            return
        page = self.page
        self._ages.advance(page)
        if not page.is_mounted or self.pulse == message.pulse:
            # A page that is not there yet is told by the next look; in the end pages lose their widgets first.
            return
        before, self.pulse = self.pulse, message.pulse
        for notice in message.pulse.notices:
            if notice not in self._notices:
                self._notices.add(notice)
                page.say_more(notice)
        self._tell_ended(before, message.pulse)
        if self.screen is page:
            # Below a dialog it would be sent as a whole; it reads all anew when it is in sight again.
            page.show_title()
            page.pulse_changed(message.pulse, before)

    def _tell_ended(self, before: Pulse | None, now: Pulse) -> None:
        """Say of runs that went on at the last look and do not at this one how they ended; ring once."""
        ends = ends_between(before, now) if before is not None else ()
        if not ends:
            return
        self.page.say("; ".join(end.words for end in ends), "info" if all(end.well for end in ends) else "warn")
        if self.config.bell:
            self.bell()
        self.set_terminal_title(f"tuibench: {'; '.join(end.title for end in ends)}")

    def forget_runs(self, ids: Collection[str]) -> None:
        """Their user ended them here and was told so: the next look has nothing to add."""
        if self.pulse is not None:
            self.pulse = replace(self.pulse, runs=tuple(row for row in self.pulse.runs if row.info.id not in ids))

    def going_words(self, *, timeless: bool = False) -> str:
        """What goes on on this machine, for the right end of every title; `timeless` where it is not told again."""
        runs = self.pulse.runs if self.pulse is not None else ()
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
        """What the user is told of an error that the desk raised."""
        return known_error(error)

    # Ways between screens

    @property
    def page(self) -> Page:
        """The page that is shown, also below a question."""
        return next(screen for screen in reversed(self.screen_stack) if isinstance(screen, Page))

    def go(self, screen: Screen[None], *, replace: bool = False) -> None:
        """To another screen; `replace` leaves no way back to this one."""
        if replace:
            self.switch_screen(screen)
        else:
            self.push_screen(screen)

    def go_back(self) -> None:
        """To the screen before; home stays."""
        if len([screen for screen in self.screen_stack if isinstance(screen, Page)]) > 1:
            self._pop()

    def _pop(self) -> None:
        left = self.page
        self.pop_screen()
        self.page.returned_from(left.profile_kind)

    def leave(self) -> None:
        """Back; from home out of the dashboard."""
        if len([screen for screen in self.screen_stack if isinstance(screen, Page)]) > 1:
            self._pop()
        else:
            self.exit(int(ExitCode.OK))

    def remember(self, **values: object) -> None:
        """For the next session."""
        if self.remembered.note(values):
            self.run_worker(self.remembered.keep, thread=True, group="remember", exit_on_error=False)

    async def action_back(self) -> None:
        """As the page says; Textual's own would leave it at once, whatever it has open."""
        self.page.action_back()

    def action_leave(self) -> None:
        """As the page says."""
        self.page.action_leave()

    def action_quit_now(self) -> None:
        """Out, from anywhere."""
        self.exit(int(ExitCode.OK))

    def action_palette(self) -> None:
        """What can be done here, by its name."""
        from tuibench.tui.palette import Palette  # only who asks for it waits for it

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette())

    def action_help_quit(self) -> None:
        """Ctrl-C ends other programs, so whoever presses it here is told what does."""
        keys = [key.shown(each, self.keymap, self.ascii_only) for each in ("quit-now", "leave")]
        self.page.say(f"{keys[0]} leaves the dashboard, {keys[1]} goes one screen back; runs go on")

    def action_help(self) -> None:
        """What the keys do here."""
        page = self.page
        self.go(route.help_for(page, self.focused))

    def action_system(self) -> None:
        """The machine."""
        self.go(route.system())

    def action_trash(self) -> None:
        """What was removed."""
        self.go(route.trash())

    def action_undo(self) -> None:
        """Bring back what was removed last."""
        self.page.wish(self.removals.undoing(), self._tell_undone)

    def on_refused(self, message: Refused) -> None:
        """What was wished for on a page that was left meanwhile, and could not be done."""
        message.stop()
        if self.is_running and (page := self.page).is_mounted:
            page.explain(message.error)

    def _tell_undone(self, restored: str) -> None:
        self.page.say(restored)
        self.look()


def _look_for_garbage() -> None:
    """From now on; `start` left it off until the first rows are there."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
