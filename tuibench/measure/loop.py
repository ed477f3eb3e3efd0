"""Loop that times calls with one clock read per call, so that the stamps cover all time between calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice, repeat
from time import perf_counter_ns
from typing import Any

BLOCK_NS = 10_000_000
"""Shortest duration of a block; a longer call is a block of its own."""
_MOST_CALLS = 1 << 20


def time_block(calls: Iterator[Callable[[], object]], stamps: Any, count: int) -> None:
    """Make `count` calls; stamps[0] is the start and stamps[i] the end of the i-th call."""
    clock = perf_counter_ns
    stamps[0] = clock()
    for i, call in enumerate(islice(calls, count), 1):
        call()
        stamps[i] = clock()


def next_count(count: int, elapsed_ns: int) -> int:
    """Return the calls for a block of BLOCK_NS, given the time of `count` calls; grow at most tenfold."""
    if elapsed_ns >= BLOCK_NS and (count == 1 or elapsed_ns < 2 * BLOCK_NS):
        return count
    wanted = -(-count * BLOCK_NS // max(elapsed_ns, 1))
    return max(1, min(int(wanted * 1.05) if wanted > 20 else wanted, count * 10, _MOST_CALLS))


def harness_ns(samples: int = 5, calls: int = 2000) -> float:
    """Return the loop's own cost per call compared with an empty loop around the same call; shown, never subtracted."""
    import numpy as np

    def nothing() -> None:
        return None

    stamps = np.zeros(calls + 1, dtype=np.int64).data
    costs = []
    for _ in range(samples):
        time_block(repeat(nothing), stamps, calls)
        looped = stamps[calls] - stamps[0]
        begin = perf_counter_ns()
        for _ in repeat(None, calls):
            nothing()
        costs.append((looped - (perf_counter_ns() - begin)) / calls)
    return max(0.0, sorted(costs)[samples // 2])
