from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.store.build import make_result, make_store
from tuibench.core.errors import StoreReadOnly
from tuibench.core.reason import LEGACY_TEXT
from tuibench.core.result import RunResult
from tuibench.core.stored import FileStamp, Metadata
from tuibench.services.projects import find_project, place
from tuibench.store.projects import Projects
from tuibench.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path)


def measured(content: str = "a", path: str = "/models/resnet50.onnx") -> RunResult:
    result = make_result(1)
    stamp = FileStamp(path, 1, 1, content * 64)
    return replace(result, models=(replace(result.models[0], sha256=content * 64, files=(stamp,)),))


def test_project_is_that_of_the_model(store: Store) -> None:
    metadata, said = place(store, measured(), Metadata(name="mine"))
    (row,) = store.projects.rows()
    assert metadata == Metadata(name="mine", project=row.project.id) and "a project was made for it: resnet50" in said
    assert place(store, measured(), Metadata(name="mine")) == (metadata, ""), "twice is once"
    again, said = place(store, measured("b"), Metadata())
    assert again.project == metadata.project and "measured as v2 of resnet50" in said


def test_named_project_is_used_or_created(store: Store) -> None:
    metadata, said = place(store, measured(), Metadata(project="servers"))
    assert said == "a project was made for it: servers"
    assert place(store, measured("b", "/models/other.onnx"), Metadata(project="servers")) == (metadata, "")
    assert place(store, measured(), Metadata(project=(metadata.project or "")[-4:].lower())) == (metadata, "")
    assert [row.project.name for row in store.projects.rows()] == ["servers"]


def test_unread_model_has_no_project(store: Store) -> None:
    unread = replace(measured(), models=(replace(measured().models[0], files=()),))
    assert place(store, unread, Metadata(note="x")) == (Metadata(note="x"), "")
    metadata, said = place(store, unread, Metadata(project="new"))
    assert metadata.project is None and "no project is called new" in said


def test_first_readable_model_decides_the_project(store: Store) -> None:
    result = measured()
    unread = replace(result.models[0], files=())
    spec = replace(result.spec, models=(result.spec.models[0], replace(result.spec.models[0], asked="second.onnx")))
    place(store, replace(result, spec=spec, models=(unread, result.models[0])), Metadata())
    assert store.projects.all()[0].versions[0].model.asked == "second.onnx"


def test_failed_project_assignment_keeps_the_metadata(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise StoreReadOnly(LEGACY_TEXT, text="projects cannot be written")

    monkeypatch.setattr(Projects, "adopt", refuse)
    metadata, said = place(store, measured(), Metadata(name="mine"))
    assert metadata == Metadata(name="mine") and said == "it belongs to no project: projects cannot be written"
    assert place(store, measured(), Metadata(project="\x1b"))[0].project is None


def test_rerun_adds_a_model_version_to_its_project(store: Store) -> None:
    metadata, _ = place(store, measured(), Metadata(name="mine"))
    store.benchmarks.add(measured(), metadata)
    elsewhere, _ = store.projects.adopt(store.projects.get(metadata.project or "").versions[0].model)
    assert elsewhere.id == metadata.project
    again = replace(metadata, rerun_of=measured().id)
    placed, said = place(store, measured("b", "/models/pruned.onnx"), again)
    assert placed.project == metadata.project and "/models/pruned.onnx is measured as v2 of resnet50" in said
    assert place(store, measured("b", "/models/pruned.onnx"), again) == (placed, ""), "twice is once"
    (project,) = store.projects.all()
    assert [version.model.sha256[0] for version in project.versions] == ["a", "b"]


def test_project_selected_by_name_gets_no_versions(store: Store) -> None:
    metadata, _ = place(store, measured(), Metadata())
    store.benchmarks.add(measured(), metadata)
    place(store, measured("c"), Metadata(project="another"))
    placed, said = place(store, measured("b", "/models/b.onnx"), Metadata(project="another", rerun_of=measured().id))
    assert said == "" and len(store.projects.get(placed.project or "").versions) == 1


def test_changed_file_of_a_named_project_becomes_a_version(store: Store) -> None:
    metadata, _ = place(store, measured(), Metadata(project="servers"))
    placed, said = place(store, measured("b"), Metadata(project="servers"))
    assert placed == metadata and "measured as v2 of servers" in said
    (project,) = store.projects.all()
    assert [version.model.sha256[0] for version in project.versions] == ["a", "b"]


def test_removed_project_of_a_model_is_replaced_by_a_new_one(store: Store) -> None:
    metadata, _ = place(store, measured(), Metadata(project="servers"))
    gone = metadata.project or ""
    store.trash.remove([], [gone])
    made, said = place(store, measured(), metadata)
    assert said.startswith("a project was made for it: resnet50") and made.project != gone
    assert place(store, measured(), metadata) == (made, ""), "twice is once"
    assert find_project(store, gone, sha256="a" * 64) == made.project
    assert find_project(store, gone, path="/models/resnet50.onnx") == made.project
    assert find_project(store, "servers", sha256="a" * 64) == ""
