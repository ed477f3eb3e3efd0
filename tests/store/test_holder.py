"""A writer stops or dies while it holds the lock: readers continue, writers learn its pid, nothing is damaged."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.refusal import refused
from tests.store.data import make_id, make_small
from tests.store.disks.relay import Relay, alters
from tests.store.holder import MACHINE
from tuibench.core.errors import StoreBusy
from tuibench.core.stored import Metadata
from tuibench.store.store import Store

THERE = 3
WAIT_S = 10.0


class UnderLock(Relay):
    """A disk that notes the altering calls made while the lock is held."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = 0
        self.under: list[int] = []
        self._lock: int | None = None

    def touch(self, kind: str, arguments: tuple[Any, ...]) -> Any:
        """Make the call."""
        if alters(kind, arguments):
            self.seen += 1
            self.under += [self.seen] if self._lock is not None else []
        answer = super().touch(kind, arguments)
        if kind == "lock":
            self._lock = arguments[0]
        elif kind == "close" and arguments[0] == self._lock:
            self._lock = None
        return answer


def prepare(root: Path) -> Store:
    store = Store(root, MACHINE)
    for number in range(1, THERE + 1):
        store.benchmarks.add(make_small(number), Metadata(name=f"name {number}"))
    return store


def calls_under_lock(tmp_path: Path) -> list[int]:
    """Return the numbers of the altering calls that one addition makes under the lock, without the first, which signs
    it.
    """
    twin = tmp_path / "twin"
    prepare(twin)
    disk = UnderLock()
    Store(twin, MACHINE, disk=disk).benchmarks.add(make_small(THERE + 1), Metadata())
    assert len(disk.under) > 8
    return disk.under[1:]


def start(root: Path, what: str, at: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.store.holder", str(root), what, str(at), str(THERE + 1)]
    return subprocess.Popen(command)


@contextmanager
def stopped_holder(root: Path, at: int) -> Iterator[subprocess.Popen[bytes]]:
    """Start a writer that stops in the middle of its addition."""
    process = start(root, "stop", at)
    try:
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        yield process
    finally:
        process.kill()
        process.wait()


def impatient(root: Path) -> tuple[Store, list[float]]:
    """Return a session whose clock advances one second per reading, and its list of sleeps."""
    slept: list[float] = []
    ticks = count()
    return Store(root, MACHINE, timer=lambda: float(next(ticks)), sleep=slept.append), slept


def rows_of(store: Store) -> list[str]:
    return [row.id for row in store.benchmarks.rows()]


@pytest.mark.parametrize("place", [0, 0.5, 1], ids=["begin", "middle", "end"])
def test_stopped_lock_owner_allows_reads_and_is_named_to_writers(tmp_path: Path, place: float) -> None:
    root = tmp_path / "data"
    prepare(root)
    under = calls_under_lock(tmp_path)
    with stopped_holder(root, under[round(place * (len(under) - 1))]) as process:
        before = Store(root, MACHINE)
        assert set(map(make_id, range(1, THERE + 1))) <= set(rows_of(before))
        assert before.benchmarks.get(make_id(1)).metadata.name == "name 1"
        store, slept = impatient(root)
        with refused(StoreBusy, "store_holder_suspended", pid=process.pid):
            store.benchmarks.add(make_small(99), Metadata())
        assert 0 < len(slept) <= WAIT_S and set(slept) == {0.005}
        process.send_signal(signal.SIGCONT)
        assert process.wait() == 0
    store.benchmarks.add(make_small(99), Metadata())
    assert rows_of(Store(root, MACHINE)) == [make_id(n) for n in (99, 4, 3, 2, 1)]
    assert Store(root, MACHINE).check(read_data=True).problems == ()


@pytest.mark.parametrize("place", [0, 0.3, 0.6, 1])
def test_dead_lock_owner_blocks_no_writer(tmp_path: Path, place: float) -> None:
    root = tmp_path / "data"
    prepare(root)
    under = calls_under_lock(tmp_path)
    died = start(root, "die", under[round(place * (len(under) - 1))])
    assert died.wait() == -signal.SIGKILL
    store, slept = impatient(root)
    store.benchmarks.add(make_small(99), Metadata())
    assert slept == []
    assert {make_id(n) for n in (99, 3, 2, 1)} <= set(rows_of(Store(root, MACHINE)))
    Store(root, MACHINE).check(repair=True)
    assert Store(root, MACHINE).check(read_data=True).problems == ()
