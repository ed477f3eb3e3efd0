from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui.pilot import look, replace_methods, settle, status_of
from tests.tui.screens.run_services import (
    RUN,
    going_cell,
    make_broken,
    make_cancelled,
    make_done,
    make_info,
    make_view,
    make_waiting,
    new_cell,
    sketch_view,
)
from tests.tui.screens.run_stage import watched
from tests.tui.screens.stage import offered
from tuibench.core import activity
from tuibench.core.activity import Live
from tuibench.core.errors import StoreError, UnknownId, UsageError
from tuibench.core.ids import short_id
from tuibench.core.reason import LEGACY_TEXT, Reason, because, legacy_text
from tuibench.core.stored import Removal
from tuibench.present.error.words import hint_words, message_words
from tuibench.tui.screens.run.actions import RunLogScreen

NAME = short_id(RUN)


# Keys


async def test_active_run_keys_cancel_copy_and_announce_end(monkeypatch: pytest.MonkeyPatch) -> None:
    async with watched(sketch_view()) as seen:
        # key X asks and only y cancels
        await seen.press("X")
        assert " 14 " in seen.news and seen.answers == ("y",)
        await seen.press("escape")
        assert ("cancel", RUN) not in seen.services.asked
        seen.services.views = [make_done(status="cancelled")]
        await seen.press("X", "y")
        assert ("cancel", RUN) in seen.services.asked
        assert "1m52" in seen.text
        # key y copies command of unlisted run
        seen.services.answers["command"] = command = "tuibench benchmark resnet50.onnx"
        await seen.press("y")
        assert seen.services.asked[-1] == ("command", RUN) and seen.app.clipboard == command
        # run end is announced on every screen
        await seen.press("escape")
        for end, kind in (
            (make_done(info=make_info(activity.CANCELLED), status="cancelled"), "info"),
            (make_broken(), "warn"),
            (make_done(), "info"),
        ):
            seen.services.views = [sketch_view()]
            await look(seen.app, seen.pilot)
            seen.services.views = [end]
            await look(seen.app, seen.pilot)
            assert f" {NAME} {end.info.state}" in seen.news and seen.status.kind == kind


async def test_keys_p_and_plus_act_at_once_and_show_result() -> None:
    async with watched(sketch_view()) as seen:
        for key, wish in (("p", "finish"), ("+", "extend")):
            await seen.press(key)
            assert seen.services.asked[-1] == (wish, RUN)
            assert NAME in seen.news and seen.status.kind == "info"
            seen.services.answers[wish] = error = UsageError(LEGACY_TEXT, text="impossible", hint="hint")
            await seen.press(key)
            assert message_words(error) in seen.news and hint_words(error) in seen.news and seen.status.kind == "bad"


async def test_more_time_is_not_offered_without_a_target() -> None:
    view = sketch_view()
    assert view.spec is not None
    fixed = replace(view, spec=replace(view.spec, effort=replace(view.spec.effort, target=None)))
    for shown, expected in ((view, True), (fixed, False)):
        async with watched(shown) as seen:
            assert ("+" in offered(seen.app)) is expected


async def test_keys_of_active_run_are_refused_after_end() -> None:
    async with watched(make_done()) as seen:
        for key in ("X", "p", "+", "o"):
            await seen.press(key)
            assert seen.status.said and len(seen.services.asked) == 1, key


async def test_key_o_resumes_at_once() -> None:
    async with watched(make_broken()) as seen:
        seen.services.views = [sketch_view()]
        await seen.press("o")
        assert seen.services.asked[-1] == ("resume", RUN, False, False)
        await seen.look()
        assert "▶ running" in seen.text


async def test_key_p_on_interrupted_run_saves_partial_result() -> None:
    async with watched(make_broken()) as seen:
        seen.services.views = [make_done(status="interrupted")]
        await seen.press("p")
        assert seen.services.asked[-1] == ("resume", RUN, False, True)
        await seen.look()
        assert "enter" in seen.text


async def test_key_o_asks_when_machine_changed() -> None:
    reason = "the anchor execution is 40 % slower than before the break (allowed 5 %)"
    async with watched(make_broken(other_machine=True, reason=legacy_text(reason))) as seen:
        await seen.press("o")
        assert reason in seen.text
        assert {"m", "f"} <= set(seen.answers)
        await seen.press("escape")
        assert len(seen.services.asked) == 1
        for key, mixed, finish in (("m", True, False), ("f", False, True), ("o", False, False)):
            await seen.press("o", key)
            assert seen.services.asked[-1] == ("resume", RUN, mixed, finish), key


async def test_keys_of_ended_run_before_end_say_so() -> None:
    async with watched(sketch_view()) as seen:
        for key in ("r", "R", "c", "e", "x", "o"):
            await seen.press(key)
            assert seen.status.said and seen.app.page is seen.page and len(seen.services.asked) == 1, key


async def test_key_L_shows_log_and_follows_it() -> None:  # noqa: N802 - the key
    later = sketch_view(log=("12:41:03  one", "12:41:11  another"))
    async with watched(sketch_view(log=("12:41:03  one",)), later, log=("runner.log:", "  it said so")) as seen:
        await seen.press("L")
        page = seen.app.page
        assert isinstance(page, RunLogScreen)
        page.load()
        await settle(seen.pilot)
        assert "12:41:11" in seen.text and "runner.log" in seen.text
        await seen.press("q")
        assert seen.app.page is seen.page


async def test_unreadable_log_says_so_and_recovers() -> None:
    async with watched(sketch_view(), StoreError(LEGACY_TEXT, text="lost", hint="hint"), sketch_view()) as seen:
        await seen.press("L")
        assert "lost" in seen.text and "hint" in seen.text
        page = seen.app.page
        assert isinstance(page, RunLogScreen)
        page.load()
        await settle(seen.pilot)
        assert "lost" not in seen.text and "round 3" in seen.text


# End of a run


async def test_run_cancelled_in_queue_says_unmeasured_and_is_removable() -> None:
    async with watched(make_waiting()) as seen:
        await look(seen.app, seen.pilot)
        seen.services.views = [make_cancelled()]
        await seen.look()
        await look(seen.app, seen.pilot)
        assert NAME in seen.news and "o" not in offered(seen.app)
        for key in ("o", "r"):
            await seen.press(key)
            assert seen.status.said and len(seen.services.asked) == 1
        await seen.press("d")
        assert f"{NAME}?" in seen.news and seen.answers == ("y",)
        await seen.press("y")
        assert seen.services.asked[-1] == ("remove", (RUN,), False, True)


async def test_unsaved_run_shows_reason_and_how_to_save() -> None:
    full = "the disk of the store is full: /data"
    info = make_info(activity.UNSAVED, detail=legacy_text(full), resumable=True, eta_s=None, pid=None)
    async with watched(make_done(info=info, saved=False)) as seen:
        assert full in seen.text
        assert "o" in offered(seen.app) and "p" not in offered(seen.app)


async def test_interrupted_run_counts_done_and_ended_run_counts_values() -> None:
    async with watched(make_broken()) as seen:
        assert "9 of 15 " in seen.text and " 6 " in seen.text.splitlines()[1]
    # Lists count the cells that have a number in an ended run's record.
    info = make_info(activity.CANCELLED, eta_s=None, pid=None)
    why = Reason("cancelled_on_request")
    async with watched(make_broken(info=info, status="cancelled", reason=why)) as seen:
        assert "14 of 15 " in seen.text and " 6 " in seen.text.splitlines()[1]


async def test_removing_missing_run_leaves_page() -> None:
    async with watched(make_cancelled()) as seen:

        def gone(*_: object, **__: object) -> None:
            raise UnknownId(LEGACY_TEXT, text="no benchmark is called that")

        replace_methods(seen.services, library__remove=gone)
        page = seen.app.page
        await seen.press("d", "y")
        assert seen.app.page is not page and NAME in status_of(seen.app).said


async def test_failed_save_on_removal_keeps_page_and_allows_save() -> None:
    async with watched(sketch_view()) as seen:
        page = seen.page
        replace_methods(
            seen.services,
            library__remove=lambda *_, **__: Removal(
                None, (make_info(activity.UNSAVED, detail=because("not_saved", why="the store is busy")),)
            ),
        )
        info = make_info(
            activity.UNSAVED, detail=because("not_saved", why="the store is busy"), resumable=True, eta_s=None, pid=None
        )
        seen.services.views = [make_done(info=info, saved=False)]
        await seen.press("d", "y")
        assert seen.app.page is page and NAME in seen.news
        await seen.press("o")
        assert seen.services.asked[-1] == ("resume", RUN, False, False)


async def test_removal_question_names_losses() -> None:
    async with watched(make_broken(), size=(100, 24)) as seen:
        await seen.press("d")
        assert " 45 " in seen.news and seen.answers == ("y",)


async def test_endless_cell_keeps_all_keys_responsive() -> None:
    live = Live(new_cell(2).key, 1, 1, "first inference", None, None, None)
    async with watched(make_view([going_cell(1), new_cell(2)], live=live)) as seen:
        for _ in range(5):
            await seen.look()
        assert any(row.startswith(" now") and live.phase in row for row in seen.text.splitlines())
        await seen.press("X")
        assert " 1 " in seen.news and seen.answers == ("y",)
