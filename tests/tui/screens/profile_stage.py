"""Profile pages over their own store and over services that compute theory at once."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen

from tests.present.build import model, spec
from tests.present.profile.sample_data import make_costs, make_loss, make_profile
from tests.store.build import NOW
from tests.tui.frame import frame, rows
from tests.tui.pilot import open_app, press, replace_methods, settle, status_of, type_text
from tests.tui.sample_data import add, add_project, make, make_id
from tuibench.core.profile import LOSS, Profile, ProfileSpec
from tuibench.core.result import RunResult
from tuibench.core.spec import ModelSource
from tuibench.services.api import Services
from tuibench.services.form_values import ProfileCheck, ProfileStart, ProfileValues
from tuibench.tui import route
from tuibench.tui.app import Dashboard
from tuibench.tui.terminal import Display
from tuibench.tui.widgets.status_line import StatusLine


def profile_run(number: int, ago_s: float, profile: Profile | None = None, **changes: object) -> RunResult:
    """Return a finished run that made a profile."""
    profile = profile or make_profile()
    source = ModelSource("dir/resnet50.onnx", "/models/resnet50.onnx")
    result = make(
        number,
        ago_s,
        spec=spec(models=(source,), engines=("onnxruntime",), scenarios=("sync",), cores=(2,), batches=(1,),
                  profile=ProfileSpec(profile.kind)),
        models=(model(path="/models/resnet50.onnx"),),
        profile=profile,
        anchor={},
    )  # fmt: skip
    return replace(result, **changes)  # type: ignore[arg-type]


class ProfileAnswers:
    """Profile answers of services that read no model; started runs are recorded."""

    def __init__(self, n: int = 12) -> None:
        self.n = n
        self.started: list[tuple[ProfileValues, str, str]] = []
        self.checked: list[ProfileValues] = []
        self.weighed: list[ProfileValues] = []
        self.check = ProfileCheck(performance_s=12.0, loss_s=48.0, commands=("tuibench profile dir/resnet50.onnx",))
        self.weights = self.check
        """Result of checks after the costs were counted."""
        self.start = ProfileStart(ProfileValues(batch="1", cores="2"), "dir/resnet50.onnx")
        self.runs: tuple[str, ...] = (make_id(41), make_id(42))
        self.exported: list[tuple[str, str, str]] = []
        self.notes: tuple[str, ...] = ()

    def put_on(self, services: Services) -> Services:
        """Return the services with these answers."""
        return replace_methods(
            services,
            theory__costs=lambda project: make_costs(self.n),
            theory__approximated=lambda project: make_loss(self.n, measured=False),
            theory__export=self._export,
            theory__command=lambda project, what: f"tuibench profile dir/resnet50.onnx --{what}",
            profile_forms__open=lambda project, profile="": self.start,
            profile_forms__check=self._check,
            profile_forms__weigh=self._weigh,
            profile_forms__start=self._start,
        )

    def _export(self, project: str, what: str, path: str) -> str:
        self.exported.append((project, what, path))
        return "resnet50.onnx"

    def _check(self, values: ProfileValues, project: str, rerun_of: str = "") -> ProfileCheck:
        self.checked.append(values)
        return self.check

    def _weigh(self, values: ProfileValues, project: str, rerun_of: str = "") -> None:
        self.weighed.append(values)
        self.check = self.weights

    def _start(
        self, values: ProfileValues, project: str, rerun_of: str = ""
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        self.started.append((values, project, rerun_of))
        return self.runs[: values.performance + values.loss], self.notes


class Profiled:
    """An open page with its app and store."""

    def __init__(
        self, app: Dashboard, pilot: Pilot[int], services: Services, project: str, ids: tuple[str, ...]
    ) -> None:
        self.app, self.pilot, self.services, self.project, self.ids = app, pilot, services, project, ids
        self.answers = ProfileAnswers()

    async def press(self, *keys: str) -> None:
        await press(self.pilot, *keys)

    async def type(self, text: str) -> None:
        await type_text(self.pilot, text)

    async def go(self, screen: Screen[None]) -> None:
        self.app.go(screen)
        await settle(self.pilot)

    @property
    def status(self) -> StatusLine:
        """The line of the last result or the open question."""
        return status_of(self.app)

    @property
    def text(self) -> str:
        return frame(self.app)

    @property
    def rows(self) -> list[str]:
        return rows(self.app)

    @property
    def chosen(self) -> dict[str, list[str]]:
        """Return the words of the chosen value of each selector above the bars."""
        line = next(row for row in self.rows if " as [" in row)
        return {name: value.split() for name, value in re.findall(r"(\S+) \[([^\]]+)\]", line)}

    @property
    def news(self) -> str:
        """Return the status line."""
        return self.rows[-3]


def stock_profiles(services: Services) -> tuple[str, tuple[str, ...]]:
    """Store a project with two performance profiles and a loss profile; return ids, newest first."""
    project = add_project(services)
    ids = (
        add(services, profile_run(1, 3600), project, name="baseline", note="before the fix"),
        add(services, profile_run(2, 7200, make_profile(13)), project, name="older"),
        add(services, profile_run(3, 9000, make_profile(kind=LOSS)), project, name="losses"),
    )
    return project, ids


@asynccontextmanager
async def profiled(
    size: tuple[int, int] = (80, 24),
    *results: RunResult,
    answers: ProfileAnswers | None = None,
    display: Display | None = None,
    driver: type[Any] | None = None,
) -> AsyncIterator[Profiled]:
    """Open the home screen over a project with profiles, or with these results alone."""
    services = Services()
    if results:
        project = add_project(services)
        ids = tuple(add(services, result, project, name="baseline") for result in results)
    else:
        project, ids = stock_profiles(services)
    answers = answers or ProfileAnswers()
    services = answers.put_on(services)
    async with open_app(size, services=services, display=display, driver=driver, headless=driver is None) as (
        app,
        pilot,
    ):
        seen = Profiled(app, pilot, services, project, ids)
        seen.answers = answers
        yield seen


def moment(ago_s: float) -> str:
    """Return the time that many seconds ago."""
    return datetime.fromtimestamp(NOW - ago_s, UTC).isoformat()


__all__ = ["Profiled", "ProfileAnswers", "moment", "profile_run", "profiled", "route", "stock_profiles"]
