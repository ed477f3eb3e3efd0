"""Opens the dashboard for tests, on a store in the test's home or on scripted services."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual import events
from textual.app import App
from textual.keys import REPLACED_KEYS, _character_to_key, _get_unicode_name_from_key
from textual.pilot import Pilot

from tests.store.build import NOW
from tests.tui.idle import settle
from tuibench.core.errors import TuibenchError
from tuibench.services.api import Services
from tuibench.services.state_file import StateFile
from tuibench.tui.app import Dashboard, Opening
from tuibench.tui.config import Config
from tuibench.tui.start import STATE
from tuibench.tui.terminal import Display
from tuibench.tui.widgets.status_line import StatusLine

_ROUNDS = 2000
_PAINT_S = 0.002


def replace_methods(services: Services, **answers: Any) -> Services:
    """Replace methods of the services' parts: `forms__start=...` replaces `services.forms.start`."""
    for name, method in answers.items():
        part, _, last = name.rpartition("__")
        setattr(getattr(services, part) if part else services, last, method)
    return services


@asynccontextmanager
async def open_app(
    size: tuple[int, int] = (80, 24),
    *,
    services: Services | None = None,
    display: Display | None = None,
    config: Config | None = None,
    path: str = "",
    now: Callable[[], float] = lambda: NOW,
    headless: bool = True,
    driver: type[Any] | None = None,
    forgiving: bool = False,
) -> AsyncIterator[tuple[Dashboard, Pilot[int]]]:
    """Open a dashboard and wait until its first screen is idle; the clock is frozen unless `now` is given.

    An error other than TuibenchError ends it, unless `forgiving` reports it as for users.
    """
    services = services or Services()
    state = StateFile(Path(services.settings.places.state) / STATE)
    opening = Opening(path)
    app = Dashboard(services, display or Display(), config or Config(), state, opening, now)
    if not forgiving:
        app.known_error = _only_ours  # type: ignore[method-assign]
    if driver is not None:
        app.driver_class = driver
    async with app.run_test(headless=headless, size=size) as pilot:
        await settle(pilot)
        yield app, pilot


def _only_ours(error: Exception) -> TuibenchError:
    if isinstance(error, TuibenchError):
        return error
    raise error


async def until_seen(pilot: Pilot[Any], seen: Callable[[], bool]) -> None:
    """Wait for something that Textual shows one repaint after the request."""
    for _ in range(_ROUNDS):
        if seen():
            return
        await asyncio.sleep(_PAINT_S)
        await settle(pilot)
    raise AssertionError("never seen")


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Press keys, each after the effect of the one before it has finished."""
    for key in keys:
        send_key(pilot.app, key)
        await settle(pilot)


async def type_text(pilot: Pilot[Any], text: str) -> None:
    """Type a text into the focused widget, without waiting between keys."""
    for char in text:
        send_key(pilot.app, char)
    await settle(pilot)


def send_key(app: App[Any], key: str) -> None:
    """Send one key as a terminal does."""
    name = _character_to_key(key) if len(key) == 1 and not key.isalnum() else key
    original = REPLACED_KEYS.get(name, name)
    char: str | None
    try:
        char = unicodedata.lookup(_get_unicode_name_from_key(original))
    except KeyError:
        char = name if len(name) == 1 else None
    event = events.Key(name, char)
    event.set_sender(app)
    assert app._driver is not None
    app._driver.send_message(event)


def status_of(app: Dashboard) -> StatusLine:
    """Return the status line of the open page."""
    return app.page.query_one("#news", StatusLine)


async def look(app: Dashboard, pilot: Pilot[Any]) -> None:
    """Poll once now, as the dashboard does every second."""
    app.poll()
    await settle(pilot)


__all__ = ["look", "open_app", "press", "replace_methods", "send_key", "settle", "status_of", "type_text", "until_seen"]
