"""Keys sent in one packet have the same effect as keys typed one by one."""

from __future__ import annotations

import threading
from typing import Any

from textual.screen import Screen

from tests.cli.shell import PATIENCE_S
from tests.tui.frame import frame
from tests.tui.idle import all_handled, until
from tests.tui.pilot import replace_methods, send_key, settle
from tests.tui.screens.stage import Shown, shown
from tuibench.core.errors import StoreBusy
from tuibench.core.reason import LEGACY_TEXT
from tuibench.tui import textual_seam
from tuibench.tui.screens.detail.screen import DetailScreen
from tuibench.tui.screens.project.home import HomeScreen
from tuibench.tui.screens.project.screen import ProjectScreen


def burst(seen: Shown, *keys: str) -> None:
    for key in keys:
        send_key(seen.app, key)


def slow(seen: Shown, go_on: threading.Event, error: Exception | None = None) -> None:
    """Install a store that lists its benchmarks slowly."""
    real = seen.app.services.library.list

    def benchmarks(*given: Any) -> Any:
        go_on.wait(PATIENCE_S)
        if error is not None:
            raise error
        return real(*given)

    replace_methods(seen.app.services, library__list=benchmarks)


async def test_name_typed_right_after_e_reaches_name_field() -> None:
    async with shown() as seen:
        burst(seen, "e", *"dynamic", "enter", "enter")
        await settle(seen.pilot)
        assert isinstance(seen.app.screen, ProjectScreen) and len(seen.keys) == len(seen.ids)
        rows = {row.id: row.name for row in seen.services.store.benchmarks.rows()}
        assert rows[seen.ids[0]] == "dynamic"


async def test_typed_keys_wait_for_slow_store_and_drop_on_refusal() -> None:
    async with shown() as seen:
        go_on = threading.Event()
        slow(seen, go_on, StoreBusy(LEGACY_TEXT, text="the store is busy"))
        burst(seen, "e", *"dy")
        await all_handled()
        assert isinstance(seen.app.screen, ProjectScreen) and not seen.app.key_queue.is_idle
        go_on.set()
        await settle(seen.pilot)
        assert seen.keys[0] == seen.ids[0] and len(seen.keys) == len(seen.ids)
        assert "busy" in frame(seen.app) and seen.app.key_queue.is_idle


async def test_escape_cancels_wait() -> None:
    async with shown() as seen:
        go_on = threading.Event()
        slow(seen, go_on)
        burst(seen, "e", *"dy")
        await all_handled()
        assert not seen.app.key_queue.is_idle
        burst(seen, "escape")
        await until(lambda: seen.app.key_queue.is_idle)
        go_on.set()
        await settle(seen.pilot)
        assert isinstance(seen.app.screen, HomeScreen) and len(seen.services.store.benchmarks.rows()) == len(seen.ids)


async def test_missing_answer_blocks_typing_only_for_limited_time(monkeypatch: Any) -> None:
    monkeypatch.setattr(textual_seam, "HOLD_S", 0.0)
    async with shown() as seen:
        go_on = threading.Event()
        slow(seen, go_on)
        burst(seen, "e", "d", "y")
        await until(lambda: seen.app.key_queue.is_idle)
        burst(seen, "down")
        await until(lambda: seen.cursor == seen.ids[1])
        go_on.set()
        await settle(seen.pilot)
        assert len(seen.keys) == len(seen.ids)


async def test_keys_for_list_wait_until_list_is_ready() -> None:
    async with shown() as seen:
        await seen.press("escape")
        go_on = threading.Event()
        slow(seen, go_on)
        burst(seen, "enter", "down", "enter")
        await until(lambda: isinstance(seen.app.screen, ProjectScreen))
        assert not seen.app.key_queue.is_idle
        go_on.set()
        await settle(seen.pilot)
        page: Screen[Any] = seen.app.screen
        assert isinstance(page, DetailScreen) and page.benchmark == seen.ids[1]
