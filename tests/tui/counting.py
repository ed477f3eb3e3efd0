"""Counts what the dashboard would send to a terminal, without one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from textual.app import App
from textual.driver import Driver
from textual.drivers.headless_driver import HeadlessDriver
from textual.message_pump import MessagePump
from textual.pilot import Pilot
from textual.widget import Widget


class CountingDriver(HeadlessDriver):
    """Takes what is written and keeps it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.written: list[str] = []

    @property
    def is_headless(self) -> bool:
        """Textual draws nothing for a driver that is."""
        return False

    def write(self, data: str) -> None:
        """Keep it."""
        self.written.append(data)

    def take(self) -> str:
        """What was written since the last look."""
        data = "".join(self.written)
        self.written.clear()
        return data


def counter_of(app: App[Any]) -> CountingDriver:
    """The driver of an app that was started with it."""
    driver: Driver | None = app._driver  # Textual keeps it to itself
    assert isinstance(driver, CountingDriver)
    return driver


async def sent_by(pilot: Pilot[Any], action: Callable[[], object]) -> str:
    """What is written because of `action`, to the last repaint that follows from it."""
    await settle(pilot)
    counter_of(pilot.app).take()
    result = action()
    if isinstance(result, Awaitable):
        await result
    await settle(pilot)
    return counter_of(pilot.app).take()


async def bytes_of(pilot: Pilot[Any], action: Callable[[], object]) -> int:
    """How many bytes that is."""
    return len((await sent_by(pilot, action)).encode())


async def settle(pilot: Pilot[Any]) -> None:
    """Until all messages are handled and what is dirty is painted, however many rounds that takes."""
    calm = 0
    for _ in range(100):
        await _handled(pilot.app)
        await _handled(pilot.app.screen)
        await pilot.pause(0)
        screen = pilot.app.screen
        # What a widget asks for reaches its screen a little later.
        widgets = [one for one in screen.walk_children(with_self=True) if isinstance(one, Widget)]
        asked = any(one._layout_required or one._repaint_required for one in widgets)
        dirty = asked or screen._dirty_widgets or screen._callbacks
        calm = 0 if dirty or pilot.app.animator._animations or pilot.app.animator._scheduled else calm + 1
        # What was handled in one round can have asked for something that only the next one sees.
        if calm == 3:
            return
    raise AssertionError("the screen never came to rest")


async def _handled(pump: MessagePump) -> None:
    """Until what waits in a queue now is done."""
    reached = asyncio.Event()
    pump.call_later(reached.set)
    await reached.wait()
