"""Slow control requests: the user learns each outcome, whatever page is open by then."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.shell import PATIENCE_S
from tests.tui.frame import frame
from tests.tui.idle import all_handled
from tests.tui.pilot import press, replace_methods, send_key, settle, status_of
from tests.tui.screens.stage import Shown, shown
from tests.tui.stub_page import opened_page, stub_routes
from tuibench.core.errors import StoreBusy
from tuibench.core.ids import short_id
from tuibench.core.reason import LEGACY_TEXT
from tuibench.core.stored import Removal
from tuibench.present.error.words import message_words
from tuibench.services.api import Services
from tuibench.services.form_values import RerunPlan
from tuibench.tui.screens.base import Page
from tuibench.tui.screens.detail.screen import DetailScreen
from tuibench.tui.screens.project.home import HomeScreen
from tuibench.tui.screens.project.screen import ProjectScreen
from tuibench.tui.screens.trash import TrashScreen


class Slow:
    """One query to the services, answered when the test says so."""

    def __init__(self, seen: Shown, name: str, answer: Callable[..., Any] | Exception | None = None) -> None:
        self._go_on = threading.Event()
        self._seen = seen
        part, method = name.split("__")
        self._answer = answer or getattr(getattr(seen.app.services, part), method)
        replace_methods(seen.app.services, **{name: self})

    def __call__(self, *given: Any, **options: Any) -> Any:
        self._go_on.wait(PATIENCE_S)
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer(*given, **options)

    async def end(self) -> None:
        self._go_on.set()
        await settle(self._seen.pilot)


async def type_at(seen: Shown, *keys: str) -> None:
    """Press keys, each after the dashboard has done all that needs no answer."""
    for key in keys:
        send_key(seen.app, key)
        await all_handled()


def shown_page(seen: Shown) -> type[Page]:
    return type(seen.app.page)


def stored(seen: Shown) -> set[str]:
    return {row.id for row in seen.services.store.benchmarks.rows()}


async def test_refusal_is_reported_on_page_shown_at_that_time() -> None:
    error = StoreBusy(LEGACY_TEXT, text="the store is busy")
    async with shown() as seen:
        # refused removal is reported after newer request
        slow = Slow(seen, "library__remove", error)
        await type_at(seen, "d", "y")
        assert f"removing {short_id(seen.ids[0])} ..." in frame(seen.app), "a store that is held takes its time"
        replace_methods(seen.app.services, library__remove=lambda *_, **__: Removal(None))
        await type_at(seen, "down", "d", "y")
        await slow.end()
        assert seen.status.kind == "bad" and seen.status.said.endswith(f": {message_words(error)}")
        await seen.press("up")
        assert "busy" not in frame(seen.app)
        # refusal is reported on page shown at that time
        slow = Slow(seen, "library__remove", error)
        await type_at(seen, "d", "y", "q")
        await slow.end()
        assert isinstance(seen.app.page, HomeScreen) and message_words(error) in status_of(seen.app).said


async def test_closed_page_gets_no_success_message() -> None:
    async with shown() as seen:
        slow = Slow(seen, "library__remove")
        await type_at(seen, "d", "y", "q")
        await slow.end()
        assert isinstance(seen.app.page, HomeScreen) and seen.ids[0] not in stored(seen)


async def test_removal_precedes_undo_and_closes_only_its_page() -> None:
    async with shown() as seen:
        # key u right after d waits for removal
        seen.services.library.remove([seen.ids[3]])
        slow = Slow(seen, "library__remove")
        await type_at(seen, "d", "y", "u")
        await slow.end()
        assert seen.ids[0] in stored(seen) and seen.ids[3] not in stored(seen)
        assert f"restored {short_id(seen.ids[0])}" in frame(seen.app)
        # removed record closes only its own page
        await seen.press("enter")
        opened = seen.app.page
        assert isinstance(opened, DetailScreen)
        slow = Slow(seen, "library__remove")
        await type_at(seen, "d", "y", "f3")
        await slow.end()
        assert shown_page(seen) is TrashScreen and short_id(opened.benchmark) in status_of(seen.app).said
        await seen.press("escape")
        assert shown_page(seen) is ProjectScreen
        assert not any(isinstance(one, DetailScreen) for one in seen.app.screen_stack)


async def test_key_u_restores_own_removals_only_once() -> None:
    async with shown() as seen:
        # key u restores own removal before others
        await seen.press("d", "y")
        Services().library.remove([seen.ids[3]])
        await seen.press("u")
        assert seen.ids[0] in stored(seen) and seen.ids[3] not in stored(seen)
        await seen.press("u")
        assert seen.ids[3] in stored(seen)
        # key u skips removal restored by others
        await seen.press("d", "y", "down", "d", "y")
        first, second = (one for one in seen.ids if one not in stored(seen))
        Services().library.restore(second)
        await seen.press("u")
        assert {first, second} <= stored(seen)


async def test_started_run_leaves_keys_to_open_dialog(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "run")
    async with shown() as seen:
        replace_methods(seen.app.services, reruns__plan=lambda benchmark: RerunPlan(benchmark, 1, 1.0, ""))
        slow = Slow(seen, "reruns__start", lambda *_, **__: ("01RUN", ()))
        await seen.press("r")
        await type_at(seen, "y")
        seen.app.action_palette()
        await all_handled()
        await slow.end()
        dialog = seen.app.screen
        assert dialog.is_modal
        await press(seen.pilot, "escape")
        assert opened_page(seen.app) == ("run", ("01RUN",), {})
