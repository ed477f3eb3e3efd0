"""The time of a fixed loop on this machine, now: what milliseconds printed beside it can be held against.

python -m tests.benchmarks.calibration
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from itertools import repeat

ITERATIONS = 200_000
ROUNDS = 15


def _step() -> None:
    """Stand for the least that a Python call can cost."""


def calibrate(clock_ns: Callable[[], int] = time.perf_counter_ns) -> tuple[float, float]:
    """Return the median and the spread (max / min − 1) over rounds of an empty call, the median in nanoseconds."""
    step = _step
    rounds = []
    for _ in range(ROUNDS):
        start = clock_ns()
        for _ in repeat(None, ITERATIONS):
            step()
        rounds.append((clock_ns() - start) / ITERATIONS)
    return statistics.median(rounds), max(rounds) / min(rounds) - 1


def figure(name: str, value: float, unit: str, at_most: float | None = None) -> str:
    """Return one line of a benchmark script: what was measured and what it may be."""
    limit = "" if at_most is None else f"  (at most {at_most:g}: {'holds' if value <= at_most else 'DOES NOT HOLD'})"
    return f"{name:<48} {value:>12.4g} {unit}{limit}"


if __name__ == "__main__":
    call_ns, spread = calibrate()
    print(figure("calibration: one empty Python call", call_ns, "ns"))
    print(figure("calibration: spread over rounds", spread * 100, "%"))
