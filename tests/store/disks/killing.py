"""A disk that kills its own process, for writers in processes of their own."""

from __future__ import annotations

import os
import signal
from typing import Any, NoReturn

from tests.store.disks.relay import Relay, alters
from tuibench.store.disk import Disk

BEFORE, MIDDLE, AFTER = "before", "middle", "after"


class KillingDisk(Relay):
    """Kills its process with SIGKILL at the `at`-th altering call: before it, after it or half-way.

    Only a write has a middle; the kernel does other calls in one step.
    """

    def __init__(self, at: int, moment: str, inner: Disk | None = None) -> None:
        super().__init__(inner)
        self.at, self.moment = at, moment
        self.seen = 0

    def touch(self, kind: str, arguments: tuple[Any, ...]) -> Any:
        """Make the call, or part of it."""
        if not alters(kind, arguments):
            return super().touch(kind, arguments)
        self.seen += 1
        if self.seen != self.at:
            return super().touch(kind, arguments)
        if self.moment == MIDDLE and kind == "write":
            super().touch(kind, (arguments[0], arguments[1][: len(arguments[1]) // 2]))
        elif self.moment == AFTER:
            super().touch(kind, arguments)
        return die()


class StoppingDisk(Relay):
    """Stops its process with SIGSTOP before the `at`-th altering call; the process keeps its locks."""

    def __init__(self, at: int, inner: Disk | None = None) -> None:
        super().__init__(inner)
        self.at = at
        self.seen = 0

    def touch(self, kind: str, arguments: tuple[Any, ...]) -> Any:
        """Make the call, possibly after a stop."""
        self.seen += alters(kind, arguments)
        if self.seen == self.at and alters(kind, arguments):
            os.kill(os.getpid(), signal.SIGSTOP)
        return super().touch(kind, arguments)


def die() -> NoReturn:
    """Kill this process without running a handler, as the kernel does when memory runs out."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("a killed process goes on")
