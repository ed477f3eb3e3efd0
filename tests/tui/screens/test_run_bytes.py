"""Bytes that the page of a run sends to a terminal."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from tests.tui.counting import CountingDriver, bytes_of, sent_by
from tests.tui.pilot import look
from tests.tui.screens.run_services import RUN, make_view, many_cells, sketch_view
from tests.tui.screens.run_stage import Watched, watched
from tuibench.core.activity import Live, RunView
from tuibench.tui.screens.run import screen as run
from tuibench.tui.widgets.painted import Painted

SECONDS = 12


def busy_seconds(cells_from: RunView) -> list[RunView]:
    """Return views that change as much as possible: each second a new cell, number and log line."""
    views = []
    for second in range(SECONDS):
        here = cells_from.cells[second * 7 % len(cells_from.cells)]
        live = Live(here.key, 1 + second % 9, 2, "measuring", 17.1 + second / 7, 0.031 + second / 900, "A")
        lines = tuple(f"12:41:{n:02d}  {here.key} has reached something worth a line" for n in range(second))
        shares = tuple(n % 5 / 10 for n in range(second))
        views.append(
            replace(
                cells_from, live=live, elapsed_s=112.0 + second, eta_s=190.0 - second, log=lines, waiting_shares=shares
            )
        )
    return views


async def second(seen: Watched) -> int:
    """Return the bytes that one poll sends."""
    return await bytes_of(seen.pilot, seen.look)


async def test_run_second_sends_less_than_2_kb() -> None:
    for view in (sketch_view(), make_view(many_cells())):
        async with watched(*busy_seconds(view), headless=False, driver=CountingDriver) as seen:
            sent = [await second(seen) for _ in range(SECONDS - 1)]
            assert 0 < sum(sent) / len(sent) <= 2000, sent


async def test_unchanged_second_and_question_send_little() -> None:
    async with watched(sketch_view(), headless=False, driver=CountingDriver) as seen:
        # unchanged second sends nothing
        assert [await second(seen) for _ in range(3)] == [0, 0, 0]
        # question and answer send one line each
        assert 0 < await bytes_of(seen.pilot, lambda: seen.press("X")) <= 600
        assert 0 < await bytes_of(seen.pilot, lambda: seen.press("escape")) <= 600


async def test_cursor_key_sends_less_than_1500_bytes() -> None:
    for view in (sketch_view(), make_view(many_cells())):
        async with watched(view, headless=False, driver=CountingDriver) as seen:
            for key in ("up", "down", "right", "left", "up"):
                sent = await bytes_of(seen.pilot, lambda pressed=key: seen.press(pressed))  # type: ignore[misc]
                assert 0 <= sent <= 1500, (key, sent)


async def test_run_end_rings_bell_and_sets_title_once() -> None:
    ended = sketch_view(status="finished", saved=True, live=None, eta_s=None)
    async with watched(sketch_view(), headless=False, driver=CountingDriver) as seen:
        seen.services.views = [replace(ended, info=replace(ended.info, state="finished", eta_s=None))]
        sent = await sent_by(seen.pilot, lambda: look(seen.app, seen.pilot))
        title = f"\x1b]0;tuibench: run {RUN[-4:].lower()} finished and saved\x07"
        assert title in sent
        assert sent.replace(title, "").count("\x07") == 1


async def test_run_second_paints_changed_lines_and_reads_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    views = busy_seconds(make_view(many_cells()))
    async with watched(*views, headless=False, driver=CountingDriver) as seen:
        counts = Counter[str]()

        def counted(owner: Any, name: str) -> None:
            real = getattr(owner, name)

            def call(*given: Any, **options: Any) -> Any:
                counts[name] += 1
                return real(*given, **options)

            monkeypatch.setattr(owner, name, call)

        counted(Painted, "render_line")
        for name in ("cell_span", "plan_grid", "varying_axes", "name_cell", "head_words"):
            counted(run, name)
        looks = seen.services.looks
        for _ in range(SECONDS - 1):
            await second(seen)
        assert seen.services.looks - looks == SECONDS - 1
        assert counts["render_line"] / (SECONDS - 1) <= 15, "of 24"
        assert counts["cell_span"] <= 2 * SECONDS, "the cell that is measured and the one that was, of 200"
        assert counts["plan_grid"] == counts["varying_axes"] == counts["name_cell"] == 0
