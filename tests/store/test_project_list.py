from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.build import make_id, make_result, make_store
from tests.store.test_projects import make_model
from tuibench.core.stored import Metadata
from tuibench.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path / "data")


def test_project_row_size_is_the_size_of_its_files(store: Store, tmp_path: Path) -> None:
    first, second = store.projects.create("a", make_model("a", "a")), store.projects.create("b", make_model("b", "b"))
    for number in range(60):
        samples = tmp_path / "samples"
        samples.mkdir(exist_ok=True)
        (samples / "x.z").write_bytes(b"s" * number)
        store.benchmarks.add(make_result(number), Metadata(project=first.id), samples)
    store.benchmarks.edit(make_id(7), name="a previous generation lies beside it")
    store.benchmarks.add(make_result(99), Metadata(project=second.id))
    whole = sum(path.stat().st_size for path in tmp_path.glob("data/hosts/*/records/**/*") if path.is_file())
    whole += sum(
        path.stat().st_size for name in ("projects", "versions") for path in (tmp_path / "data" / name).glob("*.json*")
    )
    fresh = make_store(tmp_path / "data")
    weighed = {row.project.name: row for row in fresh.projects.rows()}
    assert sum(row.size_bytes for row in weighed.values()) == whole
    assert weighed["a"].benchmarks == 60
    assert [row.size_bytes for row in fresh.projects.search("b")] == [weighed["b"].size_bytes]
    before = weighed["b"].size_bytes
    fresh.benchmarks.edit(make_id(99), name="written again")
    assert fresh.projects.row(second.id).size_bytes > before
