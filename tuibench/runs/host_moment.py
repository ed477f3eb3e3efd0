"""The host for a moment: what runs a model without measuring it neither disturbs whoever measures nor comes between."""

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
    """Who comes to measure meanwhile stands in line; HostBusy at once where somebody measures, or waits to."""
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
    """Nobody watches: others who only look are gone in a moment, too."""
