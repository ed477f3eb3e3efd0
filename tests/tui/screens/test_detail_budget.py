"""Bytes that keys on a benchmark's screen send to a terminal on a slow connection."""

from __future__ import annotations

from functools import partial

from tests.tui.counting import CountingDriver, bytes_of
from tests.tui.sample_data import sweep
from tests.tui.screens.detail_stage import detail

KEY, TAB = 1_500, 6_000
OLD, BOTH = sweep(2, 7200), sweep(1, 3600, engines=("onnxruntime", "openvino"), faster=1.06)


async def test_cursor_and_selectors_of_figures_send_little() -> None:
    async with detail(BOTH, tab="cores", driver=CountingDriver) as seen:
        # an unchanged poll sends nothing
        await bytes_of(seen.pilot, seen.app.poll)
        assert await bytes_of(seen.pilot, seen.app.poll) == 0
        assert await bytes_of(seen.pilot, seen.page.load) == 0
        # the cursor sends its lines
        for tab in "32":
            await seen.press(tab)
            sent = [await bytes_of(seen.pilot, partial(seen.press, key)) for key in ("down", "down", "up")]
            assert 0 < max(sent) <= KEY, sent
        # a selector sends at most one page
        sent = [await bytes_of(seen.pilot, partial(seen.press, key)) for key in ("m", "t", "f", "right", "w")]
        assert 0 < max(sent) <= TAB, sent


async def test_tab_change_sends_at_most_one_page() -> None:
    async with detail(BOTH, OLD, rerun_of=OLD.id, driver=CountingDriver) as seen:
        sent = {key: await bytes_of(seen.pilot, partial(seen.press, key)) for key in "2356721"}
        print(sent)
        assert 0 < max(sent.values()) <= TAB, sent
