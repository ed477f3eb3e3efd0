"""Counts the bytes that the dashboard would send to a terminal, without a terminal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from textual.app import App
from textual.driver import Driver
from textual.drivers.headless_driver import HeadlessDriver
from textual.pilot import Pilot

from tests.tui.idle import settle


class CountingDriver(HeadlessDriver):
    """A driver that keeps what the app writes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.written: list[str] = []

    @property
    def is_headless(self) -> bool:
        """Return False: Textual draws nothing for a headless driver."""
        return False

    def write(self, data: str) -> None:
        """Store the text."""
        self.written.append(data)

    def take(self) -> str:
        """Return what was written since the last call."""
        data = "".join(self.written)
        self.written.clear()
        return data


def counter_of(app: App[Any]) -> CountingDriver:
    """Return the counting driver of an app that was started with it."""
    driver: Driver | None = app._driver  # Textual exposes the driver only as a private attribute.
    assert isinstance(driver, CountingDriver)
    return driver


async def sent_by(pilot: Pilot[Any], action: Callable[[], object]) -> str:
    """Return what `action` causes to be written, up to the last repaint."""
    await settle(pilot)
    counter_of(pilot.app).take()
    result = action()
    if isinstance(result, Awaitable):
        await result
    await settle(pilot)
    return counter_of(pilot.app).take()


async def bytes_of(pilot: Pilot[Any], action: Callable[[], object]) -> int:
    """Return the number of bytes that `action` sends."""
    return len((await sent_by(pilot, action)).encode())
