"""Bytes that keys on a benchmark's screen send to a terminal on a slow connection."""

from __future__ import annotations

from functools import partial

import pytest

from tests.tui.counting import CountingDriver, bytes_of
from tests.tui.screens.detail_stage import detail
from tests.tui.stock import sweep

KEY, TAB = 1_500, 6_000
OLD, BOTH = sweep(2, 7200), sweep(1, 3600, engines=("onnxruntime", "openvino"), faster=1.06)


@pytest.mark.parametrize("tab", ["cores", "batches"])
async def test_figure_cursor_sends_little(tab: str) -> None:
    async with detail(BOTH, tab=tab, driver=CountingDriver) as seen:
        sent = [await bytes_of(seen.pilot, partial(seen.press, key)) for key in ("down", "down", "up")]
        assert 0 < max(sent) <= KEY, sent


async def test_tab_change_sends_at_most_one_page() -> None:
    async with detail(BOTH, OLD, rerun_of=OLD.id, driver=CountingDriver) as seen:
        sent = {key: await bytes_of(seen.pilot, partial(seen.press, key)) for key in "2356721"}
        print(sent)
        assert 0 < max(sent.values()) <= TAB, sent


async def test_selector_change_sends_at_most_one_page() -> None:
    async with detail(BOTH, tab="cores", driver=CountingDriver) as seen:
        keys = ("m", "t", "f", "right", "w")
        sent = {key: await bytes_of(seen.pilot, partial(seen.press, key)) for key in keys}
        print(sent)
        assert 0 < max(sent.values()) <= TAB, sent


async def test_unchanged_poll_sends_nothing() -> None:
    async with detail(BOTH, tab="cores", driver=CountingDriver) as seen:
        await bytes_of(seen.pilot, seen.app.poll)
        assert await bytes_of(seen.pilot, seen.app.poll) == 0
        assert await bytes_of(seen.pilot, seen.page.load) == 0
