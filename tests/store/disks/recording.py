"""A disk that records its calls in order, for the power-loss simulator."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from tests.store.disks.relay import Relay


@dataclass(frozen=True, slots=True)
class Step:
    """One altering call, or a mark of the test between two calls."""

    kind: str
    """open, write, fsync, replace, link, unlink, mkdir, rmdir or mark."""
    path: str = ""
    """Relative to the root that is recorded."""
    target: str = ""
    file: int = -1
    """Which opening it belongs to: descriptors are used again, these numbers are not."""
    offset: int = 0
    data: bytes = b""
    created: bool = False
    mark: Any = None


class RecordingDisk(Relay):
    """The real disk, with a trace of the calls below `root`."""

    def __init__(self, root: str) -> None:
        super().__init__()
        self.root = root
        self.steps: list[Step] = []
        self._files: dict[int, tuple[int, str]] = {}
        self._places: dict[int, int] = {}
        self._opened = 0

    def mark(self, mark: Any) -> None:
        """Record that something began or was acknowledged here."""
        self.steps.append(Step("mark", mark=mark))

    def touch(self, kind: str, arguments: tuple[Any, ...]) -> Any:
        """Make the call, then record it; a failed call altered nothing."""
        known = kind == "open" and os.path.lexists(arguments[0])
        answer = super().touch(kind, arguments)
        if kind == "open":
            self._open(arguments, answer, known)
        elif kind == "close":
            self._files.pop(arguments[0])
        elif kind == "write":
            self._write(arguments[0], bytes(arguments[1][:answer]))
        elif kind == "fsync":
            file, path = self._files[arguments[0]]
            self.steps.append(Step(kind, path, file=file))
        elif kind in ("replace", "link"):
            self.steps.append(Step(kind, self._relative(arguments[0]), self._relative(arguments[1])))
        elif kind in ("unlink", "mkdir", "rmdir"):
            self.steps.append(Step(kind, self._relative(arguments[0])))
        return answer

    def _open(self, arguments: tuple[Any, ...], fd: int, known: bool) -> None:
        path, flags, _ = arguments
        writes = bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        if not writes and os.path.relpath(path, self.root).startswith(".."):
            self._files[fd] = (-1, "")
            return
        self._opened += 1
        self._files[fd] = (self._opened, self._relative(path))
        self._places[self._opened] = os.fstat(fd).st_size if flags & os.O_APPEND else 0
        assert not flags & os.O_TRUNC, "the simulator knows no truncation: nothing of the store is written over"
        self.steps.append(Step("open", self._relative(path), file=self._opened, created=writes and not known))

    def _write(self, fd: int, data: bytes) -> None:
        file, path = self._files[fd]
        self.steps.append(Step("write", path, file=file, offset=self._places[file], data=data))
        self._places[file] += len(data)

    def _relative(self, path: str) -> str:
        relative = os.path.relpath(path, self.root)
        assert not relative.startswith(".."), f"{path} lies outside of what is recorded"
        return relative
