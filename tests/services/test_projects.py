from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.model.factory import encoder, save
from tests.refusal import refused
from tests.services.script import ScriptedRun
from tests.store.build import make_id, make_result, make_store
from tuibench.core.errors import ModelError, UnknownId, UsageError
from tuibench.core.machine import Places
from tuibench.core.spec import ModelSource
from tuibench.core.stored import Metadata
from tuibench.services.projects import SORTS, Projects
from tuibench.services.runs import Runs
from tuibench.services.settings import Settings
from tuibench.store.store import Store

pytestmark = pytest.mark.usefixtures("shared_answers")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path / "data")


@pytest.fixture
def projects(tmp_path: Path, store: Store) -> Projects:
    places = Places(*(tmp_path / name for name in ("data", "state", "cache", "config")))
    return Projects(places, store, lambda: Runs(Settings(places, "nobody"), store))


@pytest.fixture
def source(tmp_path: Path) -> ModelSource:
    return ModelSource("./net.onnx", save(encoder(), tmp_path / "net.onnx"))


def test_project_of_a_model_knows_its_files(projects: Projects, source: ModelSource) -> None:
    row, summary = projects.create(source, description="words", dims={"seq": 9})
    (version,) = row.project.versions
    assert row.project.name == "net" and version.model.asked == "./net.onnx"
    assert version.model.sha256 == summary.sha256 and version.model.file.path == source.path
    assert projects.get("net") == row and projects.get(row.project.id[-4:]) == row
    assert projects.model_state(version).state == "unchanged"
    os.unlink(source.path)
    assert projects.model_state(version).state == "gone"


def test_file_that_is_no_model_makes_no_project(projects: Projects, tmp_path: Path) -> None:
    (tmp_path / "page.onnx").write_bytes(b"<html>")
    with pytest.raises(ModelError):
        projects.create(ModelSource("page.onnx", str(tmp_path / "page.onnx")))
    assert projects.list() == ()


def test_project_lists_are_searched_and_sorted(projects: Projects, source: ModelSource) -> None:
    for name in ("b", "a", "c"):
        projects.create(source, name, description=f"about-{name}")
    assert [row.project.name for row in projects.list("name")] == ["a", "b", "c"]
    assert [row.project.name for row in projects.list(text="ABOUT-c net")] == ["c"]
    assert set(SORTS) == {"name", "created", "modified"}


def test_form_overwrites_only_its_changed_fields(projects: Projects, source: ModelSource) -> None:
    shown = projects.create(source, "one")[0].project
    projects.edit("one", description="theirs")
    row = projects.edit("one", name="two", description=shown.description, dims=shown.dims, base=shown)
    assert (row.project.name, row.project.description) == ("two", "theirs")
    with pytest.raises(UsageError):
        projects.duplicate("two", "two")


def test_project_is_removed_and_restored_with_its_benchmarks(
    projects: Projects, store: Store, source: ModelSource
) -> None:
    made = projects.create(source, "one")[0].project
    store.benchmarks.add(make_result(1), Metadata(project=made.id))
    store.benchmarks.add(make_result(2), Metadata())
    before = projects.get("one")
    entry = projects.remove("one")
    assert entry.kind == "project" and entry.benchmarks == (make_id(1),) and entry.projects == (made.id,)
    assert projects.list() == () and [row.id for row in store.benchmarks.rows()] == [make_id(2)]
    with pytest.raises(UnknownId):
        projects.get("one")
    store.trash.restore()
    assert projects.get("one") == before and len(store.benchmarks.rows()) == 2


def test_reused_name_and_undo_keep_both_projects(projects: Projects, store: Store, source: ModelSource) -> None:
    first = projects.create(source, "one")[0].project
    projects.remove("one")
    second = projects.create(source, "one")[0].project
    store.trash.restore()
    assert {row.project.id for row in projects.list()} == {first.id, second.id}
    assert first.id[-4:] != second.id[-4:]
    with refused(UnknownId, "several_called", noun="project", count=2, given="one") as caught:
        projects.get("one")
    assert {*caught.value.reason.fields["names"]} == {first.id[-4:].lower(), second.id[-4:].lower()}
    assert projects.get(first.id).project.name == "one"


def test_project_under_measurement_is_not_removed(projects: Projects, source: ModelSource) -> None:
    project = projects.create(source, name="mine")[0].project.id
    other = projects.duplicate("mine", "other").project.id
    run = ScriptedRun(projects.places.runs, 7, metadata={"project": project})
    run.hold()
    run.begin()
    with refused(UsageError, "project_in_use", ids=[run.id]):
        projects.remove("other", "mine")
    projects.remove(other)
    run.let_go()
    assert projects.remove("mine").projects == (project,)
