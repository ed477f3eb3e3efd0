"""All reads and writes of the store's files, with errors that name the file, and temporary names."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tuibench.core.errors import StoreError
from tuibench.core.reason import Reason, because
from tuibench.store import atomic
from tuibench.store.atomic import Foreign, Stamp
from tuibench.store.disk import CREATE, LOCK, NAMELESS, Disk, explain, in_the_way
from tuibench.store.envelope import check_head

if TYPE_CHECKING:
    from tuibench.core.cell import CellResult, Samples
    from tuibench.core.result import RunResult


_TEMP = re.compile(r"\.(?P<name>.+)\.(?P<node>[0-9a-f]{8})-(?P<pid>\d+)-[0-9a-f]+\.tmp")
_TRIES = 100
T = TypeVar("T")


class Files:
    """The files below one root; a missing file is None, and other failures are a StoreError that names it."""

    def __init__(self, root: str, disk: Disk, node: str, entropy: Callable[[int], bytes]) -> None:
        self.root = root
        self._inside = os.path.join(root, "")
        self.disk = disk
        self.node = node
        self._entropy = entropy
        self._mark = ""
        self._count = 0
        self._durable: set[str] = set()

    def name(self, path: str) -> str:
        """Return the name for messages: relative to the store, or the full path if outside it."""
        if path.startswith(self._inside) and os.pardir not in path:
            return path[len(self._inside) :]
        name = os.path.relpath(path, self.root)
        return path if name.split(os.sep)[0] == os.pardir else name

    def stamp(self, path: str) -> Stamp | None:
        """Return the stamp of a file."""
        return self._find(path, atomic.read_stamp)

    def read(self, path: str) -> tuple[bytes, Stamp] | None:
        """Return a whole file."""
        return self._find(path, atomic.read_all)

    def read_beginning(self, path: str, count: int) -> tuple[bytes, int] | None:
        """Return the first bytes of a file and its size."""
        return self._find(path, lambda disk, path: atomic.read_beginning(disk, path, count))

    def stat(self, path: str) -> os.stat_result | None:
        """Return the status of the name itself; do not follow links."""
        return self._find(path, lambda disk, path: disk.stat(path))

    def names(self, path: str) -> list[str]:
        """Return the sorted names in a directory; empty if it is missing."""
        return self._find(path, lambda disk, path: disk.scan(path)) or []

    def _find(self, path: str, look: Callable[[Disk, str], T]) -> T | None:
        """Return the answer of a call, None if there is nothing at the path."""
        try:
            return look(self.disk, path)
        except FileNotFoundError:
            return None
        except (Foreign, OSError) as error:
            raise self._explain(error, path) from error

    def replace(self, path: str, data: bytes, *, keep: bool = True) -> Stamp:
        """Put a sealed file at `path` durably; create its directory if needed."""
        self.make_directory(os.path.dirname(path))
        with self.explaining(path):
            temps = self.temp(path), self.temp(path)
            return atomic.replace(self.disk, path, temps, data, keep=keep, verify=check_head)

    def put_first(self, path: str, data: bytes) -> bool:
        """Put a write-once file at `path`; return False if it already exists."""
        self.make_directory(os.path.dirname(path))
        with self.explaining(path):
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
        with self.explaining(path):
            self._make_one(path)
        self._durable.add(path)

    def _make_one(self, path: str) -> None:
        try:
            self.disk.mkdir(path)
            made = True
        except FileExistsError:
            made = False
            if path != self.root and self.kind(path) != "directory":
                raise in_the_way(self.name(path), because("not_directory")) from None
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
        with self.explaining(path):
            atomic.sync_directory(self.disk, path)

    def take_in(self, path: str) -> None:
        """Restrict a file written by others to its owner, and fsync it."""
        with self.explaining(path):
            atomic.take_in(self.disk, path)

    def kind(self, path: str) -> str:
        """Return file, directory, link or other; '' if there is nothing."""
        found = self.stat(path)
        if found is None:
            return ""
        mode = found.st_mode
        kinds = ((stat.S_ISREG, "file"), (stat.S_ISDIR, "directory"), (stat.S_ISLNK, "link"))
        return next((kind for test, kind in kinds if test(mode)), "other")

    def is_directory(self, path: str) -> bool:
        """Return whether the path is a readable directory; links above the store are allowed."""
        try:
            self.disk.scan(path)
        except OSError:
            return False
        return True

    def link(self, source: str, target: str) -> None:
        """Create a hard link, or a copy if the file system has none; do nothing if the target exists."""
        with self.explaining(target):
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
        with self.explaining(source):
            self.disk.replace(source, target)

    def copy(self, source: str, target: str) -> None:
        """Make a durable copy of a file; it appears under its name only when complete."""
        with self.explaining(target):
            temp = self.temp(target)
            atomic.copy(self.disk, source, temp)
            self.disk.replace(temp, target)

    def touch(self, path: str) -> None:
        """Create an empty file unless it exists."""
        with self.explaining(path):
            self.disk.close(self.disk.open(path, LOCK))

    def remove(self, path: str) -> None:
        """Remove a file if it exists."""
        with self.explaining(path):
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
        with self.explaining(path):
            self.disk.rmdir(path)

    @contextmanager
    def explaining(self, path: str) -> Iterator[None]:
        """Convert system errors at `path` to errors of the store."""
        try:
            yield
        except (Foreign, OSError) as error:
            raise self._explain(error, path) from error

    def _explain(self, error: Foreign | OSError, path: str) -> StoreError:
        if isinstance(error, Foreign):
            return in_the_way(self.name(path), because("not_regular_file"))
        self.forget_directories()
        return explain(error, self.name(path), self.root)

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
                raise in_the_way(self.name(temp), because("link_or_directory"))
        raise StoreError("no_free_name", name=self.name(directory))


def parse_temp(name: str) -> tuple[str, int] | None:
    """Return the node and pid in a temporary name; None for any other name."""
    found = _TEMP.fullmatch(name)
    return (found["node"], int(found["pid"])) if found else None


ROOM_BYTES = 32 << 20
"""The size of a large sweep with all its samples."""
_TRY = bytes(1 << 16)
_NO_NAMELESS = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT})


def probe_store(files: Files) -> Reason | None:
    """Return why no result could be saved; None if one could."""
    directory = files.root
    while not files.is_directory(directory):
        above = os.path.dirname(directory)
        if _is_something(files, directory):
            return because("place_not_entered", path=directory)
        if above == directory:
            return because("place_missing", path=files.root)
        directory = above
    try:
        _write_something(files, directory)
        room = files.disk.room(directory)
    except OSError as error:
        return explain(error, directory, files.root).reason
    except StoreError as error:
        return error.reason
    return because("little_room", bytes=room, needed_bytes=ROOM_BYTES) if room < ROOM_BYTES else None


def _is_something(files: Files, path: str) -> bool:
    try:
        return bool(files.kind(path))
    except StoreError:
        # A path below a file fails here; the loop reaches the file itself further up.
        return False


def _write_something(files: Files, directory: str) -> None:
    named = ""
    try:
        fd = files.disk.open(directory, NAMELESS, 0o600)
    except OSError as error:
        if error.errno not in _NO_NAMELESS:
            raise
        # File systems without nameless files need a temporary name.
        named = files.temp(os.path.join(directory, "probe"))
        fd = files.disk.open(named, CREATE, 0o600)
    try:
        left = memoryview(_TRY)
        while left:
            left = left[files.disk.write(fd, left) :]
    finally:
        files.disk.close(fd)
        if named:
            files.remove(named)


def move_file(files: Files, source: str, target: str) -> None:
    """Rename a file, or copy it if the target is on another disk."""
    before, after = files.stat(source), files.stat(target)
    if before is not None and after is not None and before.st_ino == after.st_ino:
        # Renaming one hard link of a file over another would leave both.
        files.remove(source)
        return
    with files.explaining(source):
        try:
            files.disk.replace(source, target)
            return
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
    files.copy(source, target)
    files.remove(source)


def move_tree(files: Files, source: str, target: str) -> None:
    """Move a file or a directory of files; skip what has already moved."""
    kind = files.kind(source)
    if kind == "directory":
        _move_directory(files, source, target)
    elif kind:
        move_file(files, source, target)


def _move_directory(files: Files, source: str, target: str) -> None:
    if not files.kind(target):
        with files.explaining(source):
            try:
                files.disk.replace(source, target)
                return
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
    files.make_directory(target)
    for name in files.names(source):
        move_file(files, os.path.join(source, name), os.path.join(target, name))
    files.sync_directory(target)
    files.remove_tree(source)


def sync_names(files: Files, targets: Iterable[str], sources: Iterable[str]) -> None:
    """Make moves durable: sync the targets first, then the sources."""
    for path in dict.fromkeys([*targets, *sources]):
        if files.kind(path) == "directory":
            files.sync_directory(path)


def measure(files: Files, path: str) -> int:
    """Return the bytes of a file, or of all files below a directory."""
    found = files.stat(path)
    if found is not None and stat.S_ISDIR(found.st_mode):
        return sum(measure(files, os.path.join(path, name)) for name in files.names(path))
    return found.st_size if found is not None else 0


def move_samples(files: Files, source: str, target: str) -> frozenset[str]:
    """Move every file of a directory into another, by rename if possible; return the names in the target."""
    names = [name for name in files.names(source) if not name.startswith(".")]
    if names:
        files.make_directory(target)
    for name in names:
        path = os.path.join(source, name)
        if files.kind(path) != "file":
            raise in_the_way(path, because("samples_not_files"))
        files.take_in(path)
        move_file(files, path, os.path.join(target, name))
    if names:
        files.sync_directory(target)
    return frozenset(files.names(target))


def name_samples(result: RunResult, there: Collection[str]) -> RunResult:
    """Return the result with bare names of the present sample files, and None for missing ones."""
    return replace(result, cells=tuple(_name_in_cell(cell, there) for cell in result.cells))


def _name_in_cell(cell: CellResult, there: Collection[str]) -> CellResult:
    executions = tuple(replace(one, samples=_name(one.samples, there)) for one in cell.executions)
    return replace(cell, executions=executions, samples=_name(cell.samples, there) if cell.samples else None)


def _name(samples: Samples, there: Collection[str]) -> Samples:
    name = Path(samples.file).name if samples.file else None
    return replace(samples, file=name if name in there else None)
