"""Cells and executions with plain defaults; each test sets only the values it needs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tuibench.core.cell import Asked, Cell, CellResult, Check, Estimate, Execution, Grade, Noise, Samples, Used, Warmup
from tuibench.core.reason import legacy_text

ASKED = Asked("onnxruntime", "a" * 64, "original", "sync", 2, 1, {}, 1, "core", "f32", {})
USED = Used((0, 1), 2, 1, None, 1, "f32", "bound", 1.9, "core", "1.0", 8)
EXECUTION = Execution(
    iterations=1000,
    timed_s=1.0,
    seconds_ran=1.1,
    p50_ns=1e6,
    mean_ns=1.1e6,
    std_ns=1e5,
    floor_ns=0.9e6,
    percentiles_ns={
        "25.0": 0.95e6,
        "50.0": 1e6,
        "75.0": 1.1e6,
        "90.0": 1.2e6,
        "95.0": 1.3e6,
        "99.0": 1.5e6,
        "99.9": 2e6,
    },
    effective_n=500.0,
    calls_per_s=950.0,
    cpu_s=2.0,
    load_ms=50.0,
    first_ms=5.0,
    memory_bytes={"peak": 1000},
    harness_ns=80.0,
    warmup=Warmup(0.5, 400, True, "flat"),
    noise=Noise(1000, 10**9, 0.0, 0, 0.0, 0, 0, 100),
    used=USED,
    check=Check("agrees", 1e-7, 1e-3),
    samples=Samples(1000, 1000, "abc-1.z"),
    histogram={"low_ns": 0.9e6, "ratio": 1.01, "counts": [1000], "under": 0, "over": 0},
    series=(),
)


def asked(**changes: Any) -> Asked:
    """Return a request with these changes to the plain one."""
    return replace(ASKED, **changes)


def cell(**changes: Any) -> Cell:
    """Return a planned cell of such a request."""
    request = asked(**changes)
    return Cell(request.key, request, 0, "p0")


def execution(**changes: Any) -> Execution:
    """Return an execution with these changes to the plain one."""
    return replace(EXECUTION, **changes)


def result(
    p50: float = 1.0,
    per_second: float = 1000.0,
    half: float | None = 0.01,
    letter: str = "A",
    state: str = "agrees",
    status: str = "ok",
    **changes: Any,
) -> CellResult:
    """Return a measured cell whose two headline numbers have intervals of ± `half`."""
    request = asked(**changes)

    def number(value: float) -> Estimate:
        if half is None:
            return Estimate(value, n=2, reason=legacy_text("no interval: 2 of at least 3 executions"))
        return Estimate(value, value * (1 - half), value * (1 + half), 5)

    return CellResult(
        request.key,
        request,
        status,
        used=replace(USED, streams=request.streams),
        latency_ms={"p50": number(p50)},
        items_per_sec=number(per_second),
        grade=Grade(letter, legacy_text("why"), 0.0, 0.0, False),
        check=Check(state, 1e-7, 1e-3),
    )
