from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.tui.frame import frame
from tests.tui.idle import all_handled, until
from tests.tui.pilot import open_app, press, replace_methods, send_key, settle, type_text
from tests.tui.screens.form_services import RUN
from tests.tui.screens.new_project_stage import page_of, put
from tests.tui.stub_page import opened_page, stub_routes
from tuibench.core.errors import ModelError, TuibenchError
from tuibench.core.reason import LEGACY_TEXT
from tuibench.present.error.words import message_words
from tuibench.services.api import Services
from tuibench.services.form_values import FormValues
from tuibench.tui.screens.form.screen import FormScreen
from tuibench.tui.screens.project.new import NewProjectScreen
from tuibench.tui.screens.project.screen import ProjectScreen

SAMPLES = Path(__file__).resolve().parents[3] / "tuibench" / "data" / "samples"


@pytest.fixture
def finder(home: Path) -> Finder:
    return Finder()


async def test_sample_reaches_form_in_three_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "form")
    async with open_app() as (app, pilot):
        await press(pilot, "enter")
        await press(pilot, "enter")
        (row,) = Services().projects.list()
        assert row.project.name == "sample" and row.project.versions[0].model.asked == "sample"
        assert opened_page(app) == ("form", (), {"project_id": row.project.id})
        await press(pilot, "escape")
        assert isinstance(app.page, ProjectScreen)


async def test_enter_does_not_wait_for_model_check(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "form")
    async with open_app() as (app, pilot):
        await pilot.press("enter")
        await pilot.press("enter")
        await settle(pilot)
        assert opened_page(app)[0] == "form"


class SlowServices(Services):
    """Services with answers about the model delayed until the test releases them."""

    def __init__(self) -> None:
        super().__init__()
        self.looked, self.read = threading.Event(), threading.Event()
        self.started: list[str] = []
        find, open_form = self.models.find, self.forms.open

        def slow_find(*given: Any) -> Any:
            self.looked.wait(30)
            return find(*given)

        def slow_open(*given: Any, **options: Any) -> Any:
            self.read.wait(30)
            return open_form(*given, **options)

        def start(values: FormValues, project: str, rerun_of: str) -> tuple[str, tuple[str, ...]]:
            self.started.append(values.model)
            return RUN, ()

        replace_methods(self, models__find=slow_find, forms__open=slow_open, forms__start=start)


@pytest.mark.parametrize("held", ["looked", "read", "neither"])
async def test_three_enters_start_first_run(monkeypatch: pytest.MonkeyPatch, held: str) -> None:
    stub_routes(monkeypatch, "run")
    services = SlowServices()
    for name, gate in {"looked": services.looked, "read": services.read}.items():
        if name != held:
            gate.set()
    async with open_app(services=services) as (app, pilot):
        send_key(app, "enter")
        await until(lambda: isinstance(app.page, NewProjectScreen) and app.page.focused is not None)
        # The input counts although the model is still being read.
        send_key(app, "enter")
        if held == "looked":
            await until(lambda: isinstance(app.page, NewProjectScreen) and app.page._wanted is not None)
        elif held == "read":
            await until(lambda: isinstance(app.page, FormScreen))
            send_key(app, "enter")
            await all_handled()
            assert services.started == [], "a key before there are fields is ignored"
        services.looked.set()
        services.read.set()
        await until(lambda: isinstance(app.page, FormScreen) and app.page.ready)
        await settle(pilot)
        send_key(app, "enter")
        await until(lambda: bool(services.started))
        await settle(pilot)
        assert services.started == ["sample"] and opened_page(app)[0] == "run"


async def test_path_is_completed_and_emptied_path_clears_error(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    for name in ("first.onnx", "second.onnx", "notes.txt"):
        (tmp_path / "models" / name).write_bytes(b"")
    async with open_app() as (app, pilot):
        # tab completes the common prefix and lists matches
        await press(pilot, "n")
        await put(app, pilot, f"{tmp_path}/mo")
        await press(pilot, "tab")
        field = page_of(app).column.fields["model"]
        assert field.answer == f"{tmp_path}/models/"
        await press(pilot, "tab")
        assert "first.onnx" in frame(app) and "second.onnx" in frame(app) and "notes.txt" not in frame(app)
        assert field.has_focus_within
        # an emptied path has no error of the previous one
        await type_text(pilot, "missing.onnx")
        await press(pilot, "enter")
        missing = field.error
        assert missing
        page_of(app).column.focus_field("model")
        await press(pilot, "ctrl+u")
        assert (field.answer, field.error) == ("", "")
        await press(pilot, "ctrl+r")
        assert field.error not in ("", missing)


async def test_invalid_model_shows_error_beside_field(tmp_path: Path) -> None:
    (tmp_path / "text.onnx").write_text("hello")
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "fifo.onnx")
    cases = {
        f"{tmp_path}/missing.onnx": "no such",
        f"{tmp_path}/text.onnx": "ONNX",
        f"{tmp_path}/empty": "directory",
        f"{tmp_path}/fifo.onnx": "pipe",
        "zoo:cv/resnet": "SparseZoo",
        "http://example.com/a.onnx": "secure",
    }
    async with open_app((120, 36)) as (app, pilot):
        await press(pilot, "n")
        for token, word in cases.items():
            await put(app, pilot, token)
            error = page_of(app).column.fields["model"].error
            assert word in error, error
            assert f"! {error}"[:60] in frame(app)
            await press(pilot, "ctrl+r")
            assert Services().projects.list() == ()


async def test_dims_are_asked_once_checked_and_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "form")
    async with open_app() as (app, pilot):
        await press(pilot, "n")
        await put(app, pilot, "sample:text")
        assert "dim:sequence" in page_of(app).column.fields
        # another model replaces the dims
        await put(app, pilot, "sample:tiny")
        assert not [name for name in page_of(app).column.fields if name.startswith("dim:")]
        await put(app, pilot, "sample:text")
        # errors prevent the start
        await put(app, pilot, "many", "dim:sequence")
        await put(app, pilot, "", "name")
        await press(pilot, "ctrl+r")
        assert all(page_of(app).column.fields[name].error[:30] in frame(app) for name in ("name", "dim:sequence"))
        assert Services().projects.list() == ()
        await put(app, pilot, "words", "name")
        await put(app, pilot, "128", "dim:sequence")
        await press(pilot, "ctrl+r")
        (row,) = Services().projects.list()
        assert (row.project.name, row.project.dims) == ("words", {"sequence": 128})


async def test_known_model_opens_existing_project(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "form")
    async with open_app() as (app, pilot):
        await press(pilot, "enter", "enter", "escape", "escape", "n")
        await put(app, pilot, str(SAMPLES / "cnn.onnx"))
        assert "already" in frame(app)
        await press(pilot, "ctrl+r")
        (row,) = Services().projects.list()
        assert opened_page(app) == ("form", (), {"project_id": row.project.id})


class Finder:
    """The real services with models set by the test; each query waits for the gate."""

    def __init__(self) -> None:
        self.services: Services = Services()
        self.asked: list[str] = []
        self.gate = threading.Event()
        self.gate.set()
        self.problem: TuibenchError | None = None
        self.name = ""
        real = self.services.models.find

        def find(text: str, tell: Any = None) -> Any:
            self.asked.append(text)
            self.gate.wait(30)
            if self.problem is not None:
                raise self.problem
            return replace(real("sample:tiny"), name=self.name or text)

        replace_methods(self.services, models__find=find)


async def test_other_model_replaces_default_name_only(finder: Finder) -> None:
    async with open_app(services=finder.services) as (app, pilot):
        await press(pilot, "n")
        for name in ("alpha", "beta"):
            finder.name = name
            await put(app, pilot, f"{name}.onnx")
            assert page_of(app).column.fields["name"].answer == name
        await put(app, pilot, "mine", "name")
        finder.name = "gamma"
        await put(app, pilot, "gamma.onnx")
        assert page_of(app).column.fields["name"].answer == "mine"


async def test_failed_model_check_can_be_retried(finder: Finder, monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "form")
    finder.problem = ModelError(LEGACY_TEXT, text="no such file", hint="put it there")
    async with open_app(services=finder.services) as (app, pilot):
        await press(pilot, "n")
        await put(app, pilot, "m.onnx")
        page_of(app)._look_when_typed()
        await settle(pilot)
        assert len(finder.asked) == 1, "a pause alone asks once"
        page_of(app).column.focus_field("model")
        await press(pilot, "enter", "ctrl+r")
        assert len(finder.asked) == 3
        finder.problem = None
        await press(pilot, "ctrl+r")
        assert opened_page(app)[0] == "form"


async def test_model_error_does_not_move_focus_while_typing(finder: Finder) -> None:
    finder.problem = ModelError(LEGACY_TEXT, text="no such file", hint="put it there")
    async with open_app(services=finder.services) as (app, pilot):
        await press(pilot, "n")
        finder.gate.clear()
        for key in ("m", "enter", "m", "y"):
            await pilot.press(key)
        finder.gate.set()
        await settle(pilot)
        fields = page_of(app).column.fields
        assert message_words(finder.problem) in fields["model"].error
        await type_text(pilot, "net")
        assert (fields["model"].answer, fields["name"].answer) == ("m", "mynet")


async def test_project_created_behind_other_screen_opens_later(finder: Finder, monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "form", "system")
    async with open_app(services=finder.services) as (app, pilot):
        await press(pilot, "n")
        finder.gate.clear()
        page = page_of(app)
        await pilot.press("m", "ctrl+r", "f2")
        finder.gate.set()
        await settle(pilot)
        assert opened_page(app)[0] == "system"
        await press(pilot, "escape")
        assert opened_page(app)[0] == "form" and page not in app.screen_stack


@pytest.mark.parametrize("keys", [("ctrl+t",), ("down", "down", "enter")])
async def test_profile_setup_opens_by_key_or_button(monkeypatch: pytest.MonkeyPatch, keys: tuple[str, ...]) -> None:
    stub_routes(monkeypatch, "profile_form")
    async with open_app() as (app, pilot):
        await press(pilot, "enter", *keys)
        (row,) = Services().projects.list()
        assert opened_page(app) == ("profile_form", (row.project.id,), {})
        await press(pilot, "escape")
        assert isinstance(app.page, ProjectScreen)
