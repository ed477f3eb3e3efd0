"""A stored profile is repeated while its model is missing: RUN's behaviour and the time of the fetch."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.refusal import refused
from tests.services.test_forms import TINY
from tests.services.test_profile_rerun import Stage, stage
from tests.services.test_project_profiles import Launched, launched
from tuibench.core.errors import ModelError
from tuibench.core.ids import short_id
from tuibench.core.reason import LEGACY_TEXT
from tuibench.core.spec import ModelSource
from tuibench.services.form_values import ProfileValues
from tuibench.services.models import Models

__all__ = ["launched", "stage"]

ADDRESS = "hf:org/repo"


class Server:
    """A server with the model of a stage, whose network may be down."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.content = target.read_bytes()
        self.is_up = True
        self.asked = 0

    def fetch(self, token: str) -> ModelSource:
        self.asked += 1
        if not self.is_up:
            raise ModelError(LEGACY_TEXT, text="huggingface.co cannot be reached", hint="try again")
        self.target.write_bytes(self.content)
        return ModelSource(token, str(self.target))


@pytest.fixture
def server(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server(stage.model)
    monkeypatch.setattr(Models, "fetch", lambda services, token, tell=None: server.fetch(token))
    return server


@pytest.fixture
def evicted(stage: Stage, server: Server) -> str:
    """Store a profile of a model that was evicted from the cache."""
    one = stage.store(ModelSource(ADDRESS, str(stage.model)), 5)
    stage.model.unlink()
    return one


def test_restored_file_is_found_when_form_reopens(stage: Stage, launched: Launched) -> None:
    away = stage.model.rename(stage.model.with_suffix(".away"))
    start = stage.services.profile_forms.open("", stage.one)
    assert "is missing" in start.error
    assert "is missing" in stage.services.profile_forms.check(start.values, start.project, stage.one).errors["model"]
    away.rename(stage.model)
    start = stage.services.profile_forms.open("", stage.one)
    assert start.error == "" and not stage.services.profile_forms.check(start.values, start.project, stage.one).errors
    stage.services.profile_forms.start(start.values, start.project, stage.one)
    assert launched[0][0].models[0].path == str(stage.model)


def test_open_fetches_nothing_and_start_fetches(stage: Stage, server: Server, evicted: str, launched: Launched) -> None:
    start = stage.services.profile_forms.open("", evicted)
    check = stage.services.profile_forms.check(start.values, start.project, evicted)
    assert (start.error, check.errors, server.asked) == ("", {}, 0)
    assert start.note == "its model is not in the cache any more: RUN fetches it"
    _, said = stage.services.profile_forms.start(start.values, start.project, evicted)
    assert (server.asked, said) == (1, ())
    assert launched[0][0].models == (ModelSource(ADDRESS, str(stage.model)),)


def test_repeat_key_without_question_names_missing_model(stage: Stage, server: Server, evicted: str) -> None:
    assert stage.services.reruns.plan(evicted).error == f"{ADDRESS} is no longer in the cache; press R to fetch it"
    assert server.asked == 0


def test_failed_fetch_without_network_can_be_retried(
    stage: Stage, server: Server, evicted: str, launched: Launched
) -> None:
    server.is_up = False
    start = stage.services.profile_forms.open("", evicted)
    for _ in range(2):
        with refused(ModelError, LEGACY_TEXT, text="huggingface.co cannot be reached"):
            stage.services.profile_forms.start(start.values, start.project, evicted)
        assert stage.services.profile_forms.check(start.values, start.project, evicted).errors == {}
    server.is_up = True
    stage.services.profile_forms.start(start.values, start.project, evicted)
    assert server.asked == 3 and len(launched) == 1


def test_fetched_model_that_differs_is_reported(stage: Stage, server: Server, evicted: str, launched: Launched) -> None:
    server.content = server.content.replace(b"tuibench", b"tuibenck", 1)
    start = stage.services.profile_forms.open("", evicted)
    _, said = stage.services.profile_forms.start(start.values, start.project, evicted)
    assert said == (f"the model changed since {short_id(evicted)}: it is measured as it is now",)


def test_costs_requiring_fetch_are_not_requested(stage: Stage, server: Server) -> None:
    def lacks() -> bool:
        return stage.services.profile_forms.check(ProfileValues(), stage.project).uncounted

    stage.model.write_bytes(server.content.replace(b"tuibench", b"tuibenck", 1))
    source = ModelSource(ADDRESS, str(stage.model))
    stage.project = stage.services.projects.create(source, "far")[0].project.id
    assert lacks()
    stage.model.unlink()
    assert not lacks() and server.asked == 0
    stage.services.profile_forms.weigh(ProfileValues(), stage.project)
    assert server.asked == 0


def test_time_estimate_uses_content_to_be_measured(stage: Stage) -> None:
    services, start = stage.services, stage.services.profile_forms.open("", stage.one)

    def took() -> float:
        services.profile_forms.weigh(start.values, stage.project, stage.one)
        check = services.profile_forms.check(start.values, stage.project, stage.one)
        assert check.performance_s is not None and not check.uncounted
        return check.performance_s

    small = took()
    shutil.copy(TINY.parent / "cnn.onnx", stage.model)
    assert services.profile_forms.check(start.values, stage.project, stage.one).uncounted
    assert took() > small
    shutil.copy(TINY, stage.model)
    assert took() == small
