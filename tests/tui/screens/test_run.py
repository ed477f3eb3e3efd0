from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.report.build import HOSTILE
from tests.store.build import make_id
from tests.tui.frame import check_frame, rows
from tests.tui.landing import land, landed
from tests.tui.pilot import look, settle
from tests.tui.screens.run_desk import (
    RUN,
    done_cell,
    going_cell,
    lost_cell,
    make_info,
    make_view,
    many_cells,
    new_cell,
    sketch_cells,
    sketch_view,
)
from tests.tui.screens.run_stage import watched
from tuibench.core import activity
from tuibench.core.activity import Holder
from tuibench.core.errors import StoreError, UsageError
from tuibench.core.short_id import short_id
from tuibench.core.watch import Live, RunView
from tuibench.tui.config import Config
from tuibench.tui.screens.home import HomeScreen
from tuibench.tui.screens.run_log import RunLogScreen
from tuibench.tui.terminal import Display

NAME = short_id(RUN)


def make_waiting(**changes: Any) -> RunView:
    holder = Holder(4242, "ann", make_id(9), 190.0)
    info = make_info(activity.WAITING, detail="for the machine", place=2, eta_s=None, holder=holder)
    return make_view((), info=info, eta_s=None, limit_s=None, elapsed_s=0.0, log=(), waiting_shares=(), **changes)


def make_broken(**changes: Any) -> RunView:
    info = make_info(activity.INTERRUPTED, detail="its runner died", resumable=True, eta_s=None, pid=None)
    ended = {"status": "interrupted", "reason": "its runner died", "saved": False, "live": None, "eta_s": None}
    return sketch_view(**{"info": info, **ended, **changes})


def make_done(**changes: Any) -> RunView:
    info = make_info(activity.FINISHED, eta_s=None, pid=None)
    return sketch_view(**{"info": info, "status": "finished", "saved": True, "live": None, "eta_s": None, **changes})


# What is seen


@pytest.mark.parametrize(
    "name, size, ascii_only", [("80x24", (80, 24), False), ("120x36", (120, 36), False), ("ascii", (80, 24), True)]
)
async def test_a_run_that_goes_on(name: str, size: tuple[int, int], ascii_only: bool) -> None:
    async with watched(sketch_view(), size=size, display=Display(ascii_only=ascii_only)) as seen:
        check_frame(seen.app, f"run-{name}")
        assert not ascii_only or seen.text.isascii()


async def test_a_run_that_waits_says_for_whom_and_that_it_begins_by_itself() -> None:
    async with watched(make_waiting()) as seen:
        check_frame(seen.app, "run-waiting-80x24")
        assert "place 2" in seen.text and f"pid 4242 of ann, run {short_id(make_id(9))}, ~3m10 left" in seen.text


async def test_a_holder_that_is_stopped_is_said() -> None:
    stuck = make_waiting()
    holder = Holder(4242, "ann", "", None, stopped=True)
    async with watched(replace(stuck, info=replace(stuck.info, holder=holder))) as seen:
        assert "its process is stopped, so this may take for ever" in seen.text


async def test_a_run_that_is_prepared_says_what_takes_so_long() -> None:
    async with watched(make_view((), eta_s=None, limit_s=None)) as seen:
        assert "preparing: the model is read" in seen.text
        await seen.press("enter", "right", "down", "f")
        assert isinstance(seen.app.page, type(seen.page))


async def test_a_run_that_has_ended_says_how_and_what_to_do_next() -> None:
    async with watched(make_done()) as seen:
        check_frame(seen.app, "run-finished-80x24")
        assert "finished after 1m52: 14 of 15 cells measured, 1 failed" in seen.text
        assert "enter opens the result, r measures again, R with changes" in seen.text


async def test_a_run_that_broke_off_offers_what_can_be_done_and_counts_what_is_kept() -> None:
    async with watched(make_broken()) as seen:
        check_frame(seen.app, "run-interrupted-80x24")
        assert "o takes it up (45 executions kept), p saves what there is, d removes it" in seen.text


async def test_a_run_that_could_not_begin_says_why_and_nothing_of_cells() -> None:
    info = make_info(activity.FAILED, eta_s=None, pid=None)
    view = make_view((), info=info, status="failed", reason="no engine takes it; install one", saved=False, log=())
    async with watched(view) as seen:
        assert "failed after 1m52" in seen.text and "no engine takes it; install one" in seen.text
        assert "nothing of it is stored; d removes its traces" in seen.text


async def test_keys_are_named_as_the_user_has_bound_them() -> None:
    async with watched(make_done(), config=Config(keys={"rerun": "f6"})) as seen:
        assert "f6 measures again" in seen.text


async def test_why_a_cell_failed_is_in_sight_wherever_the_cursor_is() -> None:
    async with watched(sketch_view()) as seen:
        assert "1 failed    sync, 16 cores, batch 32: died by SIGSEGV in load" in seen.text
        await seen.press("G", "right")
        assert seen.page.grid.cursor_key == lost_cell(16, 32).key
        assert " failed      died by SIGSEGV in load: the worker died" in seen.text
        assert " last words  fatal: bad kernel" in seen.text


async def test_a_long_reason_takes_more_lines() -> None:
    lost = lost_cell(1)
    assert lost.failure is not None
    lost = replace(lost, failure=replace(lost.failure, message=" ".join(f"word{n}" for n in range(30))))
    async with watched(make_view([lost])) as seen:
        assert "word3 " in seen.text and "word29" in seen.text


@pytest.mark.parametrize("count", [1, 200])
async def test_any_number_of_cells(count: int) -> None:
    async with watched(make_view(many_cells(count))) as seen:
        check_frame(seen.app, f"run-{count}-80x24")
        await seen.press("G", *["right"] * 5)
        assert seen.page.grid.cursor_key == many_cells(count)[-1].key
        assert ">" in seen.text


async def test_a_side_stays_named_while_one_scrolls_through_it() -> None:
    async with watched(make_view(many_cells()), size=(80, 20)) as seen:
        titles = []
        for _ in range(20):
            await seen.press("down")
            titles.append(next(row for row in rows(seen.app) if " of 8)" in row))
        assert any("(2 of 8)" in title for title in titles) and any("(4 of 8)" in title for title in titles)


async def test_f_goes_from_side_to_side_and_comes_round() -> None:
    cells = many_cells()
    async with watched(make_view(cells)) as seen:
        await seen.press("down", "right", "f")
        assert seen.page.grid.cursor_key == cells[26].key, "the first line, the same column"
        await seen.press(*["f"] * 7)
        assert seen.page.grid.cursor_key == cells[1].key


async def test_a_cell_without_batch_and_several_shapes_have_columns_of_their_own() -> None:
    shapes = [done_cell(c, None, dims={"sequence": n}) for c in (1, 2) for n in (128, 384)]
    async with watched(make_view(shapes)) as seen:
        assert "no batch sequence=128" in seen.text and "no batch sequence=384" in seen.text


async def test_many_models_engines_and_scenarios_have_a_block_each() -> None:
    async with watched(make_view(many_cells()), size=(120, 80)) as seen:
        for name in ("resnet50.onnx onnxruntime sync, p50 ms/batch", "resnet18.onnx openvino async, items/s"):
            assert name in seen.text


async def test_hostile_names_drive_nothing_anywhere() -> None:
    view = sketch_view(
        info=make_info(name=HOSTILE, detail=HOSTILE), names={}, log=(HOSTILE,), warnings=(HOSTILE,),
    )  # fmt: skip
    lost = lost_cell(1, engine=HOSTILE, dims={HOSTILE: 3})
    assert lost.failure is not None
    lost = replace(lost, failure=replace(lost.failure, message=HOSTILE * 20, log_tail=HOSTILE))
    other = lost_cell(2, engine=HOSTILE, dims={"x": 3})
    views = [view, make_view([lost, other]), make_broken(reason=HOSTILE), make_view((), status="failed", reason=HOSTILE)]
    for each in views:
        for size in ((80, 24), (120, 36)):
            async with watched(each, size=size, log=(HOSTILE,)) as seen:
                for key in ("down", "enter", "escape", "L", "escape", "o", "escape"):
                    await seen.press(key)
                    assert not set(seen.text) & {"\x1b", "\u202e", "\udcff", "\x07"}


@pytest.mark.parametrize("size", [(20, 5), (20, 8), (40, 12), (60, 16), (80, 14), (1, 1), (300, 80)])
async def test_any_terminal_shows_the_cell_under_the_cursor(size: tuple[int, int]) -> None:
    async with watched(sketch_view(), size=size) as seen:
        await seen.press("down", "right", "up")
        assert size[0] < 20 or ">" in seen.text


async def test_a_terminal_that_shrinks_to_20x5_and_grows_again_while_it_runs() -> None:
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


async def test_the_cursor_stays_on_what_is_measured_until_somebody_moves_it() -> None:
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


async def test_enter_shows_what_is_known_of_a_cell_before_it_is_stored() -> None:
    async with watched(sketch_view()) as seen:
        await seen.press("G", "right", "enter")
        assert "sync, 16 cores, batch 32" in seen.text and "fatal: bad kernel" in seen.text
        await seen.press("escape")
        assert seen.page.view is not None


async def test_enter_of_what_is_not_measured_yet() -> None:
    async with watched(make_view([new_cell(1), new_cell(2)])) as seen:
        await seen.press("enter")
        assert "nothing is measured yet" in seen.text


async def test_enter_of_a_finished_run_opens_that_very_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    land(monkeypatch, "detail")
    async with watched(make_done()) as seen:
        await seen.press("down", "down", "right", "enter")
        cell = next(c for c in sketch_cells() if (c.asked.cores, c.asked.batch) == (4, 8))
        assert landed(seen.app) == ("detail", (RUN,), {"cell": cell.key})
        seen.app.go_back()
        await settle(seen.pilot)
        assert isinstance(seen.app.page, HomeScreen), "the page of a run that is done is not come back to"


# Looking


async def test_an_unchanged_look_reads_once_and_paints_nothing() -> None:
    async with watched(sketch_view()) as seen:
        looks = seen.desk.looks
        grid = seen.page.grid
        painted: list[object] = []
        grid.refresh = lambda *_, **__: painted.append(1) or grid  # type: ignore[method-assign, func-returns-value]
        await seen.look()
        assert seen.desk.looks == looks + 1 and painted == []


async def test_looks_end_with_the_run_once_it_is_saved_and_not_before() -> None:
    async with watched(sketch_view(), make_broken(), make_broken(), make_done()) as seen:
        for _ in range(6):
            await seen.look()
        assert seen.desk.looks == 4
        assert "enter opens the result" in seen.text


async def test_a_run_that_is_taken_up_elsewhere_is_followed_again() -> None:
    async with watched(make_broken(), sketch_view()) as seen:
        assert "o takes it up" in seen.text
        await seen.look()
        assert "o takes it up" not in seen.text and "▶ running" in seen.text


async def test_nobody_looks_while_another_screen_is_shown() -> None:
    async with watched(sketch_view(), sketch_view(elapsed_s=113.0), sketch_view(elapsed_s=120.0)) as seen:
        page = seen.page
        seen.app.action_system()
        await settle(seen.pilot)
        looks = seen.desk.looks
        page.load()
        await settle(seen.pilot)
        assert seen.desk.looks == looks
        await seen.press("escape")
        assert seen.app.page is page and "1m53" in seen.text, "who comes back sees the present"


async def test_leaving_gives_the_feed_back() -> None:
    async with watched(sketch_view()) as seen:
        await seen.press("escape")
        assert isinstance(seen.app.page, HomeScreen) and seen.desk.closed == 1
        assert [wish for wish, *_ in seen.desk.asked] == ["watch"]


async def test_what_cannot_be_read_is_said_and_tried_again() -> None:
    async with watched(StoreError("the journal is gone", "look for it"), sketch_view()) as seen:
        assert "the journal is gone" in seen.text and "look for it" in seen.text
        await seen.look()
        assert "the journal is gone" not in seen.text and "p50 ms/batch" in seen.text


# Keys


async def test_X_asks_and_only_y_cancels() -> None:  # noqa: N802 - the key
    async with watched(sketch_view()) as seen:
        await seen.press("X")
        assert "Cancel this run? 14 cells measured so far are kept." in seen.news
        await seen.press("escape")
        assert ("cancel", RUN) not in seen.desk.asked
        seen.desk.views = [make_done(status="cancelled")]
        await seen.press("X", "y")
        assert ("cancel", RUN) in seen.desk.asked
        assert "cancelled after 1m52" in seen.text


async def test_X_of_a_waiting_run_says_that_nothing_is_lost() -> None:  # noqa: N802 - the key
    async with watched(make_waiting()) as seen:
        await seen.press("X")
        assert "Nothing is measured yet." in seen.news


@pytest.mark.parametrize("key, wish", [("p", "finish"), ("+", "extend")])
async def test_p_and_plus_ask_for_it_at_once_and_say_what_came_of_it(key: str, wish: str) -> None:
    async with watched(sketch_view()) as seen:
        await seen.press(key)
        assert seen.desk.asked[-1] == (wish, RUN)
        assert f"{wish} done" in seen.news
        seen.desk.answers[wish] = UsageError("a fixed time cannot be extended", "start another run")
        await seen.press(key)
        assert "! a fixed time cannot be extended: start another run" in seen.news


@pytest.mark.parametrize("key", ["X", "p", "+"])
async def test_what_only_goes_while_it_runs_is_refused_afterwards(key: str) -> None:
    async with watched(make_done()) as seen:
        await seen.press(key)
        assert "it has ended already" in seen.news and len(seen.desk.asked) == 1


async def test_o_takes_it_up_at_once() -> None:
    async with watched(make_broken()) as seen:
        seen.desk.views = [sketch_view()]
        await seen.press("o")
        assert seen.desk.asked[-1] == ("resume", RUN, False, False)
        await seen.look()
        assert "▶ running" in seen.text


async def test_p_of_what_broke_off_saves_what_there_is() -> None:
    async with watched(make_broken()) as seen:
        seen.desk.views = [make_done(status="interrupted")]
        await seen.press("p")
        assert seen.desk.asked[-1] == ("resume", RUN, False, True)
        await seen.look()
        assert "enter opens the result" in seen.text


@pytest.mark.parametrize("key, mixed, finish", [("m", True, False), ("f", False, True), ("o", False, False)])
async def test_o_asks_where_the_machine_is_not_what_it_was(key: str, mixed: bool, finish: bool) -> None:
    reason = "the anchor execution is 40 % slower than before the break (allowed 5 %)"
    async with watched(make_broken(other_machine=True, reason=reason)) as seen:
        await seen.press("o")
        assert reason in seen.text
        assert "The machine changed.  m go on all the same" in seen.news
        await seen.press("escape")
        assert len(seen.desk.asked) == 1
        await seen.press("o", key)
        assert seen.desk.asked[-1] == ("resume", RUN, mixed, finish)


async def test_o_says_why_it_cannot() -> None:
    async with watched(make_broken()) as seen:
        seen.desk.answers["resume"] = UsageError("its model is gone", "put it back")
        await seen.press("o")
        assert "! its model is gone: put it back" in seen.news


@pytest.mark.parametrize("view, words", [(sketch_view(), "it goes on"), (make_done(), "it has ended; r measures")])
async def test_o_of_what_needs_no_taking_up_says_so(view: RunView, words: str) -> None:
    async with watched(view) as seen:
        await seen.press("o")
        assert words in seen.news and len(seen.desk.asked) == 1


@pytest.mark.parametrize("key", ["r", "R", "c", "e", "x"])
async def test_what_needs_a_result_says_so_before_there_is_one(key: str) -> None:
    async with watched(sketch_view()) as seen:
        await seen.press(key)
        assert "this needs its result" in seen.news


async def test_R_of_a_finished_run_opens_the_form(monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: N802 - the key
    land(monkeypatch, "form")
    async with watched(make_done()) as seen:
        await seen.press("R")
        assert landed(seen.app) == ("form", (), {"benchmark": RUN})


async def test_y_copies_the_command_of_a_run_that_is_in_no_list_yet() -> None:
    async with watched(sketch_view()) as seen:
        seen.desk.answers["command"] = "tuibench benchmark resnet50.onnx"
        await seen.press("y")
        assert seen.desk.asked[-1] == ("command", "", RUN)
        assert "copied, and kept in" in seen.news and seen.app.clipboard == "tuibench benchmark resnet50.onnx"


async def test_L_shows_what_happened_and_goes_on() -> None:  # noqa: N802 - the key
    later = sketch_view(log=("12:41:03  one", "12:41:11  another"))
    async with watched(sketch_view(log=("12:41:03  one",)), later, log=("runner.log:", "  it said so")) as seen:
        await seen.press("L")
        page = seen.app.page
        assert isinstance(page, RunLogScreen)
        page.load()
        await settle(seen.pilot)
        assert "12:41:11  another" in seen.text and "it said so" in seen.text
        await seen.press("q")
        assert "p50 ms/batch" in seen.text


async def test_the_log_of_a_long_run_begins_at_its_end() -> None:
    lines = tuple(f"12:41:03  line {n}" for n in range(500))
    async with watched(sketch_view(log=lines)) as seen:
        await seen.press("L")
        assert "line 499" in seen.text and "line 0\n" not in seen.text
        await seen.press("g")
        assert "line 0\n" in seen.text


# When it ends


async def test_a_run_that_ends_under_ones_eyes_is_news_on_the_page_and_one_bell(monkeypatch: pytest.MonkeyPatch) -> None:
    async with watched(sketch_view(), make_done()) as seen:
        rung: list[int] = []
        monkeypatch.setattr(seen.app, "bell", lambda: rung.append(1))
        titles: list[str] = []
        monkeypatch.setattr(seen.app, "set_terminal_title", titles.append)
        await seen.look()
        await look(seen.app, seen.pilot)
        assert "enter opens the result" in seen.text
        assert f"run {NAME} finished and saved" in seen.news
        assert rung == [1] and titles == [f"tuibench: {NAME} finished and saved"]


async def test_the_end_is_said_on_every_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    async with watched(sketch_view()) as seen:
        await seen.press("escape")
        for end, words in (
            (make_done(info=make_info(activity.CANCELLED), status="cancelled"), "cancelled"),
            (make_broken(), "interrupted: its runner died"),
            (make_done(), "finished and saved"),
        ):
            seen.desk.views = [sketch_view()]
            await look(seen.app, seen.pilot)
            seen.desk.views = [end]
            await look(seen.app, seen.pilot)
            assert f"run {NAME} {words}" in seen.news


async def test_no_bell_where_none_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    async with watched(sketch_view(), config=Config(bell=False)) as seen:
        rung: list[int] = []
        monkeypatch.setattr(seen.app, "bell", lambda: rung.append(1))
        seen.desk.views = [make_done()]
        await look(seen.app, seen.pilot)
        assert rung == [] and "finished" in seen.news


async def test_a_cell_that_never_ends_leaves_all_keys_alive() -> None:
    stuck = make_view([going_cell(1), new_cell(2)], live=Live(new_cell(2).key, 1, 1, "first inference", None, None, None))
    async with watched(stuck) as seen:
        for _ in range(5):
            await seen.look()
        assert "2 cores, batch 1  execution 1 of ≥5  first inference" in seen.text
        await seen.press("X")
        assert "Cancel this run? 1 cell measured so far is kept." in seen.news
