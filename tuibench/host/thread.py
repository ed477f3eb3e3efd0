"""Time that the threads of this process waited for a CPU, read from descriptors that stay open."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from tuibench.host.tree import Tree

_LINE_BYTES = 96
_TASKS = "proc/self/task"
_NOT_STARTED = "waiting: not started"


class ThreadWaits:
    """Run-queue delay of every thread; each reading costs one system call per thread and opens no file."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._tree = Tree(root)
        self._watched: dict[int, list[int]] = {}
        self._late = 0
        self.reason: str | None = _NOT_STARTED

    def scan(self, known: bool) -> None:
        """Watch the threads that are not watched yet.

        With `known`, the threads are older than the measurement and only their waiting from now on counts.
        Otherwise all of their waiting counts.
        """
        first = self.reason == _NOT_STARTED
        full = False
        for name in self._tree.entries(_TASKS):
            if name.isdecimal() and int(name) not in self._watched:
                full = not self._watch(int(name), known) or full
        if full:
            self.reason = "waiting: more threads than this process may have files open"
        elif first:
            self.reason = self._unfit()
        if self.reason:
            self.close()

    def waited_ns(self) -> int | None:
        """Return the nanoseconds that the watched threads waited since the last call; None if unmeasured."""
        total = self._late
        self._late = 0
        gone: list[int] = []
        for thread, entry in self._watched.items():
            try:
                now = int(os.pread(entry[0], _LINE_BYTES, 0).split(b" ", 2)[1])
            except (OSError, IndexError, ValueError):
                # The thread has ended; its waiting since the last reading is lost.
                gone.append(thread)
                continue
            total += now - entry[1]
            entry[1] = now
        for thread in gone:
            os.close(self._watched.pop(thread)[0])
        return None if self.reason else total

    def late_ns(self) -> int | None:
        """Return the earlier waiting of threads found since the last `waited_ns`; None if unmeasured."""
        late, self._late = self._late, 0
        return None if self.reason else late

    def close(self) -> None:
        """Close all descriptors."""
        for entry in self._watched.values():
            os.close(entry[0])
        self._watched.clear()

    def _watch(self, thread: int, known: bool) -> bool:
        try:
            descriptor = os.open(self._tree.at(f"{_TASKS}/{thread}/schedstat"), os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            return error.errno not in (errno.EMFILE, errno.ENFILE)
        words = _fields(descriptor)
        if len(words) < 3:
            os.close(descriptor)
            return True
        self._watched[thread] = [descriptor, int(words[1])]
        if not known:
            self._late += int(words[1])
        return True

    def _unfit(self) -> str | None:
        if not self._watched:
            return "waiting: no /proc/self/task/*/schedstat, the kernel lacks CONFIG_SCHED_INFO"
        # A kernel without this accounting prints three zeros; a thread that can read this has run at least once.
        if all(_fields(entry[0]) == [b"0", b"0", b"0"] for entry in self._watched.values()):
            return "waiting: this kernel keeps no schedstat account (CONFIG_SCHEDSTATS, or boot with delayacct)"
        return None


def _fields(descriptor: int) -> list[bytes]:
    try:
        return os.pread(descriptor, _LINE_BYTES, 0).split()
    except OSError:
        return []
