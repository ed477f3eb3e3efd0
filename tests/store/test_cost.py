"""Cost of operations in calls, bytes and CPU time relative to a bare write; `make bench` measures milliseconds."""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.store.data import make_id, make_real
from tests.store.disks.failing import SyncingNothing
from tests.store.disks.relay import CountingDisk
from tests.store.volume import MACHINE, fill
from tuibench.core.stored import Metadata
from tuibench.store.store import Store

FEW, MANY = 100, 1000
NEW = 40_000


@dataclass(slots=True)
class Measured:
    """A store of a given size whose disk counts calls."""

    root: Path
    disk: CountingDisk
    store: Store

    def of(self, action: Callable[..., Any], *arguments: Any, **named: Any) -> CountingDisk:
        """Return the calls of one action made after the list was read."""
        self.store.benchmarks.rows()
        self.disk.reset()
        action(*arguments, **named)
        return self.disk

    @property
    def index(self) -> Path:
        """Return the path of the index."""
        (found,) = self.root.glob("hosts/*/tuibench.json")
        return found


def make(root: Path, count: int) -> Measured:
    fill(root, count, (1, 1), 1)
    disk = CountingDisk(SyncingNothing())
    return Measured(root, disk, Store(root, MACHINE, disk=disk))


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A small store and one ten times as large; tests only add to them."""
    small, large = (tmp_path_factory.mktemp(name) for name in ("small", "large"))
    make(small, FEW)
    make(large, MANY)
    return small, large


@pytest.fixture
def both(stores: tuple[Path, Path]) -> list[Measured]:
    """Both stores, opened in new sessions."""
    disks = [CountingDisk(SyncingNothing()) for _ in stores]
    return [Measured(root, disk, Store(root, MACHINE, disk=disk)) for root, disk in zip(stores, disks, strict=True)]


def test_unchanged_list_costs_one_read_of_the_head(both: list[Measured]) -> None:
    for one in both:
        searches: list[tuple[Callable[..., Any], tuple[str, ...]]] = [
            (one.store.benchmarks.rows, ()),
            (one.store.benchmarks.search, ("model-17 sync",)),
        ]
        for action, arguments in searches:
            disk = one.of(action, *arguments)
            assert disk.calls["open"] <= 1 and disk.bytes_read <= 1024
            assert disk.bytes_written == disk.calls["fsync"] == 0


def test_opening_a_store_reads_the_index_once_and_no_record(both: list[Measured]) -> None:
    for one in both:
        one.disk.reset()
        assert len(one.store.benchmarks.rows()) >= FEW
        assert one.disk.calls["open"] <= 6
        assert one.disk.bytes_read <= one.index.stat().st_size + 4096


def test_adding_to_a_large_store_costs_the_same_calls(both: list[Measured]) -> None:
    calls = []
    for one in both:
        one.store.benchmarks.add(make_real(NEW, 1, 1), Metadata())
        disk = one.of(one.store.benchmarks.add, make_real(NEW + 1024, 1, 1), Metadata())
        record = next(one.root.glob(f"hosts/*/records/*/{make_id(NEW + 1024)}.json")).stat().st_size
        assert disk.bytes_written <= record + one.index.stat().st_size + 1024
        assert disk.bytes_read <= 4096
        calls.append(dict(disk.calls))
        assert disk.calls["fsync"] <= 6 and disk.calls["open"] <= 10 and disk.calls["lock"] == 2
        assert sum(disk.calls.values()) <= 50
    assert sum(calls[0].values()) <= sum(calls[1].values()) + 3 and sum(calls[1].values()) <= sum(calls[0].values()) + 3


def test_other_operations_touch_one_record_and_the_index(both: list[Measured]) -> None:
    for one in both:
        benchmarks = one.store.benchmarks
        benchmarks.edit(make_id(7), note="the first change of a session syncs directories")
        assert one.of(benchmarks.get, make_id(7)).calls["open"] <= 2
        assert one.of(benchmarks.edit, make_id(7), note="another").calls["fsync"] <= 6
        assert one.of(benchmarks.draw_id, 0).calls["open"] <= 6
        assert one.of(one.store.trash.remove, [make_id(8)]).calls["fsync"] <= 16
        assert one.of(one.store.trash.restore).calls["fsync"] <= 16


def test_check_reads_only_the_heads_of_records(both: list[Measured]) -> None:
    for one in both:
        count = len(one.store.benchmarks.rows())
        disk = one.of(one.store.check)
        assert disk.bytes_read <= 2 * one.index.stat().st_size + count * 10_000
        assert disk.calls["open"] <= count + 20
        assert disk.bytes_written <= 1024


def test_index_rebuild_reads_only_the_heads_of_records(tmp_path: Path) -> None:
    one = make(tmp_path, FEW)
    before = one.store.benchmarks.rows()
    one.index.unlink()
    one.disk.reset()
    assert Store(tmp_path, MACHINE, disk=one.disk).benchmarks.rows() == before
    assert one.disk.calls["open"] <= FEW + 10
    assert one.disk.bytes_read <= FEW * 10_000


def cpu_s(action: Callable[[int], Any], rounds: int) -> float:
    """Return the median CPU time of several calls, in seconds."""
    taken = []
    for number in range(rounds):
        begin = time.process_time()
        action(number)
        taken.append(time.process_time() - begin)
    return statistics.median(taken)


def test_adding_costs_little_more_cpu_than_a_synced_write_and_a_dump(stores: tuple[Path, Path], tmp_path: Path) -> None:
    store = Store(stores[1], MACHINE)
    results = [make_real(NEW + 100 + n, 1) for n in range(15)]
    store.benchmarks.rows()
    (index,) = stores[1].glob("hosts/*/tuibench.json")
    tables, data = json.loads(index.read_bytes()), bytes(25_000)

    def bare(number: int) -> None:
        json.dumps(tables)
        fd = os.open(tmp_path / str(number), os.O_WRONLY | os.O_CREAT, 0o600)
        os.write(fd, data)
        os.fsync(fd)
        os.close(fd)

    least = cpu_s(bare, 15)
    most = cpu_s(lambda n: store.benchmarks.add(results[n], Metadata()), 15)
    print(f"add / bare: {most / least:.2f}")
    assert most <= 2.5 * least
