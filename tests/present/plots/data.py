"""Runs with numbers whose scaling can be worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.present import build
from tuibench.core.cell import CellResult, Estimate, Execution
from tuibench.core.reason import legacy_text
from tuibench.core.result import RunResult

CORES = (1, 2, 4, 8, 16)
RATES = (67.6, 132.9, 256.0, 471.0, 588.0)
"""Items/s at batch 32 on so many cores."""


def timed_cell(ms_per_batch: float, half: float = 0.01, **asks: Any) -> CellResult:
    """Return a cell with p50, mean and floor of 1, 1.05 and 0.98 times a time; items/s follow the mean."""
    items = asks.get("batch", 1)
    latency = {
        "p50": build.estimate(ms_per_batch, half),
        "mean": build.estimate(ms_per_batch * 1.05, half),
        "floor": build.estimate(ms_per_batch * 0.98, half),
        "p99": build.estimate(ms_per_batch * 1.4, half),
    }
    cell = build.ok_cell(asks=asks, latency_ms=latency)
    return replace(cell, items=items, items_per_sec=build.estimate(1000 * items / (ms_per_batch * 1.05), half))


def rated_cell(rate: float, half: float = 0.01, **asks: Any) -> CellResult:
    """Return a cell with the given items/s, by its median."""
    return timed_cell(1000 * asks.get("batch", 1) / rate, half, **asks)


def cores_run(*extra: CellResult, rates: Mapping[int, float] | None = None) -> RunResult:
    """Return a run of one engine on 1 to 16 cores at batches 1 and 32."""
    found = rates or dict(zip(CORES, RATES, strict=True))
    halves = dict(zip(CORES, (0.011, 0.014, 0.009, 0.007, 0.019), strict=True))
    cells = [rated_cell(rate, halves.get(n, 0.01), cores=n, batch=32) for n, rate in found.items()]
    cells += [rated_cell(rate * 0.9, cores=n, batch=1) for n, rate in found.items()]
    return build.run(*cells, *extra, spec=build.spec(scenarios=("sync",), cores=tuple(found), batches=(1, 32)))


def two_engines() -> RunResult:
    """Return the same run with a second engine, 9 % faster at batch 32, that failed on 16 cores."""
    others = [
        rated_cell(rate * 1.09, cores=n, batch=32, engine="openvino") for n, rate in zip(CORES, RATES, strict=True)
    ]
    failed = build.failed_cell({"cores": 16, "batch": 32, "engine": "openvino"})
    run = cores_run(*others[:-1], failed)
    return replace(run, spec=replace(run.spec, engines=("onnxruntime", "openvino")))


def batches_run() -> RunResult:
    """Return a run of batches 1 to 32 on 4 cores, in ms/batch."""
    times = {1: 4.0, 2: 7.0, 4: 12.8, 8: 24.0, 32: 95.0}
    return build.run(*(timed_cell(ms, cores=4, batch=b) for b, ms in times.items()))


def shapes_run() -> RunResult:
    """Return a run over a sequence length and a second dim that follows it, as -seq_len makes them."""
    times = {64: 10.0, 128: 22.0, 256: 60.0}
    return build.run(*(timed_cell(ms, cores=4, dims={"seq": s, "mask": s, "N": 1}) for s, ms in times.items()))


def spread_execution(p50_ns: float, number: int = 0) -> Execution:
    """Return an execution with a histogram and a series around its median."""
    counts = [max(0, 50 - 2 * abs(i - 20)) for i in range(60)]
    series = tuple((p50_ns * 0.98, p50_ns * (1 + 0.01 * ((i * 7 + number) % 5)), p50_ns * 1.2) for i in range(20))
    histogram = {"low_ns": p50_ns * 0.9, "ratio": 1.005, "counts": counts, "under": 0, "over": 3}
    return build.execution(p50_ns=p50_ns, histogram=histogram, series=series)


def spread_cell() -> CellResult:
    """Return a cell of three executions that differ slightly."""
    return build.ok_cell(executions=tuple(spread_execution(1.92e6 * (1 + n / 100), n) for n in range(3)))


def without_interval(cell: CellResult) -> CellResult:
    """Return the same cell without intervals."""
    bare = {name: Estimate(e.value, n=1, reason=legacy_text("no interval")) for name, e in cell.latency_ms.items()}
    return replace(
        cell, latency_ms=bare, items_per_sec=Estimate(cell.items_per_sec.value, n=1, reason=legacy_text("no interval"))
    )
