"""The form and a model that changed, is missing, or gets a new path."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from tests.cli.shell import PATIENCE_S
from tests.tui.frame import frame
from tests.tui.idle import all_handled
from tests.tui.pilot import press, replace_methods, send_key, settle, status_of, type_text
from tests.tui.screens.form_services import VALUES, FormServices
from tests.tui.screens.form_stage import BENCHMARK, Timers, focused, form_of, neighbours, open_form, timers
from tests.tui.screens.stage import answers_of
from tuibench.core.errors import UsageError
from tuibench.core.reason import LEGACY_TEXT
from tuibench.services.form_values import FormStart

__all__ = ["neighbours", "timers"]


async def test_changed_model_is_measured_only_on_confirmation() -> None:
    services = FormServices(changed=True)
    async with open_form(services, benchmark=BENCHMARK) as (app, pilot):
        for answer, where in (("escape", "cores"), ("o", "model"), ("v", "")):
            await press(pilot, "ctrl+r")
            assert services.started == []
            assert {"v", "o"} <= {*answers_of(status_of(app))}
            await press(pilot, answer)
            assert not where or focused(app) == where
        assert len(services.started) == 1


async def test_missing_model_path_can_be_replaced(timers: Timers) -> None:
    services = FormServices(error="/models/resnet50.onnx is gone; name the file as it is called now")
    other = replace(VALUES, model="/new.onnx", dims=(("length", "64"), ("seq", "7")))
    services.other_models["/new.onnx"] = FormStart(other, "the defaults", None)
    async with open_form(services, benchmark=BENCHMARK) as (app, pilot):
        assert focused(app) == "model"
        assert " gone; " in frame(app)
        await press(pilot, "ctrl+r")
        assert services.started == []
        await type_text(pilot, "/new.onnx")
        timers.ring()
        await settle(pilot)
        assert 0.4 in timers.waits
        assert form_of(app).column.values() == replace(
            VALUES, model="/new.onnx", dims=(("length", "64"), ("seq", "128"))
        )
        assert focused(app) == "model"
        await press(pilot, "ctrl+r")
        assert [values.model for values, _, _ in services.started] == ["/new.onnx"]


async def test_replaced_model_path_runs_before_it_is_loaded(timers: Timers) -> None:
    services = FormServices(error="gone; look for it")
    async with open_form(services, benchmark=BENCHMARK) as (_, pilot):
        await type_text(pilot, "/new.onnx")
        await press(pilot, "ctrl+r")
        assert [values.model for values, _, _ in services.started] == ["/new.onnx"]
        assert timers.waiting


async def test_model_load_does_not_interrupt_typing(timers: Timers) -> None:
    services = FormServices()
    services.other_models["/new.onnx"] = FormStart(replace(VALUES, dims=(("length", "64"),)), "the defaults", None)
    async with open_form(services, benchmark=BENCHMARK) as (app, pilot):
        form_of(app).column.focus_field("model")
        await type_text(pilot, "/new.onnx")
        form_of(app).column.focus_field("cores")
        await type_text(pilot, "1")
        timers.ring()
        await settle(pilot)
        await type_text(pilot, "2")
        values = form_of(app).column.values()
        assert (values.cores, values.dims) == ("12", (("length", "64"),))
        lines = frame(app).splitlines()
        assert [line[1:8].strip() for line in lines[5:8]] == ["Batches", "length", "Streams"]
        form_of(app).column.focus_field("dim:length")
        await type_text(pilot, "x")
        timers.ring()
        await settle(pilot)
        assert list(form_of(app).errors()) == ["dim:length"]


@pytest.mark.parametrize(
    "found", [FormStart(VALUES, "", None, error="no model"), UsageError(LEGACY_TEXT, text="no model")]
)
async def test_model_result_for_old_path_is_discarded(timers: Timers, found: FormStart | UsageError) -> None:
    services, go_on = FormServices(), threading.Event()
    real = services.forms.open

    def form(project: str = "", benchmark: str = "", path: str = "") -> FormStart:
        if path != "/a.onnx":
            return real(project, benchmark, path)
        go_on.wait(PATIENCE_S)
        if isinstance(found, UsageError):
            raise found
        return replace(found, values=replace(VALUES, dims=(("other", "1"),)))

    replace_methods(services, forms__open=form)
    async with open_form(services, benchmark=BENCHMARK) as (app, pilot):
        form_of(app).column.focus_field("model")
        await type_text(pilot, "/a.onnx")
        timers.ring()
        await all_handled()
        for key in "bc":
            send_key(app, key)
            await all_handled()
        go_on.set()
        await settle(pilot)
        page = form_of(app)
        assert page.column.values() == replace(VALUES, model="/a.onnxbc")
        assert "model" not in page.errors()
