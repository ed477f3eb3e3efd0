from __future__ import annotations

from dataclasses import fields, replace

import pytest

from tests.tui.frame import check_frame, frame
from tests.tui.landing import Landing
from tests.tui.pilot import look, open_app, press, send_key, settle, type_text, until_seen
from tests.tui.rest import all_handled, until
from tests.tui.screens.form_desk import MODEL, RUN, VALUES, FormDesk, running
from tests.tui.screens.form_stage import BENCHMARK, Timers, focused, form_of, neighbours, open_form, timers
from tuibench.core import benchmark_setting
from tuibench.core.errors import UsageError
from tuibench.core.setting import Group, Place, Setting
from tuibench.tui.desk import FormValues
from tuibench.tui.terminal import Display

__all__ = ["neighbours", "timers"]


async def test_form_matches_kept_frame() -> None:
    async with open_form(FormDesk(), project="p1") as (app, _):
        check_frame(app, "form-80x24")


async def test_form_in_ascii_matches_kept_frame() -> None:
    async with open_form(FormDesk(), project="p1", display=Display(ascii_only=True)) as (app, _):
        check_frame(app, "form-ascii")
        assert frame(app).isascii()


async def test_a_model_by_its_path_is_measured_with_one_key() -> None:
    desk = FormDesk()
    async with open_form(desk, path=MODEL) as (app, pilot):
        assert desk.opened == [("", "", MODEL)]
        assert focused(app) == "RUN"
        await press(pilot, "enter")
        assert desk.started == [(VALUES, "", "")]
        assert isinstance(app.page, Landing) and app.page.called == ("run", (RUN,), {})


async def test_the_dashboard_begins_with_the_form_of_a_path() -> None:
    desk = FormDesk()
    async with open_app(desk=desk.as_desk(), path=MODEL) as (app, pilot):
        await until(lambda: form_of(app).ready)
        await press(pilot, "enter")
        assert desk.started == [(VALUES, "", "")]
        await press(pilot, "escape")
        assert isinstance(app.page, Landing) and app.page.called[0] == "home"


async def test_there_is_no_way_back_from_a_run_to_its_form() -> None:
    async with open_form(FormDesk(), project="p1") as (app, pilot):
        home = app.screen_stack[-2]
        await press(pilot, "ctrl+r")
        assert app.screen_stack[-2] is home


@pytest.mark.parametrize("over", ["f2", "ctrl+p"])
async def test_a_run_that_starts_behind_another_screen_waits_for_it(over: str) -> None:
    desk = FormDesk()
    desk.gate.clear()
    async with open_form(desk, path=MODEL) as (app, pilot):
        form = app.screen
        await pilot.press("ctrl+r", over)
        await until(lambda: app.screen is not form)
        above = app.screen
        desk.gate.set()
        await settle(pilot)
        assert app.screen is above and desk.started == [(VALUES, "", "")]
        await press(pilot, "escape")
        assert isinstance(app.page, Landing) and app.page.called == ("run", (RUN,), {})
        assert form not in app.screen_stack


async def test_what_is_to_be_said_of_a_start_is_said_on_the_page_of_the_run() -> None:
    desk = FormDesk()
    desk.notes = ("4 given more than once, measured once", "saved nowhere")
    async with open_form(desk, path=MODEL) as (app, pilot):
        await press(pilot, "enter")
        assert isinstance(app.page, Landing)
        assert "4 given more than once, measured once; saved nowhere" in frame(app)


async def test_the_same_with_other_batch_sizes_takes_three_keys_and_typing() -> None:
    desk = FormDesk()
    async with open_form(desk, benchmark=BENCHMARK) as (app, pilot):
        assert focused(app) == "cores"
        await press(pilot, "enter")
        assert focused(app) == "batches"
        await type_text(pilot, "2,4")
        await press(pilot, "ctrl+r")
        assert desk.started == [(replace(VALUES, batches="2,4"), "", BENCHMARK)]


async def test_the_cores_of_a_rerun_are_replaced_by_typing() -> None:
    desk = FormDesk()
    async with open_form(desk, benchmark=BENCHMARK) as (app, pilot):
        await type_text(pilot, "8")
        assert form_of(app).column.values().cores == "8"


async def test_all_that_is_wrong_is_said_at_once_beside_its_field() -> None:
    wrong = replace(
        VALUES, engines=(), scenarios="", cores="0", batches="x", dims=(("seq", "-"),), streams="none", target="a",
        warmup_s="b", name="n" * 1000,
    )  # fmt: skip
    desk = FormDesk(wrong, error="there is no such file; name another", summary=None)
    async with open_form(desk, project="p1") as (app, pilot):
        await until_seen(pilot, lambda: frame(app).count(" ! ") >= 9)
        shown = frame(app).splitlines()
        labels = ("Model", "Engines", "Scenarios", "Cores", "Batches", "seq", "Streams", "Target", "Name")
        for label in labels:
            line = next(line for line in shown if line[1:].startswith(label))
            assert " ! " in line, line
        assert set(form_of(app).errors()) == {
            *("model", "engines", "scenarios", "cores", "batches", "dim:seq", "streams", "target", "warmup_s", "name")
        }
        check_frame(app, "form-wrong-80x24")
        await press(pilot, "ctrl+r")
        assert desk.started == []
        assert focused(app) == "model"


async def test_run_goes_to_the_first_field_that_is_wrong() -> None:
    desk = FormDesk(replace(VALUES, batches="x", streams="y"))
    async with open_form(desk, project="p1") as (app, pilot):
        await press(pilot, "enter")
        assert focused(app) == "batches"
        assert "2 fields to mend: Batches, Streams" in frame(app)
        await type_text(pilot, "4")
        await press(pilot, "ctrl+r")
        assert focused(app) == "streams"
        await type_text(pilot, "2")
        await press(pilot, "ctrl+r")
        assert [values.batches + values.streams for values, _, _ in desk.started] == ["42"]


async def test_an_error_is_said_in_whole_when_its_field_has_the_focus() -> None:
    desk = FormDesk(replace(VALUES, cores="nonsense"))
    async with open_form(desk, benchmark=BENCHMARK) as (app, pilot):
        whole = " ".join(frame(app).split())
        assert "Cores: takes 1 to 16 (physical cores usable here), not 'nonsense'; lists are written" in whole
        await press(pilot, "enter")
        assert "Cores: takes 1 to 16 (physical" not in frame(app)


async def test_it_is_checked_once_the_typing_pauses(timers: Timers) -> None:
    desk = FormDesk()
    async with open_form(desk, benchmark=BENCHMARK) as (app, pilot):
        before = len(desk.checked)
        await press(pilot, "1", "-", "1", "7")
        assert len(desk.checked) == before
        assert timers.ring() == 1
        await settle(pilot)
        assert [values.cores for values in desk.checked[before:]] == ["1-17"]
        assert timers.waits == [0.15] * 4
        assert "takes 1 to 16" in frame(app)


async def test_run_checks_what_is_there_now(timers: Timers) -> None:
    desk = FormDesk()
    async with open_form(desk, benchmark=BENCHMARK) as (_, pilot):
        await type_text(pilot, "99")
        await press(pilot, "ctrl+r")
        assert desk.started == []


async def test_pressing_run_twice_starts_once() -> None:
    desk = FormDesk()
    desk.gate.clear()
    async with open_form(desk, project="p1") as (app, pilot):
        for key in ("ctrl+r", "ctrl+r", "enter", "escape"):
            send_key(app, key)
            await all_handled()
        await until(lambda: "a moment" in frame(app))
        assert isinstance(app.page, type(form_of(app)))
        desk.gate.set()
        await settle(pilot)
        assert len(desk.started) == 1


async def test_a_check_that_is_due_keeps_nothing_from_starting() -> None:
    desk = FormDesk()
    async with open_form(desk, project="p1") as (app, pilot):
        desk.checking.clear()
        form = form_of(app)
        for _ in range(2):
            form.action_run_form()
            form.check()
            await all_handled()
        desk.checking.set()
        await settle(pilot)
        assert len(desk.started) == 1


async def test_a_start_that_is_refused_leaves_the_form_as_it_was() -> None:
    desk = FormDesk()
    desk.refusal = UsageError("another one measures", "wait for it")
    async with open_form(desk, project="p1") as (app, pilot):
        await press(pilot, "ctrl+r")
        assert "another one measures: wait for it" in frame(app)
        desk.refusal = None
        await press(pilot, "ctrl+r")
        assert len(desk.started) == 1


async def test_a_form_that_cannot_be_filled_says_why() -> None:
    async with open_form(FormDesk(), path="/nothing.onnx") as (app, pilot):
        assert focused(app) == "model"
        assert "there is no model /nothing.onnx" in frame(app)
        await press(pilot, "ctrl+r")
        assert isinstance(app.page, type(form_of(app)))


async def test_engines_are_ticked_with_space_but_for_those_not_installed() -> None:
    async with open_form(FormDesk(), (120, 36), project="p1") as (app, pilot):
        form_of(app).column.go_to("engines")
        await press(pilot, "right", "space")
        assert form_of(app).column.values().engines == ("onnxruntime", "openvino")
        await press(pilot, "right", "space")
        assert form_of(app).column.values().engines == ("onnxruntime",)
        assert "pip install 'tuibench[torch]'" in frame(app)
        await press(pilot, "left", "space")
        form_of(app).check()
        await settle(pilot)
        assert form_of(app).errors()["engines"] == "tick at least one"


async def test_a_fixed_time_takes_the_place_of_the_target() -> None:
    async with open_form(FormDesk(), project="p1") as (app, pilot):
        assert "Target" in frame(app) and "Time in s" not in frame(app)
        form_of(app).column.go_to("effort")
        await press(pilot, "right", "right", "right")
        assert form_of(app).column.values().effort == "fixed"
        assert "Time in s" in frame(app) and "Target" not in frame(app)
        await press(pilot, "enter")
        assert focused(app) == "time_s"


async def test_all_fields_are_reached_by_enter_and_all_are_left_by_up() -> None:
    async with open_form(FormDesk(), project="p1") as (app, pilot):
        await press(pilot, "down")
        reached = [focused(app)]
        while reached[-1] != "RUN":
            await press(pilot, "enter")
            reached.append(focused(app))
        names = {one.name for one in fields(FormValues)} | {"dim:seq"}
        assert set(reached) == names - {"dims", "more", "time_s"} | {"RUN"}
        await press(pilot, "up")
        assert focused(app) == reached[-2]


async def test_y_copies_the_command_but_is_typed_into_a_text() -> None:
    desk = FormDesk()
    async with open_form(desk, project="p1") as (app, pilot):
        await press(pilot, "y")
        assert desk.copied == [f"tuibench benchmark {MODEL} -ncores 1,2,4,8,16 -b 1,8,32 --dim seq=128"]
        assert app.clipboard == desk.copied[0]
        assert "copied, also to /state/copied.txt" in frame(app)
        form_of(app).column.go_to("name")
        await press(pilot, "y")
        assert form_of(app).column.values().name == "y"
        assert len(desk.copied) == 1


async def test_a_form_that_is_wrong_has_no_command_to_copy() -> None:
    desk = FormDesk(replace(VALUES, cores="x"))
    async with open_form(desk, project="p1") as (app, pilot):
        await press(pilot, "y")
        assert desk.copied == []
        assert "no command for it" in frame(app)


async def test_a_declared_setting_with_a_place_has_a_field(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = Setting("prefault", "--prefault N", "pages touched", "0", at="options.prefault", place=Place("Prefault"))
    monkeypatch.setattr(benchmark_setting, "GROUPS", (*benchmark_setting.GROUPS, Group("More", (setting,))))
    desk = FormDesk()
    async with open_form(desk, project="p1") as (app, pilot):
        form_of(app).column.go_to("prefault")
        await type_text(pilot, "3")
        await press(pilot, "ctrl+r")
        (started,) = [values for values, *_ in desk.started]
        assert started == replace(VALUES, more=(("prefault", "3"),))


async def test_escape_leaves_a_form_that_nobody_has_typed_into() -> None:
    async with open_form(FormDesk(), project="p1") as (app, pilot):
        await press(pilot, "escape")
        assert isinstance(app.page, Landing)


async def test_what_was_typed_is_given_up_only_after_a_question() -> None:
    async with open_form(FormDesk(), benchmark=BENCHMARK) as (app, pilot):
        await type_text(pilot, "3")
        await press(pilot, "escape", "escape")
        assert form_of(app).column.values().cores == "3"
        await press(pilot, "escape", "n")
        assert focused(app) == "cores"
        await press(pilot, "escape", "y")
        assert isinstance(app.page, Landing)


async def test_who_measures_now_is_said_as_soon_as_it_is_known() -> None:
    desk = FormDesk()
    async with open_form(desk, project="p1") as (app, pilot):
        assert "no benchmark measures now" in frame(app)
        desk.runs = (running(eta_s=190.0),)
        await look(app, pilot)
        assert "measures now, ~3m10 left: this one will wait" in frame(app)


async def test_what_is_typed_stays_when_others_change_something() -> None:
    desk = FormDesk()
    async with open_form(desk, benchmark=BENCHMARK) as (app, pilot):
        await type_text(pilot, "3")
        desk.runs = (running(eta_s=1.0),)
        await look(app, pilot)
        app.go(Landing("help"))
        await settle(pilot)
        app.go_back()
        await settle(pilot)
        assert form_of(app).column.values().cores == "3"
        assert len(desk.opened) == 1


@pytest.mark.parametrize(
    "values", [FormValues(), VALUES, replace(VALUES, flags="--seed 3", effort="fixed", pin="none")]
)
async def test_what_is_not_touched_comes_back_as_it_was(values: FormValues) -> None:
    async with open_form(FormDesk(values), project="p1") as (app, _):
        assert form_of(app).column.values() == values
