"""Cache directory of one fetched model, with a JSON note about each file."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tuibench.core.errors import ModelError, WriteError

_NEW = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class ModelCache:
    """A private directory; tuibench chooses the name of every file in it."""

    def __init__(self, cache: str, key: str) -> None:
        self.directory = os.path.join(cache, "models", key)
        try:
            _make_private(self.directory)
        except OSError as error:
            raise cannot_write(self.directory, error) from error

    def path(self, name: str) -> str:
        """Return the path of a complete file."""
        return os.path.join(self.directory, name)

    def part(self, name: str) -> str:
        """Return the path of a partial download."""
        return self.path(f"{name}.part")

    def open_part(self, name: str) -> int:
        """Open a partial download for writing, truncated to zero, and return its descriptor."""
        return os.open(self.part(name), _NEW | os.O_TRUNC, 0o600)

    def size(self, path: str) -> int | None:
        """Return the size of a file; None if it does not exist."""
        try:
            return os.lstat(path).st_size
        except OSError:
            return None

    def free_bytes(self) -> int:
        """Return the free disk space for this user."""
        found = os.statvfs(self.directory)
        return found.f_bavail * found.f_frsize

    def read_note(self, name: str) -> dict[str, Any]:
        """Return a note; {} if it is unreadable, in which case the file is fetched again."""
        try:
            with open(self.path(f"{name}.json"), encoding="utf-8") as handle:
                found = json.load(handle)
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def write_note(self, name: str, note: dict[str, Any]) -> None:
        """Write a note atomically."""
        target = self.path(f"{name}.json")
        temporary = f"{target}.{os.getpid()}.tmp"
        with open(os.open(temporary, _NEW | os.O_TRUNC, 0o600), "w", encoding="utf-8") as handle:
            json.dump(note, handle)
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, target)

    def finish(self, name: str) -> None:
        """Rename a complete download to its final name; its content is already on disk."""
        os.replace(self.part(name), self.path(name))
        directory = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def forget(self, *names: str) -> None:
        """Remove files, if they exist."""
        for name in names:
            if self.size(self.path(name)) is not None:
                os.unlink(self.path(name))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the directory's lock; raise ModelError if another process is fetching the same model."""
        lock = os.open(self.path(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            if not _try_lock(lock):
                raise ModelError("model_being_fetched", path=self.path(".lock"))
            yield
        finally:
            os.close(lock)


def cannot_write(where: str, error: OSError) -> WriteError:
    """Return the error for a failed write."""
    return WriteError("download_unwritable", path=where, text=error.strerror or str(error))


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _make_private(directory: str) -> None:
    """Create a directory and its parents like os.makedirs, each accessible to its owner only."""
    parent = os.path.dirname(directory)
    if not os.path.isdir(parent):
        _make_private(parent)
    try:
        os.mkdir(directory, 0o700)
    except FileExistsError:
        if not os.path.isdir(directory):
            raise
