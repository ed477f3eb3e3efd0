from __future__ import annotations

import os
from dataclasses import replace
from itertools import product
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.cli.shell import until
from tests.present.profile.sample_data import make_costs
from tests.tui.counting import CountingDriver, bytes_of
from tests.tui.frame import frame, rows
from tests.tui.pilot import open_app, press, replace_methods, settle, status_of
from tests.tui.screens.stage import answers_of
from tuibench.core.errors import ModelError
from tuibench.core.model import ModelState
from tuibench.core.profile import CostProfile
from tuibench.core.reason import LEGACY_TEXT
from tuibench.core.spec import ModelSource
from tuibench.core.stored import ProjectRow
from tuibench.services.api import Services
from tuibench.services.models import Found
from tuibench.tui import route
from tuibench.tui.app import Dashboard
from tuibench.tui.screens.base import Page
from tuibench.tui.screens.project.home import HomeScreen
from tuibench.tui.screens.project.model import cost_lines
from tuibench.tui.screens.project.screen import ProjectScreen
from tuibench.tui.screens.project.settings import ProjectSettings
from tuibench.tui.widgets.field import TextField
from tuibench.tui.widgets.painted import glyphs_of, shown

SAMPLE = Path(__file__).resolve().parents[3] / "tuibench" / "data" / "samples" / "text.onnx"


def project_of(path: Path, dims: dict[str, int] | None = None) -> str:
    row, _ = Services().projects.create(ModelSource(str(path), str(path)), "mine", "of text", dims)
    return row.project.id


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(SAMPLE.read_bytes())
    return path


def spoil(path: Path) -> None:
    path.write_bytes(SAMPLE.read_bytes() + b"\0")


async def settings(app: Dashboard, pilot: Any, project: str) -> ProjectSettings:
    app.go(route.project(project, "settings"))
    await settle(pilot)
    return app.page.query_one(ProjectSettings)


def page_of(app: Dashboard) -> type[Page]:
    """Return the kind of the current page."""
    return type(app.page)


async def put(pilot: Any, pane: ProjectSettings, name: str, text: str) -> None:
    field = pane.column.fields[name]
    assert isinstance(field, TextField)
    field.input.value = text
    await settle(pilot)


async def test_settings_are_shown_saved_and_changes_by_others_kept(model: Path) -> None:
    project = project_of(model, {"sequence": 64})
    async with open_app((120, 36)) as (app, pilot):
        # fields versions and model are shown
        pane = await settings(app, pilot, project)
        assert pane.column.fields["name"].answer == "mine"
        assert pane.column.fields["dim:sequence"].answer == "64"
        text = frame(app)
        assert "unchanged" in text and "original" in text and "input_ids" in text
        # concurrent changes are shown and not reverted
        pane = await settings(app, pilot, project)
        Services().projects.edit(project, description="theirs", dims={"sequence": 128})
        await press(pilot, "1", "4")
        assert pane.column.fields["dim:sequence"].answer == "128" and not pane.unsaved
        await put(pilot, pane, "name", "new")
        pane.save()
        await settle(pilot)
        found = Services().projects.get(project).project
        assert (found.name, found.description, found.dims) == ("new", "theirs", {"sequence": 128})
        # a concurrent change below typed text is not overwritten either
        await put(pilot, pane, "name", "newer")
        Services().projects.edit(project, description="changed", dims={"sequence": 256})
        await press(pilot, "1", "4")
        assert pane.column.fields["name"].answer == "newer" and " yet" in frame(app)
        pane.save()
        await settle(pilot)
        found = Services().projects.get(project).project
        assert (found.name, found.description, found.dims) == ("newer", "changed", {"sequence": 256})
        assert pane.column.fields["description"].answer == "changed" and " yet" not in frame(app)
        # dims can be cleared and set again by the button
        for text, dims in (("", {}), ("32", {"sequence": 32})):
            await put(pilot, pane, "dim:sequence", text)
            pane.column.focus_field("save")
            await press(pilot, "enter")
            assert Services().store.projects.get(project).dims == dims
            assert status_of(app).said


def counting(services: Services, costs: CostProfile | str) -> tuple[Services, list[str]]:
    """Return the services with these costs or this error, and the list of its cost requests."""
    asked: list[str] = []

    def count(project: str) -> CostProfile:
        asked.append("costs")
        if isinstance(costs, str):
            raise ModelError(LEGACY_TEXT, text=costs)
        return costs

    replace_methods(services, theory__costs=count)
    return services, asked


async def test_model_cost_is_shown_and_unchanged_cost_sends_nothing(model: Path) -> None:
    project = project_of(model, {"sequence": 64})
    services, asked = counting(Services(), make_costs(12))
    async with open_app((120, 36), services=services, driver=CountingDriver, headless=False) as (app, pilot):
        pane = await settings(app, pilot, project)
        lines = cost_lines(make_costs(12), glyphs_of(False))
        assert len(lines) == 3 and all("".join(text for text, _ in shown(line)) in frame(app) for line in lines)
        assert asked == ["costs"] and "837 M" in frame(app)
        assert await bytes_of(pilot, pane.open) == 0
        assert asked == ["costs", "costs"]


async def test_missing_cost_is_counted_and_uncountable_is_unknown(model: Path) -> None:
    project = project_of(model, {"sequence": 64})
    services, asked = counting(Services(), make_costs(12))
    async with open_app((120, 36), services=services) as (app, pilot):
        pane = await settings(app, pilot, project)
        assert "M FLOPs" in frame(app) and asked == ["costs"]
        # Other sizes have other costs.
        await put(pilot, pane, "dim:sequence", "128")
        pane.save()
        await settle(pilot)
        assert asked == ["costs"] * 2
    services, _ = counting(Services(), why := "no rule for any of its layers")
    async with open_app((120, 36), services=services) as (app, pilot):
        await settings(app, pilot, project)
        assert why in frame(app)
    os.unlink(model)
    services, asked = counting(Services(), make_costs(12))
    async with open_app((120, 36), services=services) as (app, pilot):
        await settings(app, pilot, project)
        assert any("cost" in row and "missing" in row for row in rows(app)) and asked == []


async def test_leaving_with_unsaved_text_asks_first(model: Path) -> None:
    project = project_of(model)
    async with open_app() as (app, pilot):

        async def leave(typed: str, key: str, tab: str) -> ProjectSettings:
            """Type a description, then press the key on another tab."""
            pane = await settings(app, pilot, project)
            await put(pilot, pane, "description", typed)
            await press(pilot, tab)
            app.page.set_focus(None)
            await press(pilot, key)
            return pane

        for key, tab in product(("escape", "q"), "12"):
            before, typed = Services().store.projects.get(project).description, f"{key} from {tab}"
            pane = await leave(typed, key, tab)
            assert {"s", "d"} <= {*answers_of(status_of(app))}
            await press(pilot, "escape")
            assert page_of(app) is ProjectScreen and pane.column.fields["description"].answer == typed
            await press(pilot, key, "d")
            assert page_of(app) is HomeScreen
            assert Services().store.projects.get(project).description == before
            await leave(typed, key, tab)
            await press(pilot, "s")
            assert page_of(app) is HomeScreen
            assert Services().store.projects.get(project).description == typed


async def test_errors_stay_beside_fields_and_prevent_leaving(model: Path) -> None:
    project = project_of(model, {"sequence": 64})
    Services().projects.duplicate(project, "taken")
    async with open_app() as (app, pilot):
        # a project without a name cannot be left
        pane = await settings(app, pilot, project)
        await put(pilot, pane, "name", "")
        await press(pilot, "1", "q", "s")
        assert page_of(app) is ProjectScreen and pane.column.fields["name"].error in frame(app)
        assert pane.column.fields["name"].error
        # all errors stay beside their fields while others are typed in
        await put(pilot, pane, "name", "x" * 1000)
        await put(pilot, pane, "dim:sequence", "many")
        pane.column.focus_field("description")
        await settle(pilot)
        name, dim = (f"! {pane.column.fields[one].error}"[:40] for one in ("name", "dim:sequence"))
        assert len(name) > 20 < len(dim) and name in frame(app) and dim in frame(app)
        pane.save()
        await press(pilot, "down", "down")
        assert name in frame(app) and Services().store.projects.get(project).name == "mine"
        await put(pilot, pane, "name", "yours")
        assert name not in frame(app) and dim in frame(app)
        # so does the error of a name that the store refuses
        await put(pilot, pane, "name", "taken")
        await put(pilot, pane, "dim:sequence", "64")
        pane.save()
        await settle(pilot)
        assert " taken " in pane.column.fields["name"].error
        await press(pilot, "down")
        assert pane.column.fields["name"].error in frame(app)


async def test_changed_and_missing_model_are_shown(model: Path) -> None:
    project = project_of(model)
    async with open_app((200, 40)) as (app, pilot):
        spoil(model)
        await settings(app, pilot, project)
        assert "changed since" in frame(app)
        app.go_back()
        os.unlink(model)
        await settings(app, pilot, project)
        assert f"{model} is" in frame(app) and "missing" in frame(app)


async def test_dims_appear_in_either_read_order(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    services, seen = Services(), Event()
    project = project_of(model)
    async with open_app((120, 36), services=services) as (app, pilot):
        app.go(route.project(project))
        await settle(pilot)
        read, state, show, asked = (
            services.projects.get,
            services.projects.newest_state,
            ProjectSettings._show_model,
            [],
        )

        def late(one: str) -> ProjectRow:
            asked.append(one)
            if len(asked) == 1:
                assert seen.wait(30)
            return read(one)

        def behind(one: str) -> ModelState:
            # The model query that follows reads the project as well.
            until(lambda: asked, "the first question")
            return state(one)

        def note(pane: ProjectSettings, found: Found) -> None:
            show(pane, found)
            seen.set()

        monkeypatch.setattr(services.projects, "get", late)
        monkeypatch.setattr(services.projects, "newest_state", behind)
        monkeypatch.setattr(ProjectSettings, "_show_model", note)
        await press(pilot, "4")
        fields = app.page.query_one(ProjectSettings).column.fields
        assert fields["name"].answer == "mine" and fields["dim:sequence"].answer == ""


def test_unknown_cost_is_not_zero() -> None:
    costs = make_costs(12)
    nodes = tuple(replace(node, macs=None, element_flops=None) for node in costs.nodes)
    unknown = replace(costs, nodes=nodes, macs=0, element_flops=0, batch=None, dims={})
    (label, _), (said, _) = shown(cost_lines(unknown, glyphs_of(False))[0])
    assert label.strip() == "cost" and said.count("unknown") == 2 and "0" not in said
