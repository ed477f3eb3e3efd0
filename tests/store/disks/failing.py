"""A disk that refuses one call, or every call from some moment on."""

from __future__ import annotations

import errno
import os
from typing import Any

from tests.store.disks.relay import OpenFiles, alters
from tuibench.store.disk import Disk

NEEDS_ROOM = frozenset({"open", "write", "mkdir", "link", "replace", "fsync"})
"""Calls that a full disk can refuse; deleting always succeeds."""


class FailingDisk(OpenFiles):
    """Fails the `at`-th altering call (with `reads`: any call but locks) with `code`; 0 fails none.

    `short` lets a failing write take half of its data first, as a disk does that becomes full in the middle.
    `lasting` also fails every later call that such a disk would refuse, until `heal` is called.
    """

    def __init__(
        self,
        at: int = 0,
        code: int = errno.ENOSPC,
        *,
        short: bool = False,
        lasting: bool = False,
        reads: bool = False,
        inner: Disk | None = None,
    ) -> None:
        super().__init__(inner)
        self.at, self.code, self.short, self.lasting, self.reads = at, code, short, lasting, reads
        self.seen = 0
        self.failed: list[str] = []
        """The refused calls, as 'kind name'."""
        self.unaltered: list[str] = []
        """Those of them that would have altered something."""
        self._due = False

    def arm(self, at: int) -> None:
        """Count calls from here."""
        self.at, self.seen, self.failed, self.unaltered, self._due = at, 0, [], [], False

    def heal(self) -> None:
        """Stop refusing."""
        self.arm(0)

    def touch(self, kind: str, arguments: tuple[Any, ...]) -> Any:
        """Make the call or refuse it."""
        if not self._counts(kind, arguments):
            return super().touch(kind, arguments)
        self.seen += 1
        if self._due and kind == "write":
            self._due = False
            self._refuse(kind, arguments)
        if self.at and (self.seen == self.at or (self.lasting and self.seen > self.at and self._lasts(kind))):
            if self.short and kind == "write" and len(arguments[1]) > 1:
                self._due = self.code != errno.EINTR
                return super().touch(kind, (arguments[0], arguments[1][: len(arguments[1]) // 2]))
            self._refuse(kind, arguments)
        return super().touch(kind, arguments)

    def _counts(self, kind: str, arguments: tuple[Any, ...]) -> bool:
        return alters(kind, arguments) or (self.reads and kind in ("open", "read", "stat", "fstat", "scan", "close"))

    def _lasts(self, kind: str) -> bool:
        return kind in NEEDS_ROOM if self.code in (errno.ENOSPC, errno.EDQUOT) else True

    def _refuse(self, kind: str, arguments: tuple[Any, ...]) -> None:
        first = self.paths.get(arguments[0], "?") if isinstance(arguments[0], int) else arguments[0]
        self.failed.append(f"{kind} {os.path.basename(first)}")
        if alters(kind, arguments):
            self.unaltered.append(self.failed[-1])
        if kind == "close":
            super().touch(kind, arguments)
        raise OSError(self.code, os.strerror(self.code), str(first))


class SyncingNothing(Disk):
    """Ignores fsync: fast, and right where only a process dies."""

    def __init__(self) -> None:
        self.synced = 0

    def fsync(self, fd: int) -> None:
        """Count the call and make none."""
        self.synced += 1
