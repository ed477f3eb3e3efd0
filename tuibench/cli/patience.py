"""Says on stderr what takes long while there is nothing else to be heard of it."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tuibench.core.units import seconds
from tuibench.report.progress import ProgressPainter, Snapshot, can_repaint

AFTER_S = 2.0
"""What is over by then needs no word."""
_EVERY_S = 1.0


@contextmanager
def told(words: str, quiet: bool, ascii_only: bool, clock: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """Meanwhile a line that counts seconds, where it can be repainted; elsewhere one line; with `quiet` nothing."""
    if quiet:
        yield
        return
    in_place = can_repaint(sys.stderr, os.environ.get("TERM", ""))
    painter, over = ProgressPainter(sys.stderr, clock, in_place, ascii_only), threading.Event()
    teller = threading.Thread(target=_tell, args=(words, painter, over, in_place, clock), name="patience", daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()
        painter.clear()


def _tell(
    words: str, painter: ProgressPainter, over: threading.Event, in_place: bool, clock: Callable[[], float]
) -> None:
    began = clock()
    if over.wait(AFTER_S):
        return
    if not in_place:
        painter.say(f"{words} ...")
        return
    while True:
        painter.update(Snapshot(0, 0, activity=f"{words}, {seconds(clock() - began)}"))
        if over.wait(_EVERY_S):
            return
