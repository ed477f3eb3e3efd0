"""Small files of the user: values kept between sessions, copies of the clipboard."""

from __future__ import annotations

import errno
import json
import os
import stat
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tuibench.core.errors import WriteError
from tuibench.runs.directory import make_private, write_whole

_MOST_BYTES = 1 << 20


def read_small(path: Path) -> str:
    """Return the file's text; raise OSError if it is not a regular file: opening a FIFO would wait for a writer."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if found.st_size > _MOST_BYTES:
            raise OSError(errno.EFBIG, f"more than {_MOST_BYTES >> 20} MiB", str(path))
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(_MOST_BYTES).decode("utf-8")
    finally:
        os.close(descriptor)


class StateFile:
    """One JSON object in its own file; several sessions may write it, and the last one wins.

    The constructor reads the file and only `keep` writes it, so that nothing else waits for a disk.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = self._load()
        self._changes: dict[str, Any] = {}
        self._lock = threading.Lock()
        """Guards the changes; never held during disk access."""
        self._writing = threading.Lock()

    def read(self) -> dict[str, Any]:
        """Return the values stored when this session began, updated by this session."""
        return self._known

    def note(self, changes: Mapping[str, Any]) -> bool:
        """Remember values for this session; return whether any value is still to be written for the next."""
        new = {name: value for name, value in changes.items() if name not in self._known or self._known[name] != value}
        with self._lock:
            self._known = {**self._known, **new}
            self._changes = {**self._changes, **new}
            return bool(self._changes)

    def keep(self) -> bool:
        """Write the noted values, keeping those that others have written; return False if the write failed."""
        with self._writing:
            changes = self._changes
            if not changes:
                return True
            if not self._write({**self._load(), **changes}):
                return False
            with self._lock:
                # Values noted meanwhile are still unwritten; their own callers write them.
                left = {name: value for name, value in self._changes.items() if changes.get(name) is not value}
                self._changes = left
            return True

    def change(self, changes: Mapping[str, Any]) -> bool:
        """Note and write values; return False if the write failed."""
        return not self.note(changes) or self.keep()

    def _load(self) -> dict[str, Any]:
        """Read the file; return nothing if it cannot be read, as its values can all be chosen again."""
        try:
            found = json.loads(read_small(self._path))
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, new: Mapping[str, Any]) -> bool:
        part = self._path.with_name(f".{self._path.name}.{os.getpid()}.part")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            part.unlink(missing_ok=True)
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
                json.dump(new, handle)
            os.replace(part, self._path)
        except OSError:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            return False
        return True


_NAME = "copied.txt"


def keep_copy(state: Path, text: str) -> Path:
    """Write the text to its file; raise WriteError if the disk refuses."""
    path = state / _NAME
    try:
        make_private(state)
        write_whole(path, (text + "\n").encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise WriteError("copy_unwritable", path=str(path), text=error.strerror or str(error)) from error
    return path
