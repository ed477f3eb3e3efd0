from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.store.build import make_result, make_store
from tuibench.core.card import Card
from tuibench.core.errors import StoreReadOnly
from tuibench.core.project import FileStamp
from tuibench.core.run import RunResult
from tuibench.store.projects import Projects
from tuibench.store.store import Store
from tuibench.workbench.belonging import find_project, place


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path)


def measured(content: str = "a", path: str = "/models/resnet50.onnx") -> RunResult:
    result = make_result(1)
    stamp = FileStamp(path, 1, 1, content * 64)
    return replace(result, models=(replace(result.models[0], sha256=content * 64, files=(stamp,)),))


def test_project_is_that_of_the_model(store: Store) -> None:
    card, said = place(store, measured(), Card(name="mine"))
    (row,) = store.projects.rows()
    assert card == Card(name="mine", project=row.project.id) and "a project was made for it: resnet50" in said
    assert place(store, measured(), Card(name="mine")) == (card, ""), "twice is once"
    again, said = place(store, measured("b"), Card())
    assert again.project == card.project and "measured as v2 of resnet50" in said


def test_named_project_is_used_or_created(store: Store) -> None:
    card, said = place(store, measured(), Card(project="servers"))
    assert said == "a project was made for it: servers"
    assert place(store, measured("b", "/models/other.onnx"), Card(project="servers")) == (card, "")
    assert place(store, measured(), Card(project=(card.project or "")[-4:].lower())) == (card, "")
    assert [row.project.name for row in store.projects.rows()] == ["servers"]


def test_unread_model_has_no_project(store: Store) -> None:
    unread = replace(measured(), models=(replace(measured().models[0], files=()),))
    assert place(store, unread, Card(note="x")) == (Card(note="x"), "")
    card, said = place(store, unread, Card(project="new"))
    assert card.project is None and "no project is called new" in said


def test_first_readable_model_decides_the_project(store: Store) -> None:
    result = measured()
    unread = replace(result.models[0], files=())
    spec = replace(result.spec, models=(result.spec.models[0], replace(result.spec.models[0], asked="second.onnx")))
    place(store, replace(result, spec=spec, models=(unread, result.models[0])), Card())
    assert store.projects.all()[0].versions[0].model.asked == "second.onnx"


def test_failed_project_assignment_keeps_the_metadata(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise StoreReadOnly("projects cannot be written")

    monkeypatch.setattr(Projects, "adopt", refuse)
    card, said = place(store, measured(), Card(name="mine"))
    assert card == Card(name="mine") and said == "it belongs to no project: projects cannot be written"
    assert place(store, measured(), Card(project="\x1b"))[0].project is None


def test_rerun_adds_a_model_version_to_its_project(store: Store) -> None:
    card, _ = place(store, measured(), Card(name="mine"))
    store.benchmarks.add(measured(), card)
    elsewhere, _ = store.projects.adopt(store.projects.get(card.project or "").versions[0].model)
    assert elsewhere.id == card.project
    again = replace(card, rerun_of=measured().id)
    placed, said = place(store, measured("b", "/models/pruned.onnx"), again)
    assert placed.project == card.project and "/models/pruned.onnx is measured as v2 of resnet50" in said
    assert place(store, measured("b", "/models/pruned.onnx"), again) == (placed, ""), "twice is once"
    (project,) = store.projects.all()
    assert [version.model.sha256[0] for version in project.versions] == ["a", "b"]


def test_project_selected_by_name_gets_no_versions(store: Store) -> None:
    card, _ = place(store, measured(), Card())
    store.benchmarks.add(measured(), card)
    place(store, measured("c"), Card(project="another"))
    placed, said = place(store, measured("b", "/models/b.onnx"), Card(project="another", rerun_of=measured().id))
    assert said == "" and len(store.projects.get(placed.project or "").versions) == 1


def test_changed_file_of_a_named_project_becomes_a_version(store: Store) -> None:
    card, _ = place(store, measured(), Card(project="servers"))
    placed, said = place(store, measured("b"), Card(project="servers"))
    assert placed == card and "measured as v2 of servers" in said
    (project,) = store.projects.all()
    assert [version.model.sha256[0] for version in project.versions] == ["a", "b"]


def test_removed_project_of_a_model_is_replaced_by_a_new_one(store: Store) -> None:
    card, _ = place(store, measured(), Card(project="servers"))
    gone = card.project or ""
    store.trash.remove([], [gone])
    made, said = place(store, measured(), card)
    assert said.startswith("a project was made for it: resnet50") and made.project != gone
    assert place(store, measured(), card) == (made, ""), "twice is once"
    assert find_project(store, gone, sha256="a" * 64) == made.project
    assert find_project(store, gone, path="/models/resnet50.onnx") == made.project
    assert find_project(store, "servers", sha256="a" * 64) == ""
