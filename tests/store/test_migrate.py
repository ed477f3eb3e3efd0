from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from tests.refusal import refused
from tests.store.build import make_id, make_result, make_store
from tests.store.older import OLD, steps_from_schema_0
from tuibench.core.errors import StoreError, StoreReadOnly
from tuibench.core.schema import NEWEST
from tuibench.core.stored import Metadata
from tuibench.store.disk import Disk
from tuibench.store.envelope import RECORD, SCHEMA, Header, encode_table, migrate_tables, seal, unseal
from tuibench.store.store import Store

__all__ = ["steps_from_schema_0"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Path(shutil.copytree(OLD, tmp_path / "data"))


def schemas(root: Path) -> dict[str, int]:
    return {path.name: unseal(path.read_bytes()).header.schema for path in root.rglob("*.json")}


def contents(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*.json*") if path.suffix != ".lock"}


def test_older_store_is_readable_and_reading_writes_nothing(root: Path) -> None:
    before = contents(root)
    store = make_store(root)
    assert [(row.name, row.note) for row in store.benchmarks.rows()] == [("old 1", "a comment"), ("old 0", "a comment")]
    stored = store.benchmarks.get(make_id(1))
    assert (stored.metadata.name, stored.metadata.note, stored.result.id) == ("old 1", "a comment", make_id(1))
    assert store.check(read_data=True).problems == ()
    assert contents(root) == before
    assert set(schemas(root).values()) == {0}


def test_next_write_migrates_the_file_and_keeps_the_original(root: Path) -> None:
    store = make_store(root)
    path = next(root.glob(f"hosts/*/records/*/{make_id(0)}.json"))
    before = path.read_bytes()
    store.benchmarks.edit(make_id(0), name="new")
    assert path.with_name(path.name + f".pre-v{SCHEMA}").read_bytes() == before
    assert schemas(root)[f"{make_id(0)}.json"] == SCHEMA
    assert schemas(root)[f"{make_id(1)}.json"] == 0
    assert [row.name for row in make_store(root).benchmarks.rows()] == ["old 1", "new"]
    assert make_store(root).notices() == ()


def test_migrate_converts_every_file_and_changes_nothing_else(root: Path) -> None:
    before, store = contents(root), make_store(root)
    names = [(row.id, row.name, row.note, row.headline) for row in store.benchmarks.rows()]
    report = store.migrate()
    assert (report.migrated, report.problems, report.exit_code) == (4, (), 0)
    assert set(schemas(root).values()) == {SCHEMA}
    for path, data in before.items():
        assert path.with_name(path.name + f".pre-v{SCHEMA}").read_bytes() == data
    fresh = make_store(root)
    assert [(row.id, row.name, row.note, row.headline) for row in fresh.benchmarks.rows()] == names
    assert fresh.check(read_data=True).problems == ()
    assert fresh.migrate().migrated == 0


class FullAfter(Disk):
    """A disk that is full after a given number of renames."""

    def __init__(self, renames: int) -> None:
        self.left = renames

    def replace(self, source: str, target: str) -> None:
        self.left -= 1
        super().replace(source, target)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if self.left <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(fd, data)


@pytest.mark.parametrize("renames", range(1, 7))
def test_failed_migration_leaves_the_store_as_it_was(root: Path, renames: int) -> None:
    rows = make_store(root).benchmarks.rows()
    before = contents(root)
    store = make_store(root, disk=FullAfter(renames))
    try:
        store.migrate()
    except StoreError as error:
        assert error.reason.code == "store_disk_full"
        assert {path: data for path, data in contents(root).items() if path in before} == before
        assert make_store(root).benchmarks.rows() == rows
    else:
        assert renames == 6
    assert make_store(root).migrate().exit_code == 0
    assert set(schemas(root).values()) == {SCHEMA}


def newer(root: Path, pattern: str) -> Path:
    path = next(root.glob(pattern))
    opened = unseal(path.read_bytes())
    tables = {name: encode_table(table) for name, table in opened.tables.items()}
    path.write_bytes(seal(tables, Header(opened.header.generation, NEWEST + 1, "9.8.7", opened.header.marks)))
    return path


def filled(root: Path) -> Store:
    store = make_store(root)
    store.migrate()
    return store


def test_newer_record_is_readable_and_not_written(root: Path) -> None:
    filled(root)
    path = newer(root, f"hosts/*/records/*/{make_id(1)}.json")
    before = path.read_bytes()
    store = make_store(root)
    assert store.benchmarks.get(make_id(1)).metadata.name == "old 1"
    assert any(notice.fields.get("tool") == "9.8.7" for notice in store.notices())
    with refused(StoreReadOnly, "newer_read_only", tool="9.8.7"):
        store.benchmarks.edit(make_id(1), name="x")
    assert path.read_bytes() == before
    store.benchmarks.edit(make_id(0), name="others can")
    assert [problem.kind for problem in store.check(repair=True, read_data=True).problems] == ["newer"]
    assert path.read_bytes() == before


def test_newer_index_is_readable_and_refuses_additions(root: Path) -> None:
    filled(root)
    path = newer(root, "hosts/*/tuibench.json")
    before = contents(root)
    store = make_store(root)
    assert len(store.benchmarks.rows()) == 2
    with refused(StoreReadOnly, "newer_read_only", tool="9.8.7"):
        store.benchmarks.add(make_result(7), Metadata())
    with pytest.raises(StoreReadOnly):
        store.trash.remove([make_id(0)])
    assert contents(root) == before
    assert path in before
    assert len(store.benchmarks.rows()) == 2


def test_migration_steps_run_in_order_and_keep_their_input() -> None:
    steps = {
        (RECORD, -1): lambda tables: {**tables, "card": {"1": {"title": tables["card"]["1"]["t"]}}},
        (RECORD, 0): lambda tables: {**tables, "card": {"1": {"name": tables["card"]["1"]["title"]}}},
    }
    given = {"card": {"1": {"t": "x"}}}
    assert migrate_tables(RECORD, given, -1, steps) == {"card": {"1": {"name": "x"}}}
    assert given == {"card": {"1": {"t": "x"}}}
