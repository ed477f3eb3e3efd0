"""Waits until a dashboard is idle: no message, query, layout or repaint is pending."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sized
from contextlib import suppress
from typing import Any

from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget
from textual.worker import Worker, WorkerCancelled, WorkerFailed

_ROUNDS = 2000
_TURNS = 100_000
_NEXT_KEY_S = 0.002
_PATIENCE_S = 30.0
"""For what a busy machine may take its time over, such as a process that reads a model."""


async def settle(pilot: Pilot[Any]) -> None:
    """Wait until every query to the services is answered and its effects are on the screen.

    It waits for no timer except that of animations: repaints happen as soon as no other work is pending.
    Textual's own pause sends a message to every widget and then waits for an idle CPU.
    """
    app = pilot.app
    for _ in range(_ROUNDS):
        await all_handled()
        if app._exception is not None or not app.screen_stack:
            return  # the app failed and raises the error itself, or has ended
        going = [worker for worker in app.workers if not worker.is_finished]
        typed: Any = getattr(app, "key_queue", None)  # only timers of this dashboard
        typing = typed is not None and not typed.is_idle
        moving = bool(app.animator._animations) or bool(app.animator._scheduled)
        dirty = _left_dirty(app.screen)
        # All queues are empty, so nothing can have arrived since the first of these checks.
        if not (going or typing or moving or dirty):
            return
        for worker in going:
            await _end_of(worker)
        if dirty:
            await _paint(app, dirty)
        elif (typing or moving) and not going:
            await asyncio.sleep(_NEXT_KEY_S)
    raise AssertionError("the dashboard never came to rest")


async def all_handled() -> None:
    """Wait until all queues are empty and only timers or threads can continue."""
    ready: Sized = asyncio.get_running_loop()._ready  # type: ignore[attr-defined]
    for _ in range(_TURNS):
        # Twice: the first turn only collects outside events.
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        if not ready:
            return
    raise AssertionError("there is always something to be handled")


async def until(holds: Callable[[], bool]) -> None:
    """Wait until the condition holds, even if queries to the services are still pending."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _PATIENCE_S
    while loop.time() < deadline:
        await all_handled()
        if holds():
            return
        await asyncio.sleep(_NEXT_KEY_S)
    raise AssertionError("it never came to that")


async def _end_of(worker: Worker[Any]) -> None:
    # A query replaced by a newer one counts as finished. The app raises the errors of queries when it ends.
    with suppress(WorkerFailed, WorkerCancelled):
        await worker.wait()


def _left_dirty(screen: Screen[Any]) -> list[Widget]:
    """Return the widgets that still need layout or repaint: their requests reach the screen later."""
    dirty = [
        one
        for one in screen.walk_children(Widget, with_self=True)
        if one._layout_required
        or one._repaint_required
        or one._scroll_required
        or one._refresh_styles_required
        or one._recompose_required
    ]
    return dirty or ([screen] if screen._dirty_widgets or screen._callbacks else [])


async def _paint(app: App[Any], dirty: list[Widget]) -> None:
    """Repaint now, as the screen does 1/60 s later, and notify the widgets."""
    for widget in dirty:
        widget.check_idle()
    await all_handled()
    if app.screen_stack:
        app.screen._on_timer_update()
