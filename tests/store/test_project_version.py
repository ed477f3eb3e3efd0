from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.build import make_id, make_store
from tests.store.test_projects import make_model
from tuibench.core.errors import UnknownId


def test_version_is_added_to_the_named_project(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    first = store.projects.create("first", make_model("a", "a"))
    second = store.projects.create("second", make_model("b", "b"))
    project, said = store.projects.add_version(first.id, make_model("b", "b"))
    assert (project.id, len(project.versions)) == (first.id, 2) and "/models/b.onnx is measured as v2 of first" in said
    assert store.projects.add_version(first.id, make_model("b", "b"))[1] == ""
    assert len(store.projects.get(first.id).versions) == 2 and len(store.projects.get(second.id).versions) == 1
    with pytest.raises(UnknownId):
        store.projects.add_version(make_id(9), make_model("a", "a"))
