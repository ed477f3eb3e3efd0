"""When a dashboard has come to rest: nothing is left to be handled, answered, laid out or painted."""

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
    """Until every question to the desk is answered and what came of it is on the screen.

    It waits for no timer but that of what moves: what is to be painted is painted as soon as nothing else is to be
    done. Textual's own pause has every widget handle a message of the test's, and then waits for an idle processor.
    """
    app = pilot.app
    for _ in range(_ROUNDS):
        await all_handled()
        if app._exception is not None or not app.screen_stack:
            return  # the app broke, and raises that itself, or has ended
        going = [worker for worker in app.workers if not worker.is_finished]
        typed: Any = getattr(app, "typed", None)  # of ours alone
        typing = typed is not None and not typed.at_rest
        moving = bool(app.animator._animations) or bool(app.animator._scheduled)
        dirty = _left_dirty(app.screen)
        # Nothing is left to be handled, so nothing can have come since the first of these was asked.
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
    """Until whatever can go on without a timer or a thread has done so: all queues are empty then."""
    ready: Sized = asyncio.get_running_loop()._ready  # type: ignore[attr-defined]
    for _ in range(_TURNS):
        # Twice, as the first turn looks for what came from outside.
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        if not ready:
            return
    raise AssertionError("there is always something to be handled")


async def until(holds: Callable[[], bool]) -> None:
    """Until something holds, whether the desk has answered all questions by then or not."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _PATIENCE_S
    while loop.time() < deadline:
        await all_handled()
        if holds():
            return
        await asyncio.sleep(_NEXT_KEY_S)
    raise AssertionError("it never came to that")


async def _end_of(worker: Worker[Any]) -> None:
    # A question that a newer one made void is done with, too; what broke is raised by the app at its end.
    with suppress(WorkerFailed, WorkerCancelled):
        await worker.wait()


def _left_dirty(screen: Screen[Any]) -> list[Widget]:
    """Who still has to be laid out or painted: what a widget asks for reaches its screen a little later."""
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
    """What the screen does a sixtieth of a second later, and what widgets do once they are next told of something."""
    for widget in dirty:
        widget.check_idle()
    await all_handled()
    if app.screen_stack:
        app.screen._on_timer_update()
