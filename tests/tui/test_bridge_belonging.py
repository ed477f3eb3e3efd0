"""Project assignment of a form's result when its model differs from the project's model."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tui.test_bridge_start import HANGING, alter, bridge, brief, follow, model, project
from tuibench.tui.bridge import Bridge

__all__ = ["bridge", "model", "project"]


@pytest.mark.slow
def test_changed_model_in_form_adds_version_to_project(bridge: Bridge, project: str, model: Path) -> None:
    alter(model)
    start = bridge.form(project=project)
    assert start.changed
    run, notes = bridge.start(brief(start), project)
    follow(bridge, run)
    versions = bridge.project(project).project.versions
    assert ([version.name for version in versions], notes) == (["original", "v2"], ())
    assert bridge.open(run).result.models[0].sha256 == versions[-1].model.sha256
    assert bridge.model_state(project).state == "unchanged" and not bridge.form(project=project).changed


@pytest.mark.slow
def test_foreign_model_is_not_assigned_to_project(
    bridge: Bridge, project: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUIBENCH_FAKE", HANGING)
    start = bridge.form(project=project)
    moved, other = tmp_path / "moved.onnx", tmp_path / "other.onnx"
    shutil.copy(model, moved)
    shutil.copy(model, other)
    alter(other)
    homes = []
    for path in (model, moved, other):
        run, notes = bridge.start(replace(brief(start), model=str(path)), project)
        homes.append(next(row.project for row in bridge.pulse().runs if row.info.id == run))
    assert homes[:2] == [project, project], "the same content is the same model wherever it lies"
    assert bridge.project(homes[2]).project.name == "other"
    assert notes == (f"{other} is no model of this project: the result belongs to other",)
