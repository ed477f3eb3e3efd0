"""Hand-made results with every kind of content that a run can produce."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tuibench.core.cell import (
    Asked,
    CellResult,
    Check,
    Estimate,
    Execution,
    Grade,
    Noise,
    Pooled,
    Samples,
    Used,
    Warmup,
)
from tuibench.core.model import FedInput, ModelSummary, Point, Port, Reference
from tuibench.core.reason import Failure, Reason, Verdict, because, error_text, legacy_text
from tuibench.core.result import Comparison, RunResult
from tuibench.core.spec import EFFORTS, BenchmarkSpec, InputSettings, Limits, ModelSource

SHA = "ab" * 32
OTHER_SHA = "cd" * 32
HOSTILE = "=cmd|' /C calc'!A0\x1b[31m\u202e<b>\n|x`_*\udcff"
LABELS = ("p50", "p90", "p95", "p99", "p99_9", "mean", "std", "floor")


ASKED = Asked(
    engine="onnxruntime", model_sha256=SHA, version="original", scenario="sync", cores=2, batch=1, dims={},
    streams=1, pin="core", precision="f32", options={},
)  # fmt: skip


def asked(**changes: Any) -> Asked:
    return replace(ASKED, **changes) if changes else ASKED


USED = Used(
    cpus=(0, 1), threads=2, streams=1, stream_kind=None, batch=1, precision="f32", io="bound",
    cpu_seconds_per_second=1.98, pinned="core", engine_version="1.31.1", distinct_inputs=8, details={"spin": "off"},
)  # fmt: skip


def used(**changes: Any) -> Used:
    return replace(USED, **changes) if changes else USED


def estimate(value: float, half: float = 0.01, n: int = 5) -> Estimate:
    return Estimate(value, value * (1 - half), value * (1 + half), n)


EXECUTION = Execution(
    iterations=500, timed_s=1.0, seconds_ran=1.01, p50_ns=1.92e6, mean_ns=1.95e6, std_ns=9e4, floor_ns=1.88e6,
    percentiles_ns={"25.0": 1.9e6, "50.0": 1.92e6, "99.9": 2.4e6}, effective_n=120.0, calls_per_s=512.0, cpu_s=1.98,
    load_ms=35.2, first_ms=4.2, memory_bytes={"peak": 120_000_000}, harness_ns=90.0,
    warmup=Warmup(1.1, 300, True), noise=Noise(1000, 2000, 0.0, 0, 0.001, 3, 0, 40),
    used=used(), check=Check("agrees", 4e-7, 1e-3), samples=Samples(500, 500, "x.z"),
    histogram={"low_ns": 1.8e6, "ratio": 1.01, "counts": [1, 2, 3], "under": 0, "over": 0},
    series=((1.88e6, 1.92e6, 2.4e6),),
)  # fmt: skip


def execution(**changes: Any) -> Execution:
    return replace(EXECUTION, **changes) if changes else EXECUTION


def pooled(**changes: Any) -> Pooled:
    percentiles: dict[str, float | None] = {"25.0": 1.9, "50.0": 1.9234, "75.0": 1.95, "90.0": 2.0, "95.0": 2.1}
    percentiles |= {"99.0": 2.2, "99.9": 2.4}
    base = Pooled(
        items_per_sec=511.98765, seconds_ran=5.05, iterations=2500, median=1.92341, mean=1.95, std=0.0912,
        percentiles=percentiles,
    )  # fmt: skip
    return replace(base, **changes)


def ok_cell(p50: float = 1.9234, rate: float = 511.9, asks: dict[str, Any] | None = None, **changes: Any) -> CellResult:
    what = asked(**(asks or {}))
    real = used(streams=what.streams, cpus=tuple(range(what.cores)), threads=what.cores, batch=what.batch)
    if what.scenario == "async":
        real = replace(real, stream_kind="threads")
    latency = {name: estimate(p50 * factor, 0.007) for name, factor in zip(LABELS, (1, 1.1, 1.2, 1.3, 1.5, 1.02, 0.05,
               0.98), strict=True)}  # fmt: skip
    base = CellResult(
        key=what.key, asked=what, status="ok", used=real, latency_ms=latency, items_per_sec=estimate(rate, 0.014),
        items_per_cpu_sec=estimate(rate / 2, 0.02), items=what.batch or 1, load_ms=35.21, first_ms=4.2,
        memory_bytes={"peak": 120_000_000, "model": 45_000_000},
        grade=Grade("A", legacy_text("quiet"), 0.001, 0.0, False),
        check=Check("agrees", 4e-7, 1e-3), stopped_by=legacy_text("target"), pooled=pooled(),
        executions=(execution(), execution(), execution()), samples=Samples(1500, 1500, None),
    )  # fmt: skip
    return replace(base, **changes)


def failed_cell(asks: dict[str, Any] | None = None, **changes: Any) -> CellResult:
    what = asked(**(asks or {}))
    failure = Failure("signal", "load", error_text("the worker died"), "SIGSEGV", "first line\nfatal: bad kernel")
    return replace(CellResult(key=what.key, asked=what, status="failed", failure=failure), **changes)


def skipped_cell(**asks: Any) -> CellResult:
    what = asked(**asks)
    return CellResult(key=what.key, asked=what, status="skipped", stopped_by=legacy_text("--max-time reached"))


def partial_cell(**asks: Any) -> CellResult:
    failure = Failure("timeout", "timed", error_text("no answer for 13 s"))
    return ok_cell(asks=asks, status="partial", failure=failure, executions=(execution(),))


def lone_cell(**asks: Any) -> CellResult:
    """Return a cell of one execution: numbers without an interval."""
    why = because("too_few_executions", count=1, least=3)
    latency = {name: Estimate(2.0, n=1, reason=why) for name in LABELS}
    latency["p99_9"] = Estimate(None, reason=legacy_text("needs 10000 iterations, there are 500"))
    percentiles = {**pooled().percentiles, "99.9": None}
    return ok_cell(
        asks=asks, latency_ms=latency, items_per_sec=Estimate(500.0, n=1, reason=why), executions=(execution(),),
        pooled=pooled(iterations=500, percentiles=percentiles), stopped_by=legacy_text("asked executions done"),
    )  # fmt: skip


def differing_cell(**asks: Any) -> CellResult:
    return ok_cell(p50=0.5, rate=9000.0, asks=asks, check=Check("differs", 0.2, 1e-3, legacy_text("output 'y'")))


def noisy_cell(**asks: Any) -> CellResult:
    grade = Grade("D", legacy_text("another process took 40 % of the CPUs"), 0.4, 0.0, False)
    return ok_cell(p50=0.4, rate=9900.0, asks=asks, grade=grade)


def unchecked_cell(**asks: Any) -> CellResult:
    return ok_cell(asks=asks, check=Check("unchecked", None, None, legacy_text("the reference could not run")))


def spec(**changes: Any) -> BenchmarkSpec:
    base = BenchmarkSpec(
        models=(ModelSource("dir/model.onnx", "/abs/dir/model.onnx"),), engines=("onnxruntime",),
        scenarios=("async", "sync"), cores=(2,), batches=(), dims=(), sequence_lengths=(), streams=None,
        stream_kind=None, pin="core", precision="f32", io=None, effort=EFFORTS["default"], inputs=InputSettings(),
        limits=Limits(),
    )  # fmt: skip
    return replace(base, **changes)


def model(**changes: Any) -> ModelSummary:
    base = ModelSummary(
        path="/abs/dir/model.onnx", sha256=SHA, file_bytes=1000, external_bytes=0,
        inputs=(Port("x", "tensor", "float32", ("N", 3, 224, 224)),),
        outputs=(Port("y", "tensor", "float32", ("N", 10)),),
        ir_version=8, opsets={"": 17}, producer="pytest", nodes=20, parameters=1234, zeros=0, operators={"Conv": 20},
        weight_types={"float32": 1234}, quantization="none", zero_tensors=(("w", 100, 3),),
    )  # fmt: skip
    return replace(base, **changes)


def point(**changes: Any) -> Point:
    base = Point(
        id="p0", model=0, batch=1, items=1, dims={"seq": 16}, chosen={"seq": 16},
        inputs=(FedInput("x", "float32", (1, 3, 224, 224), "uniform 0 to 1"),), bundle=None, distinct=8,
        reference=Reference(None, 1e-7, 1e-3), notes=(),
    )  # fmt: skip
    return replace(base, **changes)


def run(*cells: CellResult, **changes: Any) -> RunResult:
    base = RunResult(
        id="01J0000000000000000000K3F9", status="finished", spec=spec(), models=(model(),), points=(point(),),
        cells=cells, environment={"cpu": {"brand": "A CPU", "cores": 2}},
        versions={"tuibench": "0.1.0", "onnxruntime": "1.31.1"}, started_utc="2026-01-02T03:04:05Z", seconds=12.5,
        warnings=(legacy_text("the governor is powersave"),),
    )  # fmt: skip
    return replace(base, **changes)


HEADLINE = "1.92 ms ±0.7 % (sync, 2 cores, batch 1) · 1011 items/s ±1.4 % (async, 2 streams) · grade A"


def default_run() -> RunResult:
    """Return the result of `tuibench benchmark model.onnx`: async and sync of one point."""
    both = ok_cell(p50=3.9, rate=1011.2, asks={"scenario": "async", "streams": 2}), ok_cell()
    return run(*both)


def sweep_run() -> RunResult:
    """Return every kind of outcome on two engines."""
    cells = (
        ok_cell(16.2, 61.7, {"cores": 1}),
        ok_cell(8.4, 119.0, {"cores": 2}),
        ok_cell(8.1, 123.4, {"cores": 2, "engine": "openvino"}),
        failed_cell({"cores": 1, "batch": 512}),
        skipped_cell(cores=2, batch=512),
        partial_cell(cores=1, batch=8),
        unchecked_cell(cores=2, batch=8),
        differing_cell(cores=1, batch=16),
        noisy_cell(cores=2, batch=16),
        lone_cell(cores=1, batch=32),
    )
    found = comparison(
        cells[1].key, cells[2].key, "p50", 0.964, 0.95, 0.98, 5, True, "faster", None,
        "openvino is 1.04× faster than onnxruntime (ratio 0.964 [0.950, 0.980])",
    )  # fmt: skip
    return run(*cells, spec=spec(scenarios=("sync",), engines=("onnxruntime", "openvino")), comparisons=(found,))


def comparison(
    base: str, new: str, metric: str, ratio: float, low: float | None, high: float | None, n: int = 5,
    interleaved: bool = True, kind: str | None = "faster", why: str | None = None, told: str = "",
) -> Comparison:  # fmt: skip
    """Return a comparison of two cells by their keys, with one reason against a verdict or none."""
    reasons = (Reason("told", {"text": why}),) if why else ()
    verdict = Verdict(kind, ratio, low, high, n, "", "", metric, reasons=reasons, told=told)
    return Comparison(base, new, interleaved, verdict)


def hostile_run() -> RunResult:
    """Return a run whose names from models, engines and logs contain terminal control codes."""
    failure = Failure("exception", "load", error_text(HOSTILE), None, f"x\n{HOSTILE}")
    cells = (
        ok_cell(
            asks={"dims": {HOSTILE: 4}},
            check=Check("differs", 0.5, 1e-3, legacy_text(HOSTILE)),
            stopped_by=legacy_text(HOSTILE),
        ),
        failed_cell({"dims": {HOSTILE: 8}}, failure=failure),
        ok_cell(asks={"dims": {"a,b": 8}}, grade=Grade("C", legacy_text(HOSTILE), None, None, None)),
    )
    return run(
        *cells, spec=spec(models=(ModelSource(HOSTILE, "/abs/" + HOSTILE),), scenarios=("sync",)),
        models=(model(path="/abs/" + HOSTILE, producer=HOSTILE),), warnings=(legacy_text(HOSTILE),),
        environment={HOSTILE: HOSTILE}, points=(point(dims={HOSTILE: 4}, chosen={HOSTILE: 4}),),
    )  # fmt: skip
