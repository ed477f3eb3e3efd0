"""Overhead of the timing loop per call: on a call that does nothing, and on a model of a few microseconds.

python -m tests.benchmarks.harness
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from itertools import repeat
from time import perf_counter_ns
from typing import Any

import numpy as np

from tests.benchmarks.calibration import figure
from tuibench.core.settings.model_token import resolve_model
from tuibench.engines import factory
from tuibench.engines.protocol import Bound, LoadSettings
from tuibench.worker.sync import harness_ns, rotate, time_block

ROUNDS = 31
CALLS = 20_000


def bound_tiny(samples: int) -> Bound:
    """The smallest sample, loaded and bound as a worker binds it."""
    engine = factory.make("onnxruntime")
    engine.start()
    session = engine.load(LoadSettings(resolve_model("sample:tiny").path, 1, 1, (0,), "none", "f32", True, "."))
    (port,) = session.inputs()
    shape = [d if isinstance(d, int) else 1 for d in port.shape or ()]
    feeds = [{port.name: np.random.default_rng(i).random(shape, dtype=np.float32)} for i in range(samples)]
    return session.bind(feeds, "bound")


def bare(call: Callable[[], Any]) -> float:
    """Nanoseconds per call of nothing but the call."""
    begin = perf_counter_ns()
    for _ in repeat(None, CALLS):
        call()
    return (perf_counter_ns() - begin) / CALLS


def shipped(calls: tuple[Callable[[], Any], ...]) -> float:
    """The median that a worker would report, in nanoseconds."""
    stamps = np.zeros(CALLS + 1, dtype=np.int64)
    time_block(rotate(calls), stamps.data, CALLS)
    return float(np.median(np.diff(stamps)))


def main() -> None:
    """Interleave the sides, because the machine's speed drifts more than they differ."""
    print(figure("harness on a null engine", harness_ns(ROUNDS, 20_000) / 1000, "µs/call", 0.15))
    one, eight = bound_tiny(1), bound_tiny(8)
    pairs = [(bare(one.calls[0]), shipped(one.calls), shipped(eight.calls)) for _ in range(ROUNDS)]
    hot = statistics.median(reported / alone for alone, reported, _ in pairs)
    turned = statistics.median(reported / alone for alone, _, reported in pairs)
    print(figure("bare bound loop, tiny sample", statistics.median(p[0] for p in pairs) / 1000, "µs/call"))
    print(figure("reported median / bare, one input", hot, "times", 1.05))
    print(figure("reported median / bare, eight inputs in turn", turned, "times", 1.05))


if __name__ == "__main__":
    main()
