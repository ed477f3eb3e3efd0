"""Number of keys for the most common tasks from the open dashboard: the documented numbers at most."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.present.build import model
from tests.present.profile.sample_data import make_costs
from tests.tui.pilot import open_app, press, replace_methods, settle, type_text
from tests.tui.sample_data import rich_project
from tests.tui.stub_page import opened_page, stub_routes
from tuibench.core.ids import short_id
from tuibench.services.api import Services
from tuibench.services.form_values import (
    FormCheck,
    FormStart,
    FormValues,
    ProfileCheck,
    ProfileStart,
    ProfileValues,
    RerunPlan,
)
from tuibench.tui.screens.form.screen import FormScreen

VALUES = FormValues(model="/models/resnet50.onnx", scenarios="sync", cores="1,2,4", batches="1,8")


class Counted:
    """A dashboard over a project of many benchmarks that counts keys; typing is not counted."""

    def __init__(self, app: Any, pilot: Any, ids: tuple[str, ...]) -> None:
        self.app, self.pilot, self.ids = app, pilot, ids
        self.count = 0
        self.started: list[tuple[Any, ...]] = []

    async def press(self, *keys: str) -> None:
        for key in keys:
            self.count += 1
            await press(self.pilot, key)

    async def type(self, text: str) -> None:
        await type_text(self.pilot, text)


@asynccontextmanager
async def counted(path: str = "") -> AsyncIterator[Counted]:
    """Open a dashboard that records starts instead of measuring."""
    services = Services()
    _, ids = rich_project(services)
    started: list[tuple[Any, ...]] = []

    def start(values: FormValues, project: str = "", rerun_of: str = "") -> tuple[str, tuple[str, ...]]:
        started.append((values, project, rerun_of))
        return "01RUN", ()

    def rerun(benchmark: str, *, changed: bool = False) -> tuple[str, tuple[str, ...]]:
        started.append((benchmark, changed))
        return "01RUN", ()

    def start_profile(*given: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
        started.append(given)
        return ("01RUN",), ()

    def form(project: str = "", benchmark: str = "", path: str = "") -> FormStart:
        return FormStart(VALUES, f"the settings of {short_id(benchmark)}" if benchmark else "a new project", model())

    replace_methods(
        services,
        forms__open=form,
        forms__check=lambda values, summary: FormCheck(command="tuibench benchmark", cells=6),
        forms__start=start,
        reruns__plan=lambda one: RerunPlan(one, 15, 360.0, ""),
        reruns__start=rerun,
        profile_forms__open=lambda project, profile="": ProfileStart(ProfileValues(), "dir/resnet50.onnx"),
        profile_forms__check=lambda values, project, profile="": ProfileCheck(performance_s=12.0),
        profile_forms__start=start_profile,
        theory__costs=lambda project: make_costs(),
    )
    async with open_app(services=services, path=path) as (app, pilot):
        await settle(pilot)
        seen = Counted(app, pilot, ids)
        seen.started = started
        yield seen


async def test_rerun_with_other_batches_takes_at_most_five_keys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stub_routes(monkeypatch, "run")
    async with counted() as seen:
        await seen.press("R")
        assert isinstance(seen.app.page, FormScreen)
        await seen.press("enter")
        await seen.type("16,64")
        await seen.press("ctrl+r")
        assert seen.count <= 5
        values, _, rerun_of = seen.started[0]
        assert (values.cores, values.batches, rerun_of) == ("1,2,4", "16,64", seen.ids[0])
        assert opened_page(seen.app)[:2] == ("run", ("01RUN",))


async def test_first_number_of_own_model_takes_one_key(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "run")
    async with counted(path="/models/resnet50.onnx") as seen:
        assert isinstance(seen.app.page, FormScreen)
        await seen.press("enter")
        assert seen.count == 1 and len(seen.started) == 1
        assert opened_page(seen.app)[:2] == ("run", ("01RUN",))


async def test_profile_of_newest_project_takes_at_most_five_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "run")
    async with counted() as seen:
        await seen.press("enter", "2", "n", "enter")
        assert seen.count <= 5 and len(seen.started) == 1
        assert seen.started[0][0].performance and not seen.started[0][0].loss
        assert opened_page(seen.app)[:2] == ("run", ("01RUN",))
