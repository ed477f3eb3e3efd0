"""Counts what the dashboard would send to a terminal, without one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from textual.app import App
from textual.driver import Driver
from textual.drivers.headless_driver import HeadlessDriver
from textual.pilot import Pilot

from tests.tui.rest import settle


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
