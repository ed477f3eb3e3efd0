"""Where the dashboard reaches below Textual's public surface, each place with the reason it waits for.

What widgets and screens need of this is in `widgets/calm.py`, and one method of its palette in `palette.py`.
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


PATIENCE_S = 0.25
"""How long a key waits for what the one before it led to."""
HOLD_S = 3.0
"""How long keys wait for an answer."""
ALWAYS = ("escape", "ctrl+c", "ctrl+q")
"""They wait for no answer."""
_LOOK_S = 0.01


class CalmApp(App[int]):
    """An app that says nothing by itself and dies in one line."""

    def __init__(self) -> None:
        _share_border_colours()
        super().__init__()
        self.last_words = ""
        """A traceback for --debug, safe to print; '' where nothing broke."""
        self._titled = False
        self.typed = Typed(self)
        """What was typed and is not done yet."""

    async def on_event(self, event: events.Event) -> None:
        """Textual hands keys on as they come: in a burst the later ones go where the earlier ones had not moved yet."""
        if isinstance(event, (events.Key, events.Paste)) and not event.is_forwarded:
            event = _as_meant(event)
            if self.typed.wait(event):
                return
            await super().on_event(event)
            if not self._exit:
                self.typed.follow(self.focused or self.screen)
            return
        await super().on_event(event)

    def set_terminal_title(self, title: str) -> None:
        """The title of the terminal's window, which gets its own back at the end; there is no public way to either."""
        if self._driver is None or self.is_headless:
            return
        keep = "" if self._titled else "\x1b[22;0t"
        self._titled = True
        self._driver.write(f"{keep}\x1b]0;{show(title, 80)}\x07")

    def on_unmount(self) -> None:
        """The terminal is still ours."""
        if self._titled and self._driver is not None:
            self._driver.write("\x1b[23;0t")

    def terminal_is_gone(self) -> bool:
        """Whether nobody has the other end any more; where no signal tells it, Textual reads on without end."""
        number = getattr(self._driver, "fileno", None)
        if not isinstance(number, int):
            return False
        poll = select.poll()
        poll.register(number, 0)
        return bool(poll.poll(0))

    def get_driver_class(self) -> type[Driver]:
        """Textual's ends the app at the first byte that is no UTF-8, and stands no terminal that is lost."""
        from textual.drivers import linux_driver  # what has no terminal needs no driver of one
        from textual.drivers._writer_thread import WriterThread

        class Writer(WriterThread):
            """Textual's dies of the first write that is refused; thirty later the app waits for it for ever."""

            def run(self) -> None:
                try:
                    super().run()
                except OSError:
                    # Nobody sees it any more; whoever still writes must not wait.
                    while self._queue.get() is not None:
                        continue

        setattr(linux_driver, "WriterThread", Writer)  # noqa: B010 - as below
        setattr(linux_driver, "getincrementaldecoder", _lenient)  # noqa: B010 - it is imported there, and not exported
        driver = super().get_driver_class()
        return _wakes_once(driver) if issubclass(driver, linux_driver.LinuxDriver) else driver

    def panic(self, *renderables: RenderableType) -> None:
        """Textual's prints what its thread of keys met, with the values of all variables."""
        self._return_code = 1
        self._fatal_error()

    def on_app_blur(self, event: events.AppBlur) -> None:
        """Textual takes the focus away, which answers questions with no, and sends the whole screen again."""
        event.prevent_default()

    def on_app_focus(self, event: events.AppFocus) -> None:
        """Likewise: whether another window has the focus makes no difference here."""
        event.prevent_default()

    @on(Driver.SignalResume)
    def paint_again(self) -> None:
        """Whoever had the terminal meanwhile has written over it; Textual tells this and paints nothing."""
        self.screen.refresh()

    def _handle_exception(self, error: Exception) -> None:
        """A screen that is still being built while the app ends misses its parts, and nobody misses the screen."""
        if not self._exit:
            super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Textual prints a traceback with the values of all variables, which are foreign text."""
        lines = traceback.format_exception(sys.exception() or self._exception)
        self.last_words = "\n".join(show(line, 1000) for text in lines for line in text.splitlines())
        self._close_messages_no_wait()


class Typed:
    """Keys in their order: the next one goes out when all that the last one led to has been done.

    A key goes from the widget that has the focus up to the app, where its action is done, and then the messages that
    this leads to go the same way: whoever goes both ways behind them, twice at each step, arrives when they are done.
    """

    def __init__(self, app: App[int]) -> None:
        self._app = app
        self._waiting: deque[events.Event] = deque()
        self._at_work = 0
        """Number of the key that is being done, 0 for none."""
        self._count = 0
        self._hold: object = None
        """What keys wait for beside the last one: an answer that will open what they are typed into."""

    @property
    def at_rest(self) -> bool:
        """Whether all that was typed is done."""
        return not self._at_work and not self._waiting

    def wait(self, event: events.Event) -> bool:
        """Whether a key has to wait for another one; it comes back then."""
        if self._hold is not None and isinstance(event, events.Key) and event.key in ALWAYS:
            self._hold = None
            self._waiting.clear()
            return False
        waits = bool(self._at_work) or self._hold is not None
        if waits:
            self._waiting.append(event)
        return waits

    def hold(self) -> object:
        """Have keys wait until `let_go` with what this gives, but not for ever; they are lost where nobody comes."""
        mark = self._hold = object()
        # An empty context: the caller's refers to its page, which would stay in memory until the timer ends.
        asyncio.get_running_loop().call_later(HOLD_S, self.let_go, mark, True, context=Context())
        return mark

    def let_go(self, mark: object, drop: bool = False) -> None:
        """What keys waited for is there; `drop` where it did not come, and what was meant for it means nothing."""
        if mark is None or self._hold is not mark:
            return
        self._hold = None
        if drop:
            self._waiting.clear()
        self._next()

    def follow(self, target: Widget) -> None:
        """A key has been handed to that widget."""
        self._count += 1
        self._at_work = number = self._count
        way = [node for _ in range(2) for node in target.ancestors_with_self for _ in range(2)]

        def step() -> None:
            while way and number == self._at_work:
                if way.pop(0).call_later(step):
                    return
            self._done(number)

        # Who has gone does nothing any more, and what takes long keeps nobody from typing.
        self._be_patient(number, _looks())
        step()

    def _be_patient(self, number: int, left: int) -> None:
        """In many short waits: where the processor is taken away all of one passes, and nothing was done in it."""
        if not left:
            self._done(number)
        elif number == self._at_work:
            asyncio.get_running_loop().call_later(_LOOK_S, self._be_patient, number, left - 1)

    def _done(self, number: int) -> None:
        if number == self._at_work:
            self._at_work = 0
            self._next()

    def _next(self) -> None:
        if self._waiting and not self._at_work and self._hold is None:
            # Before those that come in later: they find a key at work.
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
    """Call it when all that has changed so far is painted: idle widgets say so, maybe after Textual asks for it."""
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
    return round(PATIENCE_S / _LOOK_S)


def _takes_keys(app: App[int]) -> bool:
    """Whether what is shown can be typed into: a screen that gives the focus to a part does so a little later."""
    screen = app.screen
    wanted = app.AUTO_FOCUS if screen.AUTO_FOCUS is None else screen.AUTO_FOCUS
    if not screen.is_mounted or screen.focused is not None or not wanted:
        return screen.is_mounted
    return not any(widget.focusable for widget in screen.query(wanted))


def known_error(error: Exception) -> TuibenchError:
    """An error in words: what is none of ours is a defect of ours, and says so."""
    if isinstance(error, TuibenchError):
        return error
    return TuibenchError(f"internal error: {type(error).__name__}: {error}")


def _as_meant(event: events.Key | events.Paste) -> events.Key | events.Paste:
    """What is typed while the terminal is still the shell's comes with its line feeds, which Textual calls ctrl+j."""
    if not isinstance(event, events.Key) or event.key != "ctrl+j":
        return event
    enter = events.Key("enter", "\r")
    if event._sender is not None:
        enter.set_sender(event._sender)
    return enter


def _wakes_once(driver: type[LinuxDriver]) -> type[Driver]:
    class Sleeper(driver):  # type: ignore[misc, valid-type]
        """Textual starts its threads again after a SIGSTOP, which ended none; the app then waits for the first two."""

        _retiring = False

        def _sigcont_application(self, *_: object) -> None:
            if self._retiring:
                return  # stopped again meanwhile, for it is in the background: the call below goes on
            if self._writer_thread is not None and self._writer_thread.is_alive():
                self._retiring = True
                self.suspend_application_mode()
                self._retiring = False
                # The shell may have written to the terminal: all is to be painted again.
                self._must_signal_resume = True
            super()._sigcont_application()

    return Sleeper


def _lenient(name: str) -> Callable[[], IncrementalDecoder]:
    """A decoder that shows what it cannot read: an accent from a Latin-1 terminal, noise on a serial line."""
    return partial(getincrementaldecoder(name), "replace")
