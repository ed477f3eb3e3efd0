"""The model that is measured when a stored profile is repeated with changes."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.refusal import refused
from tests.services.test_forms import TINY, alter
from tests.services.test_project_profiles import Launched, launched
from tests.tui.sample_data import add
from tests.tui.screens.profile_stage import profile_run
from tuibench.core.ids import short_id
from tuibench.core.spec import ModelSource
from tuibench.services.api import Services
from tuibench.services.models import Models
from tuibench.services.reruns import ModelGone

__all__ = ["launched"]


class Stage:
    """A profile of a model named relative to its directory."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir()
        self.model = Path(shutil.copy(TINY, directory / "net.onnx"))
        self.services = Services()
        source = ModelSource("net.onnx", str(self.model))
        self.project = self.services.projects.create(source, "net")[0].project.id
        self.one = self.store(source)

    def store(self, source: ModelSource, number: int = 9) -> str:
        summary = replace(self.services.projects.look(ModelSource("net.onnx", str(self.model)))[0], path=source.path)
        made = profile_run(number, 60, models=(summary,))
        return add(self.services, replace(made, spec=replace(made.spec, models=(source,), cores=(1,))), self.project)

    def again(self, one: str = "") -> None:
        one = one or self.one
        start = self.services.profile_forms.open("", one)
        self.services.profile_forms.start(start.values, start.project, one)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path / "there")


@pytest.fixture
def other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a model of the same name in the directory where the dashboard was opened."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    path = Path(shutil.copy(TINY, "net.onnx")).absolute()
    alter(path)
    return path


def test_relative_model_name_resolves_to_measured_file(stage: Stage, other: Path, launched: Launched) -> None:
    start = stage.services.profile_forms.open("", stage.one)
    assert (start.model, start.error, start.note) == ("net.onnx", "", "")
    (command,) = stage.services.profile_forms.check(start.values, start.project, stage.one).commands
    assert str(stage.model) in command
    stage.again()
    assert launched[0][0].models[0].path == str(stage.model) != str(other)


def test_changed_model_file_is_reported(stage: Stage, launched: Launched) -> None:
    alter(stage.model)
    start = stage.services.profile_forms.open("", stage.one)
    changed = f"the model changed since {short_id(stage.one)}: RUN measures the current file"
    assert (start.note, start.error) == (changed, "")
    stage.again()
    assert launched[0][0].models[0].path == str(stage.model)


def test_missing_model_prevents_start_and_shows_alternative(stage: Stage, launched: Launched) -> None:
    stage.model.unlink()
    start = stage.services.profile_forms.open("", stage.one)
    assert "is missing; tuibench rerun" in start.error and "--model PATH" in start.error
    assert stage.services.profile_forms.check(start.values, start.project, stage.one).errors == {"model": start.error}
    with refused(ModelGone, "measured_model_gone"):
        stage.again()
    assert launched == []
    # The repeat key without a question gives the same error: the set-up has no field for another file.
    way = f"tuibench rerun {short_id(stage.one)} --model PATH gives its new path"
    said = stage.services.reruns.plan(stage.one).error
    assert way in start.error and said == f"{stage.model.name} is missing: {way} (was {stage.model})"


def test_record_without_directories_matches_no_local_file(stage: Stage, other: Path, launched: Launched) -> None:
    stage.model.unlink()
    result = stage.services.library.get(stage.one).result
    spec = replace(result.spec, models=(ModelSource("net.onnx", "net.onnx"),))
    # The paths are as in an export.
    one = add(stage.services, profile_run(6, 60, models=(replace(result.models[0], path="net.onnx"),), spec=spec))
    assert other.samefile("net.onnx")
    with refused(ModelGone, "measured_model_gone"):
        stage.again(one)
    assert launched == []


def test_fetched_model_is_not_fetched_again(stage: Stage, launched: Launched, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(Models, "fetch", lambda services, token, tell=None: asked.append(token))
    source = ModelSource("hf:org/repo", str(stage.model))
    stage.again(stage.store(source, 5))
    assert launched[0][0].models == (source,) and asked == []
