from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.store.build import NOW, make_id, make_result, make_store
from tuibench.core.stored import Metadata
from tuibench.store.files import parse_temp

NODE = make_store(Path("/nowhere"))._context.files.node


@pytest.mark.parametrize(
    ("node", "pid", "hours", "goes"),
    [
        (NODE, 7, 1.1, True),
        (NODE, 7, 0.9, False),
        (NODE, 8, 99, False),
        ("0" * 8, 7, 23, False),
        ("0" * 8, 7, 25, True),
    ],
)
def test_only_old_files_of_dead_writers_are_swept(
    tmp_path: Path, node: str, pid: int, hours: float, goes: bool
) -> None:
    store = make_store(tmp_path, alive=lambda pid: pid == 8)
    store.benchmarks.add(make_result(1), Metadata())
    layout = store._context.own()
    left = []
    for name in (layout.index, layout.record(make_id(1))):
        path = Path(name).with_name(f".{Path(name).name}.{node}-{pid}-1.tmp")
        path.write_bytes(b"x")
        os.utime(path, (NOW - hours * 3600, NOW - hours * 3600))
        left.append(path)
    fresh = make_store(tmp_path, alive=lambda pid: pid == 8)
    fresh.benchmarks.rows()
    assert all(path.exists() for path in left)
    fresh.benchmarks.edit(make_id(1), note="any write")
    assert [path.exists() for path in left] == [not goes] * 2


def test_foreign_names_are_not_parsed_as_temporary() -> None:
    assert parse_temp(".a.json.0123abcd-12-aa3.tmp") == ("0123abcd", 12)
    for name in ("a.json.0123abcd-12-3.tmp", ".a.json.tmp", "tuibench.json", ".a.0123abcd-x-3.tmp", ".vimrc"):
        assert parse_temp(name) is None
