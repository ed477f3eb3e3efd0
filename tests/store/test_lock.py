from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.refusal import refused
from tests.store.build import NOW, Clock, make_id, make_result, make_store
from tuibench.core.errors import StoreBusy, StoreError, StoreReadOnly
from tuibench.core.reason import because
from tuibench.core.stored import Metadata
from tuibench.present.error.words import hint_words, message_words
from tuibench.store.disk import Disk
from tuibench.store.lock import POLL_S, StoreLock
from tuibench.store.store import Store

HOLD = """
import sys, time
from pathlib import Path
from tuibench.store.store import Store
store = Store(Path(sys.argv[1]), "another", command="tuibench \\x1b]0;import", clock=lambda: float(sys.argv[3]))
with store._context.lock(sys.argv[2]).hold():
    print("held", flush=True)
    sys.stdin.read()
"""


def lock_of(store: Store, path: Path) -> StoreLock:
    return store._context.lock(str(path))


@contextmanager
def held_elsewhere(root: Path, path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", HOLD, str(root), str(path), str(NOW - 4)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.send_signal(signal.SIGCONT)
            process.kill()


def patient_store(root: Path, clock: Clock) -> Store:
    return make_store(root, clock=clock, timer=clock, sleep=clock.sleep)


def test_busy_store_names_the_lock_owner_after_ten_seconds(tmp_path: Path) -> None:
    clock = Clock()
    store = patient_store(tmp_path, clock)
    path = tmp_path / "some.lock"
    with held_elsewhere(tmp_path, path) as holder:
        with refused(StoreBusy, "store_busy", pid=holder.pid, host="") as caught, lock_of(store, path).hold():
            pass
        assert f"pid {holder.pid}, tuibench \\e]0;import, for 14 s" in message_words(caught.value)
        assert set(clock.slept) == {POLL_S}
        assert sum(clock.slept) == pytest.approx(10, abs=0.1)
        holder.kill()
        holder.wait()
        # The kernel released the lock, so nothing needs cleaning up.
        with lock_of(store, path).hold() as fresh:
            assert fresh


def test_stopped_lock_owner_is_reported_as_stopped(tmp_path: Path) -> None:
    clock = Clock()
    store = patient_store(tmp_path, clock)
    path = tmp_path / "some.lock"
    with held_elsewhere(tmp_path, path) as holder:
        holder.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, holder.pid, os.WSTOPPED | os.WNOWAIT)
        with refused(StoreBusy, "store_holder_suspended", pid=holder.pid) as caught, lock_of(store, path).hold():
            pass
        assert f"kill -CONT {holder.pid}" in hint_words(caught.value)


def test_readers_do_not_wait_for_the_lock(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    store.benchmarks.add(make_result(1), Metadata())
    path = next(tmp_path.glob("hosts/*/tuibench.json.lock"))
    clock = Clock()
    with held_elsewhere(tmp_path, path):
        fresh = patient_store(tmp_path, clock)
        assert len(fresh.benchmarks.rows()) == 1
        assert fresh.benchmarks.get(make_id(1)).metadata == Metadata()
        assert clock.slept == []
        with pytest.raises(StoreBusy):
            fresh.benchmarks.edit(make_id(1), name="x")
        assert fresh.benchmarks.rows()[0].name == ""


def test_lock_is_reentrant_in_a_thread_and_excludes_other_threads(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    lock = lock_of(store, tmp_path / "some.lock")
    order: list[str] = []

    def other() -> None:
        with lock.hold():
            order.append("other")

    with lock.hold() as first:
        with lock.hold() as second:
            assert (first, second, lock.mine) == (True, False, True)
        thread = threading.Thread(target=other)
        thread.start()
        order.append("first")
    thread.join()
    assert order == ["first", "other"]
    assert not lock.mine


def test_lock_is_released_after_an_exception_and_its_file_stays(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    path = tmp_path / "some.lock"
    for _ in range(2):
        with pytest.raises(KeyError), lock_of(store, path).hold():
            raise KeyError
    inode = path.stat().st_ino
    with lock_of(make_store(tmp_path), path).hold():
        stated = json.loads(path.read_text())
    assert (stated["pid"], stated["command"], stated["since"]) == (os.getpid(), "test", NOW)
    assert path.stat().st_ino == inode


def test_pipe_at_the_lock_path_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "some.lock"
    os.mkfifo(path)
    blocked = refused(StoreError, "store_path_blocked", name="some.lock", why=because("not_regular_file"))
    with blocked, lock_of(make_store(tmp_path), path).hold():
        pass


class ReadOnly(Disk):
    """A disk that opens nothing for writing."""

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return super().open(path, flags, mode)


def test_read_only_lock_file_still_excludes(tmp_path: Path) -> None:
    path = tmp_path / "some.lock"
    path.touch()
    clock = Clock()
    reader = make_store(tmp_path, disk=ReadOnly(), clock=clock, timer=clock, sleep=clock.sleep)
    with lock_of(reader, path).hold(), pytest.raises(StoreBusy):
        lock_of(patient_store(tmp_path, clock), path).hold().__enter__()
    path.unlink()
    with pytest.raises(StoreReadOnly):
        lock_of(reader, path).hold().__enter__()
