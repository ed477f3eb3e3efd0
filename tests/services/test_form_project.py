"""Project assignment of a form's result when its model differs from the project's model."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.services.test_forms import HANGING, alter, brief, follow, model, project, services
from tuibench.services.api import Services

__all__ = ["services", "model", "project"]


@pytest.mark.slow
def test_changed_model_in_form_adds_version_to_project(services: Services, project: str, model: Path) -> None:
    alter(model)
    start = services.forms.open(project=project)
    assert start.changed
    run, notes = services.forms.start(brief(start), project)
    follow(services, run)
    versions = services.projects.get(project).project.versions
    assert ([version.name for version in versions], notes) == (["original", "v2"], ())
    assert services.library.get(run).result.models[0].sha256 == versions[-1].model.sha256
    assert (
        services.projects.newest_state(project).state == "unchanged"
        and not services.forms.open(project=project).changed
    )


@pytest.mark.slow
def test_foreign_model_is_not_assigned_to_project(
    services: Services, project: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUIBENCH_FAKE", HANGING)
    start = services.forms.open(project=project)
    moved, other = tmp_path / "moved.onnx", tmp_path / "other.onnx"
    shutil.copy(model, moved)
    shutil.copy(model, other)
    alter(other)
    homes = []
    for path in (model, moved, other):
        run, notes = services.forms.start(replace(brief(start), model=str(path)), project)
        homes.append(next(row.project for row in services.monitor.look().runs if row.info.id == run))
    assert homes[:2] == [project, project], "the same content is the same model wherever it lies"
    assert services.projects.get(homes[2]).project.name == "other"
    assert notes == (f"{other} is not a model of this project: the result belongs to other",)
