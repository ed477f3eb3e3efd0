from __future__ import annotations

from dataclasses import fields, replace

import pytest

from tests.tui.frame import check_frame, frame
from tests.tui.idle import all_handled, until
from tests.tui.pilot import look, open_app, press, replace_methods, send_key, settle, status_of, type_text, until_seen
from tests.tui.screens.form_services import MODEL, RUN, VALUES, FormServices, running
from tests.tui.screens.form_stage import BENCHMARK, Timers, focused, form_of, neighbours, open_form, timers
from tests.tui.stub_page import StubPage
from tuibench.core.engine_state import AVAILABLE, EngineState, InstallOrder
from tuibench.core.errors import UsageError
from tuibench.core.machine import EngineChoice
from tuibench.core.reason import LEGACY_TEXT
from tuibench.core.settings import benchmark as benchmark_setting
from tuibench.core.settings.setting import Group, Place, Setting
from tuibench.engines.installation import Installation
from tuibench.present.error.words import hint_words, message_words
from tuibench.services.form_values import FormCheck, FormValues
from tuibench.tui.screens.form.summary import busy_words, wrong_words
from tuibench.tui.terminal import Display

__all__ = ["neighbours", "timers"]


async def test_form_matches_golden_frame_and_run_page_does_not_return_to_it() -> None:
    async with open_form(FormServices(), project="p1") as (app, pilot):
        check_frame(app, "form-80x24")
        home = app.screen_stack[-2]
        await press(pilot, "ctrl+r")
        assert app.screen_stack[-2] is home


async def test_form_in_ascii_matches_golden_frame() -> None:
    async with open_form(FormServices(), project="p1", display=Display(ascii_only=True)) as (app, _):
        check_frame(app, "form-ascii")
        assert frame(app).isascii()


async def test_model_path_one_key_starts_measurement_and_shows_notes() -> None:
    services = FormServices()
    services.notes = ("4 given more than once, measured once", "saved nowhere")
    async with open_form(services, path=MODEL) as (app, pilot):
        assert services.opened == [("", "", MODEL)]
        assert focused(app) == "RUN"
        await press(pilot, "enter")
        assert services.started == [(VALUES, "", "")]
        assert isinstance(app.page, StubPage) and app.page.called == ("run", (RUN,), {})
        assert status_of(app).said == "; ".join(services.notes)


async def test_dashboard_given_path_opens_its_form() -> None:
    services = FormServices()
    async with open_app(services=services, path=MODEL) as (app, pilot):
        await until(lambda: form_of(app).ready)
        await press(pilot, "enter")
        assert services.started == [(VALUES, "", "")]
        await press(pilot, "escape")
        assert isinstance(app.page, StubPage) and app.page.called[0] == "home"


@pytest.mark.parametrize("over", ["f2", "ctrl+p"])
async def test_run_started_behind_other_screen_opens_later(over: str) -> None:
    services = FormServices()
    services.gate.clear()
    async with open_form(services, path=MODEL) as (app, pilot):
        form = app.screen
        await pilot.press("ctrl+r", over)
        await until(lambda: app.screen is not form)
        above = app.screen
        services.gate.set()
        await settle(pilot)
        assert app.screen is above and services.started == [(VALUES, "", "")]
        await press(pilot, "escape")
        assert isinstance(app.page, StubPage) and app.page.called == ("run", (RUN,), {})
        assert form not in app.screen_stack


async def test_all_errors_appear_at_once_beside_fields() -> None:
    wrong = replace(
        VALUES, engines=(), scenarios="", cores="0", batches="x", dims=(("seq", "-"),), streams="none", target="a",
        warmup_s="b", name="n" * 1000,
    )  # fmt: skip
    services = FormServices(wrong, error="there is no such file; name another", summary=None)
    async with open_form(services, project="p1") as (app, pilot):
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
        assert services.started == []
        assert focused(app) == "model"


async def test_run_button_moves_to_first_invalid_field() -> None:
    services = FormServices(replace(VALUES, batches="x", streams="y"))
    async with open_form(services, project="p1") as (app, pilot):
        await press(pilot, "enter")
        assert focused(app) == "batches"
        assert status_of(app).said.removeprefix("! ") == wrong_words(["Batches", "Streams"])
        await type_text(pilot, "4")
        await press(pilot, "ctrl+r")
        assert focused(app) == "streams"
        await type_text(pilot, "2")
        await press(pilot, "ctrl+r")
        assert [values.batches + values.streams for values, _, _ in services.started] == ["42"]


async def test_form_is_checked_after_typing_pauses(timers: Timers) -> None:
    services = FormServices()
    async with open_form(services, benchmark=BENCHMARK) as (app, pilot):
        before = len(services.checked)
        await press(pilot, "1", "-", "1", "7")
        assert len(services.checked) == before
        assert timers.ring() == 1
        await settle(pilot)
        assert [values.cores for values in services.checked[before:]] == ["1-17"]
        assert timers.waits == [0.15] * 4
        assert "16" in form_of(app).errors()["cores"]


async def test_run_button_pressed_twice_starts_once() -> None:
    services = FormServices()
    services.gate.clear()
    async with open_form(services, project="p1") as (app, pilot):
        for key in ("ctrl+r", "ctrl+r", "enter", "escape"):
            send_key(app, key)
            await all_handled()
        await until(lambda: "please wait" in frame(app))
        assert isinstance(app.page, type(form_of(app)))
        services.gate.set()
        await settle(pilot)
        assert len(services.started) == 1


async def test_pending_check_does_not_block_start() -> None:
    services = FormServices()
    async with open_form(services, project="p1") as (app, pilot):
        services.checking.clear()
        form = form_of(app)
        for _ in range(2):
            form.action_run_form()
            form.check()
            await all_handled()
        services.checking.set()
        await settle(pilot)
        assert len(services.started) == 1


async def test_refused_start_leaves_form_unchanged() -> None:
    services = FormServices()
    services.refusal = error = UsageError(LEGACY_TEXT, text="another one measures", hint="wait for it")
    async with open_form(services, project="p1") as (app, pilot):
        await press(pilot, "ctrl+r")
        assert message_words(error) in frame(app) and hint_words(error) in frame(app) and status_of(app).kind == "bad"
        services.refusal = None
        await press(pilot, "ctrl+r")
        assert len(services.started) == 1


async def test_form_load_failure_shows_reason() -> None:
    async with open_form(FormServices(), path="/nothing.onnx") as (app, pilot):
        assert focused(app) == "model"
        assert frame(app).count("/nothing.onnx") == 2, "in the field and in the error"
        await press(pilot, "ctrl+r")
        assert isinstance(app.page, type(form_of(app)))


async def test_space_toggles_installed_engines_only() -> None:
    async with open_form(FormServices(), (120, 36), project="p1") as (app, pilot):
        form_of(app).column.focus_field("engines")
        await press(pilot, "right", "space")
        assert form_of(app).column.values().engines == ("onnxruntime", "openvino")
        await press(pilot, "right", "space")
        assert form_of(app).column.values().engines == ("onnxruntime",)
        assert "[attic]" in frame(app)
        await press(pilot, "left", "space")
        form_of(app).check()
        await settle(pilot)
        assert form_of(app).errors()["engines"]


async def test_missing_engine_is_installed_from_its_field() -> None:
    services = FormServices()
    missing = EngineChoice("deepsparse", False, "", "tuibench engines install deepsparse")
    ready = EngineChoice("deepsparse", True, "1.8.0", "", ("f32",))
    services.machine_now = replace(services.machine_now, engines=(*services.machine_now.engines, missing))
    asked: list[InstallOrder] = []

    def install(order: InstallOrder, *_: object) -> tuple[Installation, bool]:
        asked.append(order)
        services.machine_now = replace(services.machine_now, engines=(*services.machine_now.engines[:-1], ready))
        return Installation("deepsparse@1.8.0", "3.10.13"), True

    state = EngineState("deepsparse", AVAILABLE, "1.8.0")
    replace_methods(services, engines__install=install, engines__state=lambda _: state)
    async with open_form(services, (120, 36), project="p1") as (app, pilot):
        form_of(app).column.focus_field("engines")
        await press(pilot, "i")
        assert "move to an engine" in status_of(app).said
        await press(pilot, "right", "right", "space", "i", "y")
        await until_seen(pilot, lambda: status_of(app).said.startswith("installed deepsparse@1.8.0"))
        assert asked == [InstallOrder("deepsparse", accepts_licence=True)]
        await until_seen(pilot, lambda: "deepsparse 1.8.0" in frame(app))
        await press(pilot, "space")
        assert form_of(app).column.values().engines == ("onnxruntime", "deepsparse")


async def test_engine_that_was_installed_elsewhere_can_be_chosen() -> None:
    services = FormServices()
    missing = EngineChoice("deepsparse", False, "", "tuibench engines install deepsparse")
    own = services.machine_now.engines
    services.machine_now = replace(services.machine_now, engines=(*own, missing))
    async with open_form(services, (120, 36), project="p1") as (app, pilot):
        form_of(app).column.focus_field("engines")
        await press(pilot, "right", "right", "space")
        assert "deepsparse (not installed: i installs)" in frame(app)
        app.push_screen(StubPage("cover"))
        await settle(pilot)
        ready = EngineChoice("deepsparse", True, "1.8.0", "", ("f32",))
        services.machine_now = replace(services.machine_now, engines=(*own, ready))
        app.pop_screen()
        await until_seen(pilot, lambda: "deepsparse 1.8.0" in frame(app))
        await press(pilot, "space")
        assert form_of(app).column.values().engines == ("onnxruntime", "deepsparse")


async def test_selected_engine_that_is_gone_is_installed_or_left_out() -> None:
    services = FormServices(values=replace(VALUES, engines=("onnxruntime", "deepsparse", "onnxruntime@1.20.1")))
    gone = EngineChoice("deepsparse", False, "", "tuibench engines install deepsparse")
    services.machine_now = replace(services.machine_now, engines=(*services.machine_now.engines, gone))
    asked: list[str] = []

    def state(name: str) -> EngineState:
        asked.append(name)
        return EngineState(name, AVAILABLE, "1.8.0")

    found = FormCheck(errors={"engines": "deepsparse is not installed; tuibench engines install deepsparse"})
    replace_methods(services, engines__state=state, forms__check=lambda *_: found)
    async with open_form(services, (200, 36), project="p1") as (app, pilot):
        form_of(app).column.focus_field("engines")
        await until_seen(pilot, lambda: "i in this field installs it" in frame(app))
        assert "(not installed: i installs)" in frame(app)
        await press(pilot, "i")
        assert "Install deepsparse" in frame(app)
        await press(pilot, "escape", "right", "right", "i", "escape", "right", "i", "escape")
        assert asked == ["deepsparse", "deepsparse", "onnxruntime@1.20.1"]
        await press(pilot, "space", "left", "space", "space")
        assert form_of(app).column.values().engines == ("onnxruntime",)


async def test_enter_reaches_all_fields_and_up_goes_back() -> None:
    async with open_form(FormServices(), project="p1") as (app, pilot):
        await press(pilot, "down")
        reached = [focused(app)]
        while reached[-1] != "RUN":
            await press(pilot, "enter")
            reached.append(focused(app))
        names = {one.name for one in fields(FormValues)} | {"dim:seq"}
        assert set(reached) == names - {"dims", "more", "time_s"} | {"RUN"}
        await press(pilot, "up")
        assert focused(app) == reached[-2]


async def test_key_y_copies_command_except_in_text_field() -> None:
    services = FormServices()
    async with open_form(services, project="p1") as (app, pilot):
        await press(pilot, "y")
        (copied,) = services.copied
        assert copied.split()[2:] == [MODEL, "-ncores", VALUES.cores, "-b", VALUES.batches, "--dim", "seq=128"]
        assert app.clipboard == copied and "/state/copied.txt" in frame(app)
        form_of(app).column.focus_field("name")
        await press(pilot, "y")
        assert form_of(app).column.values().name == "y"
        assert len(services.copied) == 1


async def test_declared_setting_with_place_has_field(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = Setting("prefault", "--prefault N", "pages touched", "0", at="options.prefault", place=Place("Prefault"))
    monkeypatch.setattr(benchmark_setting, "GROUPS", (*benchmark_setting.GROUPS, Group("More", (setting,))))
    services = FormServices()
    async with open_form(services, project="p1") as (app, pilot):
        form_of(app).column.focus_field("prefault")
        await type_text(pilot, "3")
        await press(pilot, "ctrl+r")
        (started,) = [values for values, *_ in services.started]
        assert started == replace(VALUES, more=(("prefault", "3"),))


async def test_escape_after_typing_asks_before_discard() -> None:
    async with open_form(FormServices(), benchmark=BENCHMARK) as (app, pilot):
        await type_text(pilot, "3")
        await press(pilot, "escape", "escape")
        assert form_of(app).column.values().cores == "3"
        await press(pilot, "escape", "n")
        assert focused(app) == "cores"
        await press(pilot, "escape", "y")
        assert isinstance(app.page, StubPage)


async def test_form_names_active_measurement_when_known() -> None:
    services = FormServices()
    async with open_form(services, project="p1") as (app, pilot):
        assert "3m10" not in frame(app)
        services.active = (running(eta_s=190.0),)
        await look(app, pilot)
        assert app.snapshot is not None and busy_words(app.snapshot) in frame(app) and "~3m10" in frame(app)


async def test_typed_text_survives_changes_by_others() -> None:
    services = FormServices()
    async with open_form(services, benchmark=BENCHMARK) as (app, pilot):
        await type_text(pilot, "3")
        services.active = (running(eta_s=1.0),)
        await look(app, pilot)
        app.go(StubPage("help"))
        await settle(pilot)
        app.go_back()
        await settle(pilot)
        assert form_of(app).column.values().cores == "3"
        assert len(services.opened) == 1


@pytest.mark.parametrize(
    "values", [FormValues(), VALUES, replace(VALUES, flags="--seed 3", effort="fixed", pin="none")]
)
async def test_untouched_values_are_returned_unchanged(values: FormValues) -> None:
    async with open_form(FormServices(values), project="p1") as (app, _):
        assert form_of(app).column.values() == values
