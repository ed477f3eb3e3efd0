"""Workarounds that use private parts of Textual, each with its reason.

Those of widgets and screens are in `widgets/painted.py`, one method of the palette is in `palette.py`.
"""

from __future__ import annotations

import asyncio
import select
import sys
import traceback
from codecs import IncrementalDecoder, getincrementaldecoder
from collections import deque
from collections.abc import Callable
from contextvars import Context
from functools import _lru_cache_wrapper, partial
from typing import TYPE_CHECKING, cast

from rich.console import RenderableType
from textual import events, on
from textual._styles_cache import StylesCache
from textual.app import App
from textual.driver import Driver
from textual.screen import Screen
from textual.widget import Widget

from tuibench.core.errors import TuibenchError
from tuibench.core.text import show

if TYPE_CHECKING:
    from textual.drivers.linux_driver import LinuxDriver


KEY_WAIT_S = 0.25
"""Longest time a key waits for the effects of the previous key."""
HOLD_S = 3.0
"""Longest time keys wait for an answer."""
ALWAYS = ("escape", "ctrl+c", "ctrl+q")
"""Keys that do not wait for an answer."""
_LOOK_S = 0.01


class QuietApp(App[int]):
    """An app that sends nothing while idle and exits with one line after a crash."""

    def __init__(self) -> None:
        _share_border_colours()
        super().__init__()
        self.traceback_text = ""
        """A traceback for --debug, safe to print; '' if nothing failed."""
        self._titled = False
        self.key_queue = KeyQueue(self)
        """Typed keys that are not handled yet."""

    async def on_event(self, event: events.Event) -> None:
        """Handle keys one by one; Textual forwards a burst at once, and later keys would miss changes of focus."""
        if isinstance(event, (events.Key, events.Paste)) and not event.is_forwarded:
            event = _with_enter(event)
            if self.key_queue.wait(event):
                return
            await super().on_event(event)
            if not self._exit:
                self.key_queue.follow(self.focused or self.screen)
            return
        await super().on_event(event)

    def set_terminal_title(self, title: str) -> None:
        """Set the window title, which is restored at exit; Textual has no public API for either."""
        if self._driver is None or self.is_headless:
            return
        keep = "" if self._titled else "\x1b[22;0t"
        self._titled = True
        self._driver.write(f"{keep}\x1b]0;{show(title, 80)}\x07")

    def on_unmount(self) -> None:
        """Restore the window title; the terminal is still open here."""
        if self._titled and self._driver is not None:
            self._driver.write("\x1b[23;0t")

    def terminal_is_gone(self) -> bool:
        """Return whether the terminal has hung up; if no signal reports it, Textual keeps reading forever."""
        number = getattr(self._driver, "fileno", None)
        if not isinstance(number, int):
            return False
        poll = select.poll()
        poll.register(number, 0)
        return bool(poll.poll(0))

    def get_driver_class(self) -> type[Driver]:
        """Return Textual's driver, changed to survive invalid UTF-8 and a lost terminal."""
        from textual.drivers import linux_driver  # deferred: not needed without a terminal
        from textual.drivers._writer_thread import WriterThread

        class Writer(WriterThread):
            """Survives a failed write: Textual's thread dies of it, and thirty writes later the app blocks forever."""

            def run(self) -> None:
                try:
                    super().run()
                except OSError:
                    # The terminal is gone; drain the queue so that no writer blocks.
                    while self._queue.get() is not None:
                        continue

        setattr(linux_driver, "WriterThread", Writer)  # noqa: B010 - as below
        setattr(linux_driver, "getincrementaldecoder", _lenient)  # noqa: B010 - it is imported there, and not exported
        driver = super().get_driver_class()
        return _resumes_once(driver) if issubclass(driver, linux_driver.LinuxDriver) else driver

    def panic(self, *renderables: RenderableType) -> None:
        """Handle an error of Textual's input thread; Textual would print it with the values of all variables."""
        self._return_code = 1
        self._fatal_error()

    def on_app_blur(self, event: events.AppBlur) -> None:
        """Ignore: Textual would remove the focus, which answers questions with no, and send the whole screen."""
        event.prevent_default()

    def on_app_focus(self, event: events.AppFocus) -> None:
        """Ignore: the focus of the terminal's window makes no difference."""
        event.prevent_default()

    @on(Driver.SignalResume)
    def paint_again(self) -> None:
        """Repaint after a resume: other programs wrote to the terminal, and Textual only reports the resume."""
        self.screen.refresh()

    def _handle_exception(self, error: Exception) -> None:
        """Ignore errors during exit: a screen still being composed is missing its widgets."""
        if not self._exit:
            super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Store the traceback without values: Textual prints those of all variables, which are foreign text."""
        lines = traceback.format_exception(sys.exception() or self._exception)
        self.traceback_text = "\n".join(show(line, 1000) for text in lines for line in text.splitlines())
        self._close_messages_no_wait()


class KeyQueue:
    """Serializes keys: the next key is sent when everything the last one caused has been handled.

    A key bubbles from the focused widget to the app, which runs its action; the messages this causes bubble the same
    way. Callbacks queued behind them on the same path, two per widget and for both passes, run last.
    """

    def __init__(self, app: App[int]) -> None:
        self._app = app
        self._waiting: deque[events.Event] = deque()
        self._at_work = 0
        """Number of the key being handled; 0 for none."""
        self._count = 0
        self._hold: object = None
        """Mark of an awaited answer, which will open the screen that the waiting keys are typed into."""

    @property
    def is_idle(self) -> bool:
        """True if all typed keys are handled."""
        return not self._at_work and not self._waiting

    def wait(self, event: events.Event) -> bool:
        """Return whether a key must wait; if so, queue it."""
        if self._hold is not None and isinstance(event, events.Key) and event.key in ALWAYS:
            self._hold = None
            self._waiting.clear()
            return False
        waits = bool(self._at_work) or self._hold is not None
        if waits:
            self._waiting.append(event)
        return waits

    def hold(self) -> object:
        """Make keys wait until `release` gets the returned mark; after HOLD_S they are dropped."""
        mark = self._hold = object()
        # An empty context: the caller's refers to its page and would keep it in memory until the timer ends.
        asyncio.get_running_loop().call_later(HOLD_S, self.release, mark, True, context=Context())
        return mark

    def release(self, mark: object, drop: bool = False) -> None:
        """Release the keys that wait for this mark; `drop` discards them instead, if their screen never came."""
        if mark is None or self._hold is not mark:
            return
        self._hold = None
        if drop:
            self._waiting.clear()
        self._next()

    def follow(self, target: Widget) -> None:
        """Wait for the effects of a key that was sent to `target`."""
        self._count += 1
        self._at_work = number = self._count
        way = [node for _ in range(2) for node in target.ancestors_with_self for _ in range(2)]

        def step() -> None:
            while way and number == self._at_work:
                if way.pop(0).call_later(step):
                    return
            self._done(number)

        # A removed widget handles nothing more, and a slow one must not block typing.
        self._stop_waiting_later(number, _looks())
        step()

    def _stop_waiting_later(self, number: int, left: int) -> None:
        """Give up after `left` short waits; one long timer could expire while the process gets no CPU time."""
        if not left:
            self._done(number)
        elif number == self._at_work:
            asyncio.get_running_loop().call_later(_LOOK_S, self._stop_waiting_later, number, left - 1)

    def _done(self, number: int) -> None:
        if number == self._at_work:
            self._at_work = 0
            self._next()

    def _next(self) -> None:
        if self._waiting and not self._at_work and self._hold is None:
            # Set before any later key arrives, so that it finds a key in progress.
            self._at_work = self._count = self._count + 1
            self._app.call_later(self._go_on, _looks())

    async def _go_on(self, left: int) -> None:
        if left and not _takes_keys(self._app):
            asyncio.get_running_loop().call_later(_LOOK_S, self._app.call_later, self._go_on, left - 1)
            return
        self._at_work = 0
        if self._waiting:
            await self._app.on_event(self._waiting.popleft())


def after_painting(screen: Screen[None], then: Callable[..., object], *given: object) -> None:
    """Call `then` when all changes so far are painted; idle widgets could request a refresh too late by themselves."""
    for widget in screen.walk_children(Widget):
        widget._check_refresh()
    screen.call_after_refresh(then, *given)


def _share_border_colours() -> None:
    """Cache colours of borders per class; per widget, Textual keeps the painted lines of 1024 removed ones (#6665)."""
    colours = vars(StylesCache).get("get_inner_outer")
    if isinstance(colours, _lru_cache_wrapper):
        shared = classmethod(cast("Callable[..., object]", colours))
        setattr(StylesCache, "get_inner_outer", shared)  # noqa: B010 - mypy rejects the assignment


def _looks() -> int:
    return round(KEY_WAIT_S / _LOOK_S)


def _takes_keys(app: App[int]) -> bool:
    """Return whether the screen accepts typing; one with AUTO_FOCUS does so only once a widget has the focus."""
    screen = app.screen
    wanted = app.AUTO_FOCUS if screen.AUTO_FOCUS is None else screen.AUTO_FOCUS
    if not screen.is_mounted or screen.focused is not None or not wanted:
        return screen.is_mounted
    return not any(widget.focusable for widget in screen.query(wanted))


def known_error(error: Exception) -> TuibenchError:
    """Return an error for the user; a foreign exception is a bug of tuibench and is named internal error."""
    if isinstance(error, TuibenchError):
        return error
    return TuibenchError("internal_error", kind=type(error).__name__, text=str(error))


def _with_enter(event: events.Key | events.Paste) -> events.Key | events.Paste:
    """Convert ctrl+j to enter: keys typed while the shell still owns the terminal arrive with line feeds."""
    if not isinstance(event, events.Key) or event.key != "ctrl+j":
        return event
    enter = events.Key("enter", "\r")
    if event._sender is not None:
        enter.set_sender(event._sender)
    return enter


def _resumes_once(driver: type[LinuxDriver]) -> type[Driver]:
    class Sleeper(driver):  # type: ignore[misc, valid-type]
        """Prevents Textual from starting its threads twice: SIGSTOP ends none, and the app waits for the first two."""

        _retiring = False

        def _sigcont_application(self, *_: object) -> None:
            if self._retiring:
                return  # another SIGCONT while suspending in the background; the outer call continues
            if self._writer_thread is not None and self._writer_thread.is_alive():
                self._retiring = True
                self.suspend_application_mode()
                self._retiring = False
                # The shell may have written to the terminal: request a full repaint.
                self._must_signal_resume = True
            super()._sigcont_application()

    return Sleeper


def _lenient(name: str) -> Callable[[], IncrementalDecoder]:
    """Return a decoder that replaces invalid bytes, e.g. a Latin-1 accent or noise on a serial line."""
    return partial(getincrementaldecoder(name), "replace")
