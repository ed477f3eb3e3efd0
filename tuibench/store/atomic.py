"""Replaces files atomically: temporary file, fsync, rename, fsync of the directory."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Sequence

from tuibench.core.value import dataclass
from tuibench.store.disk import CREATE, DIRECTORY, READ, BadWrite, Disk

HEAD = 256
"""Bytes at the beginning of a file that identify its generation."""
PREVIOUS = ".prev"
_CHUNK = 1 << 20
NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})
"""Errors of file systems without hard links."""


class Foreign(Exception):
    """A file of the store is something else: a link, a pipe or a directory."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """The identity of a file's content when it was read: equal stamps mean equal contents."""

    inode: int
    size: int
    mtime_ns: int
    head: bytes


def read_stamp(disk: Disk, path: str) -> Stamp:
    """Return the stamp of a file with one open and one short read."""
    fd = _open_regular(disk, path)
    try:
        return _stamp(disk, fd)
    finally:
        disk.close(fd)


def read_all(disk: Disk, path: str) -> tuple[bytes, Stamp]:
    """Return a whole file and the stamp of exactly this content."""
    fd = _open_regular(disk, path)
    try:
        found = _stamp(disk, fd)
        return _drain(disk, fd, found.size + 1), found
    finally:
        disk.close(fd)


def read_beginning(disk: Disk, path: str, count: int) -> tuple[bytes, int]:
    """Return the first `count` bytes of a file and its size."""
    fd = _open_regular(disk, path)
    try:
        size = disk.fstat(fd).st_size
        return _drain(disk, fd, count, max_bytes=count), size
    finally:
        disk.close(fd)


def replace(
    disk: Disk, path: str, temps: Sequence[str], data: bytes, *, keep: bool, verify: Callable[[bytes], None]
) -> Stamp:
    """Put `data` at `path` durably; with `keep`, the old file becomes `.prev`.

    `temps` are free names beside it. `verify` gets the head as read back from the disk, before the old file is
    replaced.
    """
    data_temp, link_temp = temps
    fd = disk.open(data_temp, CREATE, 0o600)
    try:
        try:
            _write_out(disk, fd, data)
            disk.fsync(fd)
            written = _stamp(disk, fd)
            if written.size != len(data) or written.head != data[:HEAD]:
                raise BadWrite("write_not_read_back")
            verify(written.head)
        finally:
            disk.close(fd)
        if keep:
            _keep_previous(disk, path, link_temp)
        disk.replace(data_temp, path)
    except BaseException:
        drop(disk, data_temp)
        raise
    sync_directory(disk, os.path.dirname(path))
    return written


def link_first(disk: Disk, path: str, temp: str, data: bytes) -> bool:
    """Put `data` at `path` unless it exists; return whether this call created it."""
    fd = disk.open(temp, CREATE, 0o600)
    try:
        try:
            _write_out(disk, fd, data)
            disk.fsync(fd)
        finally:
            disk.close(fd)
        try:
            disk.link(temp, path)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            disk.replace(temp, path)
    finally:
        drop(disk, temp)
    sync_directory(disk, os.path.dirname(path))
    return True


def copy(disk: Disk, source: str, target: str) -> None:
    """Make a durable copy of a file under a new name."""
    reader = _open_regular(disk, source)
    try:
        writer = disk.open(target, CREATE, 0o600)
        try:
            offset = 0
            while part := disk.read(reader, _CHUNK, offset):
                _write_out(disk, writer, part)
                offset += len(part)
            disk.fsync(writer)
        except BaseException:
            drop(disk, target)
            raise
        finally:
            disk.close(writer)
    finally:
        disk.close(reader)


def take_in(disk: Disk, path: str) -> None:
    """Restrict a file written by others to its owner, and fsync it."""
    fd = _open_regular(disk, path)
    try:
        disk.chmod(fd, 0o600)
        disk.fsync(fd)
    finally:
        disk.close(fd)


def sync_directory(disk: Disk, path: str) -> None:
    """Make the names in a directory durable."""
    fd = disk.open(path, DIRECTORY)
    try:
        disk.fsync(fd)
    finally:
        disk.close(fd)


def drop(disk: Disk, path: str) -> None:
    """Remove a temporary file during error handling; ignore failures."""
    try:
        disk.unlink(path)
    except OSError:
        # The sweep removes it later; the original error matters more.
        return


def _keep_previous(disk: Disk, path: str, temp: str) -> None:
    try:
        now = disk.stat(path)
    except FileNotFoundError:
        return
    previous = path + PREVIOUS
    try:
        # Renaming one hard link of a file over another does nothing and leaves both.
        if disk.stat(previous).st_ino == now.st_ino:
            return
    except FileNotFoundError:
        pass
    try:
        try:
            disk.link(path, temp)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            copy(disk, path, temp)
        disk.replace(temp, previous)
    except BaseException:
        drop(disk, temp)
        raise


def _open_regular(disk: Disk, path: str) -> int:
    fd = disk.open(path, READ)
    try:
        regular = stat.S_ISREG(disk.fstat(fd).st_mode)
    except BaseException:
        disk.close(fd)
        raise
    if not regular:
        disk.close(fd)
        raise Foreign(path)
    return fd


def _stamp(disk: Disk, fd: int) -> Stamp:
    found = disk.fstat(fd)
    return Stamp(found.st_ino, found.st_size, found.st_mtime_ns, _drain(disk, fd, HEAD, max_bytes=HEAD))


def _write_out(disk: Disk, fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        taken = disk.write(fd, view)
        if taken <= 0:
            raise BadWrite("write_refused")
        view = view[taken:]


def _drain(disk: Disk, fd: int, expected: int, max_bytes: int | None = None) -> bytes:
    """Read to the end or up to `max_bytes`; a single read may return less."""
    parts: list[bytes] = []
    size = 0
    while max_bytes is None or size < max_bytes:
        part = disk.read(fd, max(expected - size, HEAD) if max_bytes is None else max_bytes - size, size)
        if not part:
            break
        parts.append(part)
        size += len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
