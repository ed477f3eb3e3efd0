"""Stores and results for tests: results of real or minimal size, and a fixed clock."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.build import make_asked, make_execution, make_spec
from tuibench.core.cell import CellResult, Estimate, Grade, Samples
from tuibench.core.ids import make_ulid
from tuibench.core.model import ModelSummary
from tuibench.core.reason import legacy_text
from tuibench.core.result import RunResult
from tuibench.store.store import Store

NOW = 1_790_000_000.0
MACHINE = "machine-id 0123456789abcdef0123456789abcdef"
_SHA = "c0ffee" * 10 + "0123"


class Clock:
    """A clock that advances only by sleeping."""

    def __init__(self, now: float = NOW) -> None:
        self.now = now
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def counting_entropy() -> Callable[[int], bytes]:
    """Return unique bytes, the same in every test."""
    numbers = itertools.count(1)
    return lambda count: (next(numbers) * 0x9E3779B97F4A7C15 % (1 << (8 * count))).to_bytes(count, "big")


def make_store(root: Path, machine: str = MACHINE, **changes: Any) -> Store:
    """Return a store, with a fixed clock unless another is given."""
    clock = changes.pop("clock", Clock())
    return Store(root, machine, **{"clock": clock, "entropy": counting_entropy(), "command": "test", **changes})


def make_id(number: int) -> str:
    """Return the id of the benchmark made the given number of seconds after the first."""
    return make_ulid(int(NOW * 1000) + number * 1000, (number * 0x9E3779B97F4A7C15 % (1 << 80)).to_bytes(10, "big"))


def make_result(number: int = 0, *, cells: int = 1, executions: int = 1, points: int = 1, **changes: Any) -> RunResult:
    """Return a finished benchmark with `points` entries in the histogram and series of each execution."""
    result = RunResult(
        id=make_id(number),
        status="finished",
        spec=make_spec(Path("/models/resnet50.onnx")),
        models=(ModelSummary("/models/resnet50.onnx", _SHA, 1000, 0, (), ()),),
        points=(),
        cells=tuple(_make_cell(place, executions, points) for place in range(cells)),
        environment={"cpu": {"brand": "a CPU"}},
        versions={"fake": "1.0"},
        started_utc="2026-09-21T14:13:20Z",
        seconds=12.5,
        host="0" * 16,
    )
    return replace(result, **changes)


def _make_cell(place: int, executions: int, points: int) -> CellResult:
    asked = make_asked(cores=place + 1)
    one = make_execution(
        1e6 + place,
        histogram={"low_ns": 1e6, "ratio": 1.01, "counts": list(range(min(points, 256))), "under": 0, "over": 0},
        series=tuple((1e6 + i / 7, 1.1e6 + i / 7, 1.3e6 + i / 7) for i in range(points)),
        samples=Samples(1000, 1000, f"/run/work/{asked.key}-0.z"),
    )
    return CellResult(
        asked.key,
        asked,
        "ok",
        used=one.used,
        latency_ms={"p50": Estimate(1.0, 0.99, 1.01, executions)},
        grade=Grade("AB"[place % 2], legacy_text("quiet"), 0.0, 0.0, False),
        executions=(one,) * executions,
        samples=Samples(1000 * executions, 1000 * executions, None),
    )
