from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.tui.frame import check_frame, frame
from tests.tui.landing import land, landed
from tests.tui.pilot import make_desk, open_app, press, settle
from tuibench.core.remote import FetchProgress
from tuibench.tui import route
from tuibench.tui.app import Dashboard
from tuibench.tui.desk import Desk
from tuibench.tui.screens.new_project import NewProjectScreen
from tuibench.tui.screens.project import ProjectScreen
from tuibench.tui.widgets.text_field import TextField
from tuibench.workbench.hall import Workbench

SAMPLES = Path(__file__).resolve().parents[3] / "tuibench" / "data" / "samples"


def page_of(app: Dashboard) -> NewProjectScreen:
    page = app.page
    assert isinstance(page, NewProjectScreen)
    return page


async def put(app: Dashboard, pilot: Any, text: str, name: str = "model") -> None:
    """As if it had been typed, with the pause after it over."""
    page = page_of(app)
    field = page.column.fields[name]
    assert isinstance(field, TextField)
    field.input.value = text
    await settle(pilot)
    if name == "model":
        page._look_when_typed()
        await settle(pilot)


async def test_the_sample_is_three_keys_away_from_the_form(monkeypatch: pytest.MonkeyPatch) -> None:
    land(monkeypatch, "form")
    async with open_app() as (app, pilot):
        await press(pilot, "enter")
        check_frame(app, "new-project-80x24")
        await press(pilot, "enter")
        (row,) = Workbench().projects.list()
        assert row.project.name == "sample" and row.project.versions[0].model.asked == "sample"
        assert landed(app) == ("form", (), {"project_id": row.project.id})
        await press(pilot, "escape")
        assert isinstance(app.page, ProjectScreen)


async def test_enter_does_not_wait_until_the_model_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    land(monkeypatch, "form")
    async with open_app() as (app, pilot):
        await pilot.press("enter")
        await pilot.press("enter")
        await settle(pilot)
        assert landed(app)[0] == "form"


async def test_a_project_can_be_made_without_measuring() -> None:
    async with open_app() as (app, pilot):
        await press(pilot, "enter", "down", "enter")
        assert isinstance(app.page, ProjectScreen)


async def test_tab_completes_as_far_as_there_is_one_way_and_shows_the_ways(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    for name in ("first.onnx", "second.onnx", "notes.txt"):
        (tmp_path / "models" / name).write_bytes(b"")
    async with open_app() as (app, pilot):
        await press(pilot, "n")
        await put(app, pilot, f"{tmp_path}/mo")
        await press(pilot, "tab")
        field = page_of(app).column.fields["model"]
        assert field.answer == f"{tmp_path}/models/"
        await press(pilot, "tab")
        assert "first.onnx" in frame(app) and "second.onnx" in frame(app) and "notes.txt" not in frame(app)
        assert field.has_focus_within


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("missing", "no such file"),
        ("text", "is not a readable ONNX model"),
        ("empty-directory", "is a directory without a model.onnx"),
        ("fifo", "is a pipe, not a file"),
        ("zoo", "SparseZoo's host has gone"),
        ("http", "can be changed on the way"),
    ],
)
async def test_what_is_no_model_is_said_beside_its_field(tmp_path: Path, kind: str, words: str) -> None:
    path = tmp_path / "it.onnx"
    token = {"zoo": "zoo:cv/resnet", "http": "http://example.com/a.onnx"}.get(kind, str(path))
    if kind == "text":
        path.write_text("hello")
    elif kind == "empty-directory":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    async with open_app((120, 36)) as (app, pilot):
        await press(pilot, "n")
        await put(app, pilot, token)
        error = page_of(app).column.fields["model"].error
        assert words in error, error
        assert f"! {error}"[:60] in frame(app)
        await press(pilot, "ctrl+r")
        assert Workbench().projects.list() == ()


async def test_without_a_path_it_says_what_is_wanted() -> None:
    async with open_app() as (app, pilot):
        await press(pilot, "n", "ctrl+r")
        assert "which model?" in frame(app) and Workbench().projects.list() == ()


async def test_dims_are_asked_once_checked_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    land(monkeypatch, "form")
    async with open_app() as (app, pilot):
        await press(pilot, "n")
        await put(app, pilot, "sample:text")
        assert "dim:sequence" in page_of(app).column.fields
        await put(app, pilot, "many", "dim:sequence")
        await put(app, pilot, "", "name")
        await press(pilot, "ctrl+r")
        assert "a project needs a name" in frame(app) and "a whole number from 0" in frame(app)
        await put(app, pilot, "text model", "name")
        await put(app, pilot, "128", "dim:sequence")
        await press(pilot, "ctrl+r")
        (row,) = Workbench().projects.list()
        assert (row.project.name, row.project.dims) == ("text model", {"sequence": 128})


async def test_another_model_has_other_dims() -> None:
    async with open_app() as (app, pilot):
        await press(pilot, "n")
        await put(app, pilot, "sample:text")
        await put(app, pilot, "sample:tiny")
        assert not [name for name in page_of(app).column.fields if name.startswith("dim:")]


async def test_a_model_that_a_project_has_opens_that_one(monkeypatch: pytest.MonkeyPatch) -> None:
    land(monkeypatch, "form")
    async with open_app() as (app, pilot):
        await press(pilot, "enter", "enter", "escape", "escape", "n")
        await put(app, pilot, str(SAMPLES / "cnn.onnx"))
        assert "A project has this model already" in frame(app)
        await press(pilot, "ctrl+r")
        (row,) = Workbench().projects.list()
        assert landed(app) == ("form", (), {"project_id": row.project.id})


async def test_what_was_typed_stays_when_one_comes_back() -> None:
    async with open_app() as (app, pilot):
        await press(pilot, "n")
        await put(app, pilot, "sample:tiny")
        await put(app, pilot, "mine", "name")
        await press(pilot, "f2", "escape")
        assert page_of(app).column.fields["name"].answer == "mine"
        assert page_of(app).column.fields["model"].answer == "sample:tiny"


async def test_addresses_are_fetched_by_enter_alone_and_tell_how_far_they_are() -> None:
    desk: Desk = make_desk()
    asked: list[str] = []
    real = desk.find_model

    def find(text: str, tell: Any = None) -> Any:
        asked.append(text)
        tell(FetchProgress(5_000_000, 10_000_000))
        return real("sample:tiny")

    desk.find_model = find  # type: ignore[method-assign]
    async with open_app(desk=desk) as (app, pilot):
        app.go(route.new_project())
        await settle(pilot)
        await put(app, pilot, "https://example.com/model.onnx")
        assert asked == [] and "enter fetches it" in frame(app)
        heard: list[str] = []
        page = page_of(app)
        show = page._show_summary

        def listen(lines: Any = ()) -> None:
            heard.append(str(list(lines)))
            show(lines)

        page._show_summary = listen  # type: ignore[method-assign]
        page.column.focus_field("model")
        await press(pilot, "enter")
        assert asked == ["https://example.com/model.onnx"]
        assert any("5.00 MB of 10.0 MB are here" in said for said in heard), heard
