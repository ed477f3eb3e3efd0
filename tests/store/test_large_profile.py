"""Profiles with many nodes are stored in little space, are listed from their heads alone, and lose nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.refusal import refused
from tests.runs.large_profile import make_large_result
from tests.store.build import MACHINE, make_store
from tests.store.disks.relay import CountingDisk
from tuibench.core.errors import StoreDamaged
from tuibench.core.record import to_plain
from tuibench.core.result import RunResult
from tuibench.core.stored import Metadata
from tuibench.present.json_export import document
from tuibench.store.benchmark_file import RecordFiles
from tuibench.store.envelope import encode_table, seal, unseal
from tuibench.store.store import Store

NODES = 3000
HEAD = 8192 + 256


@pytest.fixture(scope="module")
def large() -> RunResult:
    return make_large_result(NODES)


@pytest.fixture
def root(tmp_path: Path, large: RunResult) -> Path:
    make_store(tmp_path).benchmarks.add(large, Metadata(name="large"))
    return tmp_path


def record_of(root: Path) -> Path:
    (path,) = root.glob("hosts/*/records/*/*.json")
    return path


@contextmanager
def written_plain(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Write profile records in the unpacked form of earlier versions."""
    with monkeypatch.context() as patched:
        patched.setattr("tuibench.store.benchmark_file.to_compact", to_plain)
        yield


def test_large_profile_takes_a_tenth_and_reads_back_equal(
    root: Path, large: RunResult, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = make_store(root).benchmarks.get(large.id)
    assert found.result == large
    before = tmp_path_factory.mktemp("before")
    with written_plain(monkeypatch):
        make_store(before).benchmarks.add(large, Metadata(name="large"))
    sizes = [record_of(one).stat().st_size for one in (root, before)]
    assert sizes[0] < sizes[1] / 10 and sizes[0] < 100 * NODES, sizes
    assert make_store(before).benchmarks.get(large.id).result == large
    # New metadata keep the form of an old result.
    make_store(before).benchmarks.edit(large.id, name="renamed")
    assert make_store(before).benchmarks.get(large.id).result == large
    assert make_store(before).check(read_data=True).problems == ()


def test_export_of_a_large_profile_writes_out_every_node(root: Path, large: RunResult) -> None:
    plain = document(make_store(root).benchmarks.get(large.id).result)["tuibench"]["profile"]
    assert plain == document(large)["tuibench"]["profile"]
    assert len(plain["costs"]["nodes"]) == NODES < len(plain["performance"]["layers"])


def test_row_of_a_large_profile_is_read_from_the_record_head(root: Path) -> None:
    disk = CountingDisk()
    store = Store(root, MACHINE, disk=disk)
    row = RecordFiles(store._context.sealing).read_row(str(record_of(root)))
    assert (row.name, row.kind) == ("large", "performance")
    assert 0 < disk.bytes_read < HEAD < record_of(root).stat().st_size


def test_hand_edit_of_the_packed_part_is_reported(root: Path, large: RunResult) -> None:
    path = record_of(root)
    opened = unseal(path.read_bytes())
    opened.tables["result"]["1"]["profile"]["costs"]["nodes"]["blocks"][1] = "AAAA"
    tables = {name: encode_table(table) for name, table in opened.tables.items()}
    marks = dict(opened.header.marks) | {"result_sha256": hashlib.sha256(tables["result"]).hexdigest()}
    path.write_bytes(seal(tables, replace(opened.header, marks=marks)))
    with refused(StoreDamaged, "record_form_unknown"):
        make_store(root).benchmarks.get(large.id)
    assert [row.name for row in make_store(root).benchmarks.rows()] == ["large"]
