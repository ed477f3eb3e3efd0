from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.build import make_id, make_store
from tests.store.test_projects import make_model
from tuibench.core.errors import UnknownId
from tuibench.core.reason import because


def test_version_is_added_to_the_named_project(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    first = store.projects.create("first", make_model("a", "a"))
    second = store.projects.create("second", make_model("b", "b"))
    project, said = store.projects.add_version(first.id, make_model("b", "b"))
    assert (project.id, len(project.versions)) == (first.id, 2)
    assert said == because("version_added", path="/models/b.onnx", version="v2", project="first", id=first.id)
    assert store.projects.add_version(first.id, make_model("b", "b"))[1] is None
    assert len(store.projects.get(first.id).versions) == 2 and len(store.projects.get(second.id).versions) == 1
    with pytest.raises(UnknownId):
        store.projects.add_version(make_id(9), make_model("a", "a"))
