"""The form over real services: its errors, the runs it starts and the values it saves."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.cli.running import SCRIPT, stored
from tests.cli.shell import until
from tests.conftest import ROOT
from tests.tui.frame import frame
from tests.tui.pilot import open_app, press, settle, type_text
from tests.tui.screens.form_stage import focused, form_of, open_page
from tests.tui.stub_page import StubPage, stub_routes
from tuibench.services.api import Services
from tuibench.tui.app import Dashboard
from tuibench.tui.widgets.field import TextField

SAMPLES = ROOT / "tuibench" / "data" / "samples"


@pytest.fixture(autouse=True)
def neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the screens around the form by placeholders; install the scripted engine's times."""
    stub_routes(monkeypatch, "home", "run")
    for name, value in SCRIPT.items():
        monkeypatch.setenv(name, value)


@asynccontextmanager
async def open_real(
    project: str = "", benchmark: str = "", path: str = ""
) -> AsyncIterator[tuple[Dashboard, Pilot[int]]]:
    async with open_app((120, 36), services=Services(hidden=True)) as (app, pilot):
        await open_page(app, pilot, project, benchmark, path)
        yield app, pilot


async def fill(app: Dashboard, pilot: Pilot[int], **texts: str) -> None:
    """Go to each named field and type its text."""
    for name, text in texts.items():
        form_of(app).column.focus_field(name.replace("dim_", "dim:"))
        await settle(pilot)
        await type_text(pilot, text)


async def make_brief(app: Dashboard, pilot: Pilot[int]) -> None:
    """Set one execution of the scripted engine alone."""
    form_of(app).column.focus_field("engines")
    await settle(pilot)
    await press(pilot, "space", "right", "right", "space", "enter", "space")
    await fill(app, pilot, cores="1", flags="--executions 1", effort="")
    await press(pilot, "right", "right", "right", "enter")
    await type_text(pilot, "0.1")
    await press(pilot, "enter")
    await type_text(pilot, "0.05")


async def check(app: Dashboard, pilot: Pilot[int]) -> None:
    form_of(app).check()
    await settle(pilot)


@pytest.mark.slow
async def test_benchmark_from_form_is_stored_and_refills_form() -> None:
    async with open_real(path="sample:tiny") as (app, pilot):
        await make_brief(app, pilot)
        await fill(app, pilot, batches="1,2", name="first")
        await press(pilot, "ctrl+r")
        assert isinstance(app.page, StubPage), frame(app)
        name, (run,), _ = app.page.called
        assert name == "run"
        until(stored, "its result")
        assert stored() == [run]
        await open_page(app, pilot, benchmark=run)
        assert focused(app) == "cores"
        values = form_of(app).column.values()
        assert (values.batches, values.engines, values.scenarios) == ("1,2", ("fake",), "sync")
        await press(pilot, "enter")
        await type_text(pilot, "4")
        await press(pilot, "ctrl+r")
        until(lambda: len(stored()) == 2, "the second result")
        newest = Services().library.list()[0]
        assert (newest.rerun_of, newest.batches) == (run, "4")
        project = newest.project
        assert project
        await open_page(app, pilot, project)
        assert form_of(app).column.values().batches == "4"


async def test_all_errors_are_found_at_once() -> None:
    async with open_real(path="sample:text") as (app, pilot):
        form_of(app).column.focus_field("engines")
        await settle(pilot)
        await press(pilot, "space")
        wrong = {
            "cores": "0", "batches": "x", "dim_sequence": "-1", "streams": "none", "target": "a", "warmup_s": "b",
            "compare_to": "nothing", "against": "nowhere.onnx", "name": "n" * 201, "flags": "--nonsense",
            "model": "nowhere.onnx",
        }  # fmt: skip
        for name, text in wrong.items():
            field = form_of(app).column.fields[name.replace("dim_", "dim:")]
            assert isinstance(field, TextField)
            field.put(text)
        await settle(pilot)
        await check(app, pilot)
        errors = form_of(app).errors()
        assert set(errors) == {name.replace("dim_", "dim:") for name in wrong} | {"engines"}
        assert next(iter(errors)) == "model"
        await press(pilot, "ctrl+r")
        assert focused(app) == "model"
        assert Services().runs.every() == ()


@pytest.mark.parametrize("kind", ["nothing", "directory", "fifo", "text", "remote"])
async def test_invalid_model_shows_error_beside_field(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    if kind == "directory":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "text":
        path.write_text("this is no model")
    asked = "https://127.0.0.1:9/model.onnx" if kind == "remote" else str(path)
    async with open_real(path=asked) as (app, pilot):
        assert focused(app) == "model"
        error = form_of(app).errors()["model"]
        assert error and " ! " in frame(app)
        await press(pilot, "ctrl+r")
        assert focused(app) == "model" and Services().runs.every() == ()
