"""All reads and writes of the store's files, with errors that name the file, and temporary names."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tuibench.core.errors import StoreError
from tuibench.store import atomic
from tuibench.store.atomic import Foreign, Stamp
from tuibench.store.disk import LOCK, Disk
from tuibench.store.envelope import check_head
from tuibench.store.trouble import explain, in_the_way

_TEMP = re.compile(r"\.(?P<name>.+)\.(?P<node>[0-9a-f]{8})-(?P<pid>\d+)-[0-9a-f]+\.tmp")
_TRIES = 100


class Files:
    """The files below one root; a missing file is None, and other failures are a StoreError that names it."""

    def __init__(self, root: str, disk: Disk, node: str, entropy: Callable[[int], bytes]) -> None:
        self.root = root
        self.disk = disk
        self.node = node
        self._entropy = entropy
        self._mark = ""
        self._count = 0
        self._durable: set[str] = set()

    def name(self, path: str) -> str:
        """Return the name for messages: relative to the store, or the full path if outside it."""
        name = os.path.relpath(path, self.root)
        return path if name.split(os.sep)[0] == os.pardir else name

    def stamp(self, path: str) -> Stamp | None:
        """Return the stamp of a file."""
        with self.telling(path):
            try:
                return atomic.read_stamp(self.disk, path)
            except FileNotFoundError:
                return None

    def read(self, path: str) -> tuple[bytes, Stamp] | None:
        """Return a whole file."""
        with self.telling(path):
            try:
                return atomic.read_all(self.disk, path)
            except FileNotFoundError:
                return None

    def read_beginning(self, path: str, count: int) -> tuple[bytes, int] | None:
        """Return the first bytes of a file and its size."""
        with self.telling(path):
            try:
                return atomic.read_beginning(self.disk, path, count)
            except FileNotFoundError:
                return None

    def replace(self, path: str, data: bytes, *, keep: bool = True) -> Stamp:
        """Put a sealed file at `path` durably; create its directory if needed."""
        self.make_directory(os.path.dirname(path))
        with self.telling(path):
            temps = self.temp(path), self.temp(path)
            return atomic.replace(self.disk, path, temps, data, keep=keep, verify=check_head)

    def put_first(self, path: str, data: bytes) -> bool:
        """Put a write-once file at `path`; return False if it already exists."""
        self.make_directory(os.path.dirname(path))
        with self.telling(path):
            return atomic.link_first(self.disk, path, self.temp(path), data)

    def make_directory(self, path: str) -> None:
        """Make a directory and all its parents durably.

        An existing one may come from a process that died before it synced the parent, so sync each once per session.
        """
        if path in self._durable:
            return
        inside = path == self.root or path.startswith(self.root + os.sep)
        if not inside and self.is_directory(path):
            return
        self.make_directory(os.path.dirname(path))
        with self.telling(path):
            self._make_one(path)
        self._durable.add(path)

    def _make_one(self, path: str) -> None:
        try:
            self.disk.mkdir(path)
            made = True
        except FileExistsError:
            made = False
            if path != self.root and self.kind(path) != "directory":
                raise in_the_way(self.name(path), "a directory belongs there, and it is none") from None
        try:
            atomic.sync_directory(self.disk, os.path.dirname(path))
        except PermissionError:
            # A parent of another owner may not be readable; a directory that existed before is not ours to sync.
            if made:
                raise

    def forget_directories(self) -> None:
        """Create and sync directories again after an error: they may be gone."""
        self._durable.clear()

    def sync_directory(self, path: str) -> None:
        """Make the names in a directory durable."""
        with self.telling(path):
            atomic.sync_directory(self.disk, path)

    def take_in(self, path: str) -> None:
        """Restrict a file written by others to its owner, and fsync it."""
        with self.telling(path):
            atomic.take_in(self.disk, path)

    def names(self, path: str) -> list[str]:
        """Return the sorted names in a directory; empty if it is missing."""
        with self.telling(path):
            try:
                return self.disk.scan(path)
            except FileNotFoundError:
                return []

    def kind(self, path: str) -> str:
        """Return file, directory, link or other; '' if there is nothing."""
        found = self.stat(path)
        if found is None:
            return ""
        mode = found.st_mode
        kinds = ((stat.S_ISREG, "file"), (stat.S_ISDIR, "directory"), (stat.S_ISLNK, "link"))
        return next((kind for test, kind in kinds if test(mode)), "other")

    def stat(self, path: str) -> os.stat_result | None:
        """Return the status of the name itself; do not follow links."""
        with self.telling(path):
            try:
                return self.disk.stat(path)
            except FileNotFoundError:
                return None

    def is_directory(self, path: str) -> bool:
        """Return whether the path is a readable directory; links above the store are allowed."""
        try:
            self.disk.scan(path)
        except OSError:
            return False
        return True

    def link(self, source: str, target: str) -> None:
        """Create a hard link, or a copy if the file system has none; do nothing if the target exists."""
        with self.telling(target):
            try:
                self.disk.link(source, target)
            except FileExistsError:
                return
            except OSError as error:
                if error.errno not in atomic.NO_LINKS:
                    raise
                temp = self.temp(target)
                atomic.copy(self.disk, source, temp)
                self.disk.replace(temp, target)

    def rename(self, source: str, target: str) -> None:
        """Rename a file or directory within one file system."""
        self._durable = {path for path in self._durable if not (path + os.sep).startswith(source + os.sep)}
        with self.telling(source):
            self.disk.replace(source, target)

    def copy(self, source: str, target: str) -> None:
        """Make a durable copy of a file; it appears under its name only when complete."""
        with self.telling(target):
            temp = self.temp(target)
            atomic.copy(self.disk, source, temp)
            self.disk.replace(temp, target)

    def touch(self, path: str) -> None:
        """Create an empty file unless it exists."""
        with self.telling(path):
            self.disk.close(self.disk.open(path, LOCK))

    def remove(self, path: str) -> None:
        """Remove a file if it exists."""
        with self.telling(path):
            try:
                self.disk.unlink(path)
            except FileNotFoundError:
                return

    def remove_tree(self, path: str) -> None:
        """Remove a directory with its content; follow no links."""
        if self.kind(path) != "directory":
            self.remove(path)
            return
        for name in self.names(path):
            self.remove_tree(os.path.join(path, name))
        with self.telling(path):
            self.disk.rmdir(path)

    @contextmanager
    def telling(self, path: str) -> Iterator[None]:
        """Convert system errors at `path` to errors of the store."""
        try:
            yield
        except Foreign as error:
            raise in_the_way(self.name(path), str(error)) from error
        except OSError as error:
            self.forget_directories()
            raise explain(error, self.name(path), self.root) from error

    def temp(self, path: str) -> str:
        """Return a free temporary name beside `path`."""
        directory, name = os.path.split(path)
        # Two stores in one process share its pid.
        self._mark = self._mark or self._entropy(3).hex()
        for _ in range(_TRIES):
            self._count += 1
            temp = os.path.join(directory, f".{name}.{self.node}-{os.getpid()}-{self._mark}{self._count}.tmp")
            kind = self.kind(temp)
            if not kind:
                return temp
            if kind != "file":
                raise in_the_way(self.name(temp), "a link or directory is there")
        raise StoreError(
            f"{self.name(directory)} of the store: no free name", "`tuibench store check` finds leftovers."
        )


def parse_temp(name: str) -> tuple[str, int] | None:
    """Return the node and pid in a temporary name; None for any other name."""
    found = _TEMP.fullmatch(name)
    return (found["node"], int(found["pid"])) if found else None
