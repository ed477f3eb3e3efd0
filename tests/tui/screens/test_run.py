from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.present import build
from tests.present.build import HOSTILE
from tests.runs.test_side_by_side import cell as timed_cell
from tests.store.build import make_id
from tests.tui.frame import check_frame, rows
from tests.tui.landing import land, landed
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
from tuibench.core import activity
from tuibench.core.activity import Live
from tuibench.core.errors import StoreError
from tuibench.core.ids import short_id
from tuibench.core.reason import told
from tuibench.core.stored import Metadata, StoredBenchmark
from tuibench.runs.comparison import compare_results
from tuibench.services.exchange import Exchange
from tuibench.services.library import Library
from tuibench.tui.config import Config
from tuibench.tui.screens.project.home import HomeScreen
from tuibench.tui.terminal import Display
from tuibench.tui.widgets.painted import Painted

NAME = short_id(RUN)


# Content


@pytest.mark.parametrize(("name", "ascii_only"), [("80x24", False), ("ascii", True)])
async def test_running_run_matches_kept_frame(name: str, ascii_only: bool) -> None:
    async with watched(sketch_view(), display=Display(ascii_only=ascii_only)) as seen:
        check_frame(seen.app, f"run-{name}")
        assert not ascii_only or seen.text.isascii()


async def test_queued_run_names_lock_owner_and_starts_by_itself() -> None:
    async with watched(make_waiting()) as seen:
        check_frame(seen.app, "run-waiting-80x24")
        assert "position 2" in seen.text and f"pid 4242 of ann, run {short_id(make_id(9))}, ~3m10 left" in seen.text


async def test_preparing_run_names_slow_step() -> None:
    async with watched(make_view((), eta_s=None, limit_s=None)) as seen:
        assert "preparing: reading the model" in seen.text and "so far" in seen.text
        await seen.press("enter", "right", "down", "f")
        assert isinstance(seen.app.page, type(seen.page))


async def test_ended_run_shows_end_reason_and_next_actions() -> None:
    async with watched(make_done()) as seen:
        check_frame(seen.app, "run-finished-80x24")
        assert "finished after 1m52: 14 of 15 cells measured, 1 failed" in seen.text
        assert "enter opens the result, r measures again, R with changes" in seen.text


@pytest.mark.parametrize(
    ("factors", "words"),
    [
        ((1.0,), "time ratio 1.000 [0.978, 1.022], no verdict"),
        ((1.0, 0.9), "time ratios 0.9 to 1 over 2 cells, no verdict"),
        ((), "no cell has a result in both"),
    ],
)
async def test_ended_rerun_shows_comparison(
    factors: tuple[float, ...], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = [timed_cell(cores=cores) for cores in (1, 2)[: max(len(factors), 1)]]
    new = [timed_cell(factor, cores=cores) for factor, cores in zip(factors, (1, 2), strict=False)]
    past = compare_results(build.run(*old, id=make_id(6)), build.run(*(new or [lost_cell(1)]), id=RUN))
    stored = StoredBenchmark(row=None, metadata=Metadata(rerun_of=make_id(6)), result=build.run())  # type: ignore[arg-type]
    monkeypatch.setattr(Library, "get", lambda library, one: stored)
    monkeypatch.setattr(Exchange, "side_by_side", lambda exchange, one, other: past)
    async with watched(sketch_view(), make_done()) as seen:
        assert "beside" not in seen.text
        await seen.look()
        assert f"compared with {short_id(make_id(6))}: {words}; c opens" in seen.text


async def test_interrupted_run_shows_actions_and_stored_count() -> None:
    async with watched(make_broken()) as seen:
        check_frame(seen.app, "run-interrupted-80x24")
        assert "o resumes it (45 executions saved), p saves it as it is, d removes it" in seen.text


async def test_unstartable_run_shows_reason_without_cells() -> None:
    info = make_info(activity.FAILED, eta_s=None, pid=None)
    view = make_view(
        (), info=info, status="failed", reason=told("no engine takes it; install one"), saved=False, log=()
    )
    async with watched(view) as seen:
        assert "failed after 1m52" in seen.text and "no engine takes it; install one" in seen.text
        assert "nothing is saved; d removes the run" in seen.text


async def test_key_hints_use_user_bindings() -> None:
    async with watched(make_done(), config=Config(keys={"rerun": "f6"})) as seen:
        assert "f6 measures again" in seen.text


async def test_cell_under_cursor_shows_reason_and_facts_without_polling(monkeypatch: pytest.MonkeyPatch) -> None:
    async with watched(sketch_view()) as seen:
        # failed cell reason is visible at any cursor
        assert "1 failed    sync, 16 cores, batch 32: died by SIGSEGV in load" in seen.text
        await seen.press("G", "right")
        assert seen.page.grid.cursor_key == lost_cell(16, 32).key
        assert " failed      died by SIGSEGV in load: the worker died" in seen.text
        assert " last line   fatal: bad kernel" in seen.text
        # enter shows cell before it is stored
        await seen.press("G", "right", "enter")
        assert "sync, 16 cores, batch 32" in seen.text and "fatal: bad kernel" in seen.text
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
        assert "no batch sequence=128" in seen.text and "no batch sequence=384" in seen.text


@pytest.mark.slow
async def test_hostile_names_are_plain_text_everywhere() -> None:
    view = sketch_view(
        info=make_info(name=HOSTILE, detail=told(HOSTILE)), names={}, log=(HOSTILE,), warnings=(told(HOSTILE),),
    )  # fmt: skip
    lost = lost_cell(1, engine=HOSTILE, dims={HOSTILE: 3})
    assert lost.failure is not None
    lost = replace(lost, failure=replace(lost.failure, message=HOSTILE * 20, log_tail=HOSTILE))
    other = lost_cell(2, engine=HOSTILE, dims={"x": 3})
    views = [
        view,
        make_view([lost, other]),
        make_broken(reason=told(HOSTILE)),
        make_view((), status="failed", reason=told(HOSTILE)),
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
        assert "8 cores, batch 32  execution 2 of ≥5" in seen.text, "what is measured is said all the same"


async def test_enter_on_unmeasured_cell_says_so() -> None:
    async with watched(make_view([new_cell(1), new_cell(2)])) as seen:
        await seen.press("enter")
        assert "nothing measured yet" in seen.text


async def test_open_cell_data_grows_and_is_dropped_on_close() -> None:
    views = [make_view([new_cell(1), new_cell(2)]), make_view([done_cell(1), new_cell(2)])]
    async with watched(*views, make_view([lost_cell(1), done_cell(2)])) as seen:
        await seen.press("enter")
        assert "nothing measured yet" in seen.text
        await seen.look()
        text = seen.text.rpartition("esc back")[2]
        assert "nothing measured yet" not in text and "Latency" in text
        await seen.press("escape")
        await seen.look()
        await seen.press("enter")
        assert "fatal: bad kernel" in seen.text.rpartition("esc back")[2]


async def test_enter_on_finished_run_opens_same_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    land(monkeypatch, "detail")
    async with watched(make_done()) as seen:
        await seen.press("down", "down", "right", "enter")
        cell = next(c for c in sketch_cells() if (c.asked.cores, c.asked.batch) == (4, 8))
        assert landed(seen.app) == ("detail", (RUN,), {"cell": cell.key})
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
        assert "enter opens the result" in seen.text


async def test_run_resumed_elsewhere_is_followed_again() -> None:
    async with watched(make_broken(), sketch_view()) as seen:
        assert "o resumes it" in seen.text
        await seen.look()
        assert "o resumes it" not in seen.text and "▶ running" in seen.text


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
    async with watched(StoreError("the journal is gone", "look for it"), sketch_view()) as seen:
        assert "the journal is gone" in seen.text and "look for it" in seen.text
        await seen.look()
        assert "the journal is gone" not in seen.text and "p50 ms/batch" in seen.text
