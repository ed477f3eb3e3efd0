"""An app that shows nothing but the widgets of a test."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget

from tests.tui.counting import CountingDriver, settle
from tuibench.tui.widgets.calm import Calm

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


class Floor(Calm, Screen[None]):
    """The screen below the widgets; keys that no widget takes are written down."""

    AUTO_FOCUS = None
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


class Stage(App[None]):
    """Takes the widgets; what they post is in `told`."""

    CSS = ".rest { height: 1fr; }"
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, *widgets: Widget, ascii_only: bool = False, theme: str = "ansi-dark") -> None:
        super().__init__(driver_class=CountingDriver)
        self.floor = Floor(widgets)
        self.ascii_only = ascii_only
        self.animation_level = "none"
        self.theme = theme
        self.told: list[Message] = []

    def get_default_screen(self) -> Screen[None]:
        return self.floor

    def hear(self, message: Message) -> None:
        """Keep what our widgets say."""
        if type(message).__module__.startswith("tuibench.") and message not in self.told:
            self.told.append(message)


def play(stage: Stage, scene: Callable[[Pilot[None]], Awaitable[None]], size: tuple[int, int] = (80, 24)) -> None:
    """Run the app, and the scene in it once everything is painted."""

    async def run() -> None:
        async with stage.run_test(size=size, headless=False, message_hook=stage.hear) as pilot:
            await settle(pilot)
            await scene(pilot)

    asyncio.run(run())
