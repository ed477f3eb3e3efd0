"""Write lock: a kernel lock on a file beside the data, which is freed when its holder dies."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

from tuibench.core.errors import StoreBusy
from tuibench.core.reason import because
from tuibench.core.value import dataclass
from tuibench.store.disk import LOCK, READ, in_the_way
from tuibench.store.files import Files

POLL_S = 0.005
"""Constant: with back-off a writer could starve while others take turns."""
WAIT_S = 10.0
_TEXT = 512
_NOT_WRITABLE = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


@dataclass(frozen=True, slots=True)
class Waiting:
    """The clocks for waiting on a lock, and the identity written into a held lock."""

    timer: Callable[[], float]
    sleep: Callable[[float], None]
    clock: Callable[[], float]
    command: str
    machine: str = ""
    """The name of this machine, as several machines may share the lock."""
    wait_s: float = WAIT_S


class StoreLock:
    """The lock of a part of the store; reentrant within a thread."""

    def __init__(self, files: Files, path: str, waiting: Waiting) -> None:
        self._files = files
        self._path = path
        self._waiting = waiting
        self._threads = threading.Lock()
        self._owner: int | None = None

    @property
    def mine(self) -> bool:
        """Return whether this thread holds the lock."""
        return self._owner == threading.get_ident()

    @contextmanager
    def hold(self) -> Iterator[bool]:
        """Hold the lock; yield True if this thread did not hold it before. StoreBusy names the holder on a timeout."""
        if self.mine:
            yield False
            return
        until = self._waiting.timer() + self._waiting.wait_s
        self._poll(lambda: self._threads.acquire(blocking=False), until)
        try:
            fd = self._open()
            try:
                self._poll(lambda: self._try(fd), until, fd)
                self._sign(fd)
                self._owner = threading.get_ident()
                yield True
            finally:
                self._owner = None
                self._give_back(fd)
        finally:
            self._threads.release()

    def _open(self) -> int:
        self._files.make_directory(os.path.dirname(self._path))
        with self._files.explaining(self._path):
            try:
                fd = self._files.disk.open(self._path, LOCK, 0o600)
            except OSError as error:
                if error.errno not in _NOT_WRITABLE:
                    raise
                # A read-only descriptor can take the lock, too.
                try:
                    fd = self._files.disk.open(self._path, READ)
                except FileNotFoundError:
                    raise error from None
            try:
                if not stat.S_ISREG(self._files.disk.fstat(fd).st_mode):
                    raise in_the_way(self._files.name(self._path), because("not_regular_file"))
            except BaseException:
                self._files.disk.close(fd)
                raise
            return fd

    def _try(self, fd: int) -> bool:
        with self._files.explaining(self._path):
            try:
                self._files.disk.lock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

    def _poll(self, attempt: Callable[[], bool], until: float, fd: int | None = None) -> None:
        while not attempt():
            if self._waiting.timer() >= until:
                raise self._busy(fd)
            self._waiting.sleep(POLL_S)

    def _sign(self, fd: int) -> None:
        waiting = self._waiting
        holder = {
            "pid": os.getpid(),
            "host": waiting.machine,
            "command": waiting.command,
            "since": waiting.clock(),
        }
        text = json.dumps(holder).encode("ascii")
        try:
            self._files.disk.write(fd, text[: _TEXT - 1].ljust(_TEXT - 1) + b"\n")
        except OSError:
            # The signature only improves the message for waiting processes.
            return

    def _give_back(self, fd: int) -> None:
        # All data is durable by now; closing the descriptor or ending the process frees the lock.
        with suppress(OSError):
            self._files.disk.lock(fd, fcntl.LOCK_UN)
        with suppress(OSError):
            self._files.disk.close(fd)

    def _busy(self, fd: int | None) -> StoreBusy:
        if fd is None:
            return StoreBusy("store_busy_here")
        try:
            stated = json.loads(self._files.disk.read(fd, _TEXT, 0))
            pid, host = int(stated["pid"]), str(stated["host"])
            command, since = str(stated["command"]), float(stated["since"])
        except (OSError, ValueError, TypeError, KeyError):
            return StoreBusy("store_locked")
        here = host == self._waiting.machine
        stopped = here and read_state(self._files, pid) in ("T", "t")
        return StoreBusy(
            "store_holder_suspended" if stopped else "store_busy",
            pid=pid,
            host="" if here else host,
            command=command,
            s=max(self._waiting.clock() - since, 0.0),
            since=datetime.fromtimestamp(since, tz=UTC).strftime("%H:%M:%S"),
        )


def read_state(files: Files, pid: int) -> str:
    """Return a process's state letter from the kernel, '' if there is no such process."""
    try:
        fd = files.disk.open(f"/proc/{pid}/stat", READ)
    except OSError:
        return ""
    try:
        text = files.disk.read(fd, 4096, 0)
    except OSError:
        return ""
    finally:
        files.disk.close(fd)
    # The name in brackets may contain anything, even brackets.
    return text.rpartition(b")")[2].split()[0].decode("ascii", "replace") if b")" in text else ""
