from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.present import build
from tests.present.build import HOSTILE
from tests.runs.test_side_by_side import cell as timed_cell
from tests.store.build import make_id
from tests.tui.frame import check_frame, rows
from tests.tui.pilot import settle
from tests.tui.screens.run_services import (
    RUN,
    done_cell,
    lost_cell,
    make_broken,
    make_done,
    make_info,
    make_view,
    make_waiting,
    many_cells,
    new_cell,
    sketch_cells,
    sketch_view,
)
from tests.tui.screens.run_stage import watched
from tests.tui.screens.stage import offered
from tests.tui.stub_page import opened_page, stub_routes
from tuibench.core import activity
from tuibench.core.activity import Live
from tuibench.core.errors import StoreError
from tuibench.core.ids import short_id
from tuibench.core.reason import LEGACY_TEXT, error_text, legacy_text
from tuibench.core.stored import Metadata, StoredBenchmark
from tuibench.present.cells import failure_text
from tuibench.present.error.words import hint_words, message_words
from tuibench.present.reason import reason_words
from tuibench.runs.comparison import compare_results
from tuibench.services.exchange import Exchange
from tuibench.services.library import Library
from tuibench.tui.config import Config
from tuibench.tui.screens.project.home import HomeScreen
from tuibench.tui.screens.run.summary import past_words
from tuibench.tui.terminal import Display
from tuibench.tui.widgets.painted import Painted
from tuibench.tui.widgets.status_line import Notice

NAME = short_id(RUN)


# Content


@pytest.mark.parametrize(("name", "ascii_only"), [("80x24", False), ("ascii", True)])
async def test_running_run_matches_golden_frame(name: str, ascii_only: bool) -> None:
    async with watched(sketch_view(), display=Display(ascii_only=ascii_only)) as seen:
        check_frame(seen.app, f"run-{name}")
        assert not ascii_only or seen.text.isascii()


async def test_queued_run_names_lock_owner_and_starts_by_itself() -> None:
    async with watched(make_waiting()) as seen:
        check_frame(seen.app, "run-waiting-80x24")


async def test_preparing_run_names_slow_step() -> None:
    async with watched(make_view((), eta_s=None, limit_s=None)) as seen:
        assert "preparing" in seen.text and "1m52" in seen.text
        await seen.press("enter", "right", "down", "f")
        assert isinstance(seen.app.page, type(seen.page))


async def test_ended_run_shows_end_reason_and_next_actions() -> None:
    async with watched(make_done()) as seen:
        check_frame(seen.app, "run-finished-80x24")


@pytest.mark.parametrize(
    ("factors", "told"), [((1.0,), "1.000 [0.978, 1.022]"), ((1.0, 0.9), " 0.9 to 1 over 2 "), ((), "")]
)
async def test_ended_rerun_shows_comparison(
    factors: tuple[float, ...], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = [timed_cell(cores=cores) for cores in (1, 2)[: max(len(factors), 1)]]
    new = [timed_cell(factor, cores=cores) for factor, cores in zip(factors, (1, 2), strict=False)]
    past = compare_results(build.run(*old, id=make_id(6)), build.run(*(new or [lost_cell(1)]), id=RUN))
    stored = StoredBenchmark(row=None, metadata=Metadata(rerun_of=make_id(6)), result=build.run())  # type: ignore[arg-type]
    monkeypatch.setattr(Library, "get", lambda library, one: stored)
    monkeypatch.setattr(Exchange, "side_by_side", lambda exchange, one, other: past)
    async with watched(sketch_view(), make_done()) as seen:
        assert short_id(make_id(6)) not in seen.text
        await seen.look()
        words = past_words(past, lambda _: "c")
        assert short_id(make_id(6)) in words and told in words and words[:70] in seen.text


async def test_interrupted_run_shows_actions_and_stored_count() -> None:
    async with watched(make_broken()) as seen:
        check_frame(seen.app, "run-interrupted-80x24")


async def test_unstartable_run_shows_reason_without_cells() -> None:
    info = make_info(activity.FAILED, eta_s=None, pid=None)
    view = make_view(
        (), info=info, status="failed", reason=legacy_text("no engine takes it; install one"), saved=False, log=()
    )
    async with watched(view) as seen:
        assert "1m52" in seen.text and reason_words(view.reason) in seen.text
        assert {"d", "o"} & {*offered(seen.app)} == {"d"}


async def test_key_hints_use_user_bindings() -> None:
    async with watched(make_done(), config=Config(keys={"rerun": "f6"})) as seen:
        assert "f6" in seen.text.splitlines()[2] and "f6" in offered(seen.app)


async def test_cell_under_cursor_shows_reason_and_facts_without_polling(monkeypatch: pytest.MonkeyPatch) -> None:
    async with watched(sketch_view()) as seen:
        lost = lost_cell(16, 32)
        await seen.press("G", "right")
        assert seen.page.grid.cursor_key == lost.key
        assert f" failed      {failure_text(lost)}" in seen.text and "kernel" in seen.text
        # enter shows cell before it is stored
        await seen.press("G", "right", "enter")
        assert isinstance(seen.app.screen, Notice) and "batch 32" in seen.text and "kernel" in seen.text
        await seen.press("escape")
        assert seen.page.view is not None
        # unchanged poll reads once and paints nothing
        looks = seen.services.looks
        asked: list[Painted] = []
        with monkeypatch.context() as patch:
            patch.setattr(Painted, "repaint", _noting(asked))
            await seen.look()
        assert seen.services.looks == looks + 1 and asked == []


@pytest.mark.parametrize("count", [1, 200])
async def test_page_handles_any_number_of_cells(count: int) -> None:
    async with watched(make_view(many_cells(count))) as seen:
        check_frame(seen.app, f"run-{count}-80x24")
        await seen.press("G", *["right"] * 5)
        assert seen.page.grid.cursor_key == many_cells(count)[-1].key
        assert ">" in seen.text


async def test_key_f_cycles_through_engines() -> None:
    cells = many_cells()
    async with watched(make_view(cells)) as seen:
        await seen.press("down", "right", "f")
        assert seen.page.grid.cursor_key == cells[26].key, "the first line, the same column"
        await seen.press(*["f"] * 7)
        assert seen.page.grid.cursor_key == cells[1].key


async def test_cell_without_batch_and_shapes_have_own_columns() -> None:
    shapes = [done_cell(c, None, dims={"sequence": n}) for c in (1, 2) for n in (128, 384)]
    async with watched(make_view(shapes)) as seen:
        assert " sequence=128" in seen.text and " sequence=384" in seen.text


@pytest.mark.slow
async def test_hostile_names_are_plain_text_everywhere() -> None:
    view = sketch_view(
        info=make_info(name=HOSTILE, detail=legacy_text(HOSTILE)), names={}, log=(HOSTILE,),
        warnings=(legacy_text(HOSTILE),),
    )  # fmt: skip
    lost = lost_cell(1, engine=HOSTILE, dims={HOSTILE: 3})
    assert lost.failure is not None
    lost = replace(lost, failure=replace(lost.failure, message=error_text(HOSTILE * 20), log_tail=HOSTILE))
    other = lost_cell(2, engine=HOSTILE, dims={"x": 3})
    views = [
        view,
        make_view([lost, other]),
        make_broken(reason=legacy_text(HOSTILE)),
        make_view((), status="failed", reason=legacy_text(HOSTILE)),
    ]
    for each in views:
        for size in ((80, 24), (120, 36)):
            async with watched(each, size=size, log=(HOSTILE,)) as seen:
                for key in ("down", "enter", "escape", "L", "escape", "o", "escape"):
                    await seen.press(key)
                    assert not set(seen.text) & {"\x1b", "\u202e", "\udcff", "\x07"}


@pytest.mark.parametrize("size", [(20, 5), (20, 8), (40, 12), (60, 16), (80, 14), (1, 1), (300, 80)])
async def test_any_terminal_size_shows_selected_cell(size: tuple[int, int]) -> None:
    async with watched(sketch_view(), size=size) as seen:
        await seen.press("down", "right", "up")
        assert size[0] < 20 or ">" in seen.text


async def test_active_run_survives_shrink_to_20x5_and_back() -> None:
    views = [sketch_view(elapsed_s=110.0 + n) for n in range(8)]
    async with watched(*views) as seen:
        before = seen.text
        await seen.pilot.resize_terminal(20, 5)
        await seen.look()
        small = rows(seen.app)
        assert len(small) == 5 and "9/15" in seen.text and ">" in seen.text
        await seen.pilot.resize_terminal(80, 24)
        await seen.look()
        assert seen.text.splitlines()[3:-8] == before.splitlines()[3:-8]


# The cursor


async def test_cursor_follows_measured_cell_until_moved() -> None:
    cells = sketch_cells()
    at = [next(c for c in cells if (c.asked.cores, c.asked.batch) == where) for where in ((2, 32), (4, 32), (8, 32))]
    views = [sketch_view(live=Live(cell.key, 2, 2, "measuring", 1.0, None, None)) for cell in at]
    async with watched(*views) as seen:
        assert seen.page.grid.cursor_key == at[0].key
        await seen.look()
        assert seen.page.grid.cursor_key == at[1].key
        await seen.press("up")
        await seen.look()
        assert seen.page.grid.cursor_key == at[0].key, "where the user put it"
        now = next(row for row in rows(seen.app) if row.startswith(" now"))
        assert [int(n) for n in re.findall(r"\d+", now)[:4]] == [8, 32, 2, 5], "what is measured is said all the same"


async def test_open_cell_data_grows_and_is_dropped_on_close() -> None:
    views = [make_view([new_cell(1), new_cell(2)]), make_view([done_cell(1), new_cell(2)])]
    async with watched(*views, make_view([lost_cell(1), done_cell(2)])) as seen:
        await seen.press("enter")
        before = seen.text.rpartition("esc back")[2]
        assert "nothing" in before and "Latency" not in before
        await seen.look()
        text = seen.text.rpartition("esc back")[2]
        assert "nothing" not in text and "Latency" in text
        await seen.press("escape")
        await seen.look()
        await seen.press("enter")
        assert "kernel" in seen.text.rpartition("esc back")[2]


async def test_enter_on_finished_run_opens_same_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "detail")
    async with watched(make_done()) as seen:
        await seen.press("down", "down", "right", "enter")
        cell = next(c for c in sketch_cells() if (c.asked.cores, c.asked.batch) == (4, 8))
        assert opened_page(seen.app) == ("detail", (RUN,), {"cell": cell.key})
        seen.app.go_back()
        await settle(seen.pilot)
        assert isinstance(seen.app.page, HomeScreen), "the page of a run that is done is not come back to"


# Polling


def _noting(asked: list[Painted]) -> Callable[[Painted], None]:
    def note(widget: Painted) -> None:
        asked.append(widget)

    return note


async def test_polling_ends_after_run_is_saved() -> None:
    async with watched(sketch_view(), make_broken(), make_broken(), make_done()) as seen:
        for _ in range(6):
            await seen.look()
        assert seen.services.looks == 4
        assert "r" in offered(seen.app)


async def test_run_resumed_elsewhere_is_followed_again() -> None:
    async with watched(make_broken(), sketch_view()) as seen:
        assert "o" in offered(seen.app)
        await seen.look()
        assert "o" not in offered(seen.app) and "▶ running" in seen.text


async def test_hidden_page_does_not_poll() -> None:
    async with watched(sketch_view(), sketch_view(elapsed_s=113.0), sketch_view(elapsed_s=120.0)) as seen:
        page = seen.page
        seen.app.action_system()
        await settle(seen.pilot)
        looks = seen.services.looks
        page.load()
        await settle(seen.pilot)
        assert seen.services.looks == looks
        await seen.press("escape")
        assert seen.app.page is page and "1m53" in seen.text, "who comes back sees the present"


async def test_unreadable_run_is_reported_and_retried() -> None:
    lost = StoreError(LEGACY_TEXT, text="the journal is gone", hint="look for it")
    async with watched(lost, sketch_view()) as seen:
        assert message_words(lost) in seen.text and hint_words(lost) in seen.text
        await seen.look()
        assert message_words(lost) not in seen.text and "p50" in seen.text
