"""Where one fetched model lies: a directory of its own in the cache, with a note beside each file of what it is."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tuibench.core.errors import ModelError, WriteError
from tuibench.core.text import show

_NEW = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class Shelf:
    """One directory for its owner alone; every file in it has a name that is ours."""

    def __init__(self, cache: str, key: str) -> None:
        self.directory = os.path.join(cache, "models", key)
        try:
            _make_private(self.directory)
        except OSError as error:
            raise cannot_write(self.directory, error) from error

    def path(self, name: str) -> str:
        """Of a finished file."""
        return os.path.join(self.directory, name)

    def part(self, name: str) -> str:
        """Of a file that is on its way."""
        return self.path(f"{name}.part")

    def open_part(self, name: str) -> int:
        """A descriptor to write what is on its way, from the beginning."""
        return os.open(self.part(name), _NEW | os.O_TRUNC, 0o600)

    def size(self, path: str) -> int | None:
        """Of a file; None where there is none."""
        try:
            return os.lstat(path).st_size
        except OSError:
            return None

    def free_bytes(self) -> int:
        """What the disk has left for this user."""
        found = os.statvfs(self.directory)
        return found.f_bavail * found.f_frsize

    def read_note(self, name: str) -> dict[str, Any]:
        """What was noted; {} where nothing can be read, because then the file is simply fetched again."""
        try:
            with open(self.path(f"{name}.json"), encoding="utf-8") as handle:
                found = json.load(handle)
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def write_note(self, name: str, note: dict[str, Any]) -> None:
        """Note something, whole or not at all."""
        target = self.path(f"{name}.json")
        temporary = f"{target}.{os.getpid()}.tmp"
        with open(os.open(temporary, _NEW | os.O_TRUNC, 0o600), "w", encoding="utf-8") as handle:
            json.dump(note, handle)
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, target)

    def finish(self, name: str) -> None:
        """Give what has arrived its name; it is on the disk before it can be seen."""
        os.replace(self.part(name), self.path(name))
        directory = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def forget(self, *names: str) -> None:
        """Remove files that may be there."""
        for name in names:
            if self.size(self.path(name)) is not None:
                os.unlink(self.path(name))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep others out; ModelError where another process is fetching the same model."""
        lock = os.open(self.path(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            if not _try_lock(lock):
                what = "another process is fetching this model"
                raise ModelError(what, f"try again when it is done; it holds {show(self.path('.lock'))}")
            yield
        finally:
            os.close(lock)


def cannot_write(where: str, error: OSError) -> WriteError:
    """What a disk's refusal means."""
    reason = error.strerror or str(error)
    return WriteError(f"{show(where)} cannot be written: {reason}", "free some space, or set TUIBENCH_HOME elsewhere")


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _make_private(directory: str) -> None:
    """As os.makedirs, but every directory it makes is for its owner alone."""
    parent = os.path.dirname(directory)
    if not os.path.isdir(parent):
        _make_private(parent)
    try:
        os.mkdir(directory, 0o700)
    except FileExistsError:
        if not os.path.isdir(directory):
            raise
