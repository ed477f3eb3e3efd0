"""Holds the host lock briefly, for running a model without measuring it: neither side disturbs the other."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tuibench.core.ulid import make_ulid
from tuibench.runs.host_queue import HostQueue, Wait
from tuibench.runs.stopping import StopSwitch


@contextmanager
def hold_for_a_moment(name: str) -> Iterator[None]:
    """Hold the host lock; raise HostBusy at once if a run is measuring or queued. New runs queue behind."""
    stop = StopSwitch()
    queue = HostQueue(name, make_ulid(int(time.time() * 1000), secrets.token_bytes(10)), _describe, stop)
    try:
        queue.enter(0.0, _wait)
        yield
    finally:
        queue.leave()
        stop.close()


def _describe() -> dict[str, Any]:
    return {"brief": True}


def _wait(_: Wait) -> None:
    """Do nothing: other brief holders leave in a moment."""
