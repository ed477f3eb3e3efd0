"""An app that shows only the widgets of a test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import ClassVar, TypeVar

from textual import events
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget

from tests.tui.counting import CountingDriver, counter_of
from tests.tui.frame import frame
from tests.tui.idle import settle
from tuibench.tui.widgets.painted import QuietScreen

_CHARACTERS = {"space": " ", "full_stop": "."}
M = TypeVar("M", bound=Message)
HOSTILE = (
    "\x1b[99;99Hcursor",
    "\x1b]0;title\x07",
    "c1 \x9b31m \x85",
    "bidi \u202eevil\u2066",
    "[bold]markup[/bold] [@click=app.bell]click[/]",
    "tab\tnew\nline\rback",
    "lone \udcff surrogate",
    "zero\u200bwidth\ufeff",
    "漢字かな交じり文" * 4,
    "emoji 👩‍👩‍👧‍👦 ✌️ 🇩🇪 e\u0301",
    "x" * 1000,
    "",
)
"""Names that real models and notes could carry."""


class Floor(Screen[None]):
    """The screen below the widgets; it records keys that no widget takes."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        (key, f"note('{key}')") for key in ("enter", "left", "right", "escape", "y", "q", "d", "space", "up", "down")
    ]

    def __init__(self, widgets: tuple[Widget, ...]) -> None:
        super().__init__()
        self.widgets = widgets
        self.passed: list[str] = []

    def compose(self) -> ComposeResult:
        yield from self.widgets

    def action_note(self, key: str) -> None:
        self.passed.append(key)


class QuietFloor(QuietScreen, Floor):
    """A quiet screen, as the dashboard's screens are."""


class Stage(App[None]):
    """An app with the given widgets; `told` has the messages they post."""

    CSS = ".rest { height: 1fr; }"
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self, *widgets: Widget, ascii_only: bool = False, theme: str = "ansi-dark", floor: type[Floor] = QuietFloor
    ) -> None:
        super().__init__(driver_class=CountingDriver)
        self.floor = floor(widgets)
        self.ascii_only = ascii_only
        self.colour = not self.no_color
        self.animation_level = "none"
        self.theme = theme
        self.told: list[Message] = []

    def get_default_screen(self) -> Screen[None]:
        return self.floor

    def hear(self, message: Message) -> None:
        """Record a message of a widget."""
        if type(message).__module__.startswith("tuibench.") and message not in self.told:
            self.told.append(message)


@asynccontextmanager
async def staged(
    *widgets: Widget,
    size: tuple[int, int] = (80, 24),
    ascii_only: bool = False,
    theme: str = "ansi-dark",
    floor: type[Floor] = QuietFloor,
) -> AsyncIterator[tuple[Stage, Pilot[None]]]:
    """Start the app and wait until everything is painted."""
    stage = Stage(*widgets, ascii_only=ascii_only, theme=theme, floor=floor)
    async with stage.run_test(size=size, headless=False, message_hook=stage.hear) as pilot:
        await settle(pilot)
        yield stage, pilot


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys, each after the one before it is painted; the pilot's own method sleeps for each."""
    for key in keys:
        event = events.Key(key, key if len(key) == 1 else _CHARACTERS.get(key))
        event.set_sender(pilot.app)
        counter_of(pilot.app).send_message(event)
        await settle(pilot)


async def resize(pilot: Pilot[None], width: int, height: int) -> None:
    """Resize the terminal."""
    await pilot.resize_terminal(width, height)
    await settle(pilot)


def seen(stage: Stage) -> list[str]:
    """Return the lines on the screen without empty ones at the end."""
    return frame(stage).rstrip("\n").split("\n")


def told(stage: Stage, kind: type[M]) -> list[M]:
    """Return the posted messages of one kind, in order."""
    return [message for message in stage.told if isinstance(message, kind)]
