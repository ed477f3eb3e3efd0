"""Small complete values for tests: executions, cells and specifications; each test sets only the values it needs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tuibench.core.cell import Asked, Cell, Check, Execution, Noise, Samples, Used, Warmup
from tuibench.core.model import Reference
from tuibench.core.reason import Reason
from tuibench.core.scenario import find
from tuibench.core.spec import EFFORTS, BenchmarkSpec, Effort, InputSettings, Limits, ModelSource
from tuibench.worker.job import Job

QUIET = Noise(0, 10**9, 0.0, 0, 0.0, 0, 0, 10)
SERVER_ISA = (
    *("avx2", "fma", "f16c", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16", "avx_vnni"),
    *("amx_tile", "amx_int8", "amx_bf16"),
)
"""Instruction sets of a present server, as in /proc/cpuinfo."""


def make_asked(**changes: Any) -> Asked:
    """Return a request for a sync cell on one core."""
    asked = Asked("fake", "0" * 64, "original", "sync", 1, 1, {}, 1, "core", "f32", {})
    return replace(asked, **changes)


def make_cell(point: str = "m0p0", **changes: Any) -> Cell:
    """Return a planned cell."""
    asked = make_asked(**changes)
    return Cell(asked.key, asked, 0, point)


def make_execution(p50_ns: float = 1e6, **changes: Any) -> Execution:
    """Return an undisturbed execution of one second."""
    execution = Execution(
        iterations=1000,
        timed_s=1.0,
        seconds_ran=1.0,
        p50_ns=p50_ns,
        mean_ns=p50_ns,
        std_ns=0.0,
        floor_ns=p50_ns,
        percentiles_ns={str(q): p50_ns for q in (25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9)},
        effective_n=1000.0,
        calls_per_s=1e9 / p50_ns,
        cpu_s=1.0,
        load_ms=1.0,
        first_ms=1.0,
        memory_bytes={"peak": 1},
        harness_ns=60.0,
        warmup=Warmup(0.1, 100, True),
        noise=QUIET,
        used=Used((0,), 1, 1, None, 1, "f32", "bound", 1.0, "core", "1.0", 8),
        check=Check("agrees", 0.0, 1e-3),
        samples=Samples(0, 1000, None),
        histogram={"low_ns": p50_ns, "ratio": 1.01, "counts": [1000], "under": 0, "over": 0},
        series=((p50_ns, p50_ns, p50_ns),),
    )
    return replace(execution, **changes)


def make_spec(model: Path, *, effort: Effort = EFFORTS["quick"], **changes: Any) -> BenchmarkSpec:
    """Return a specification of one sync cell of the fake engine."""
    spec = BenchmarkSpec(
        models=(ModelSource(str(model), str(model)),),
        engines=("fake",),
        scenarios=("sync",),
        cores=(1,),
        batches=(),
        dims=(),
        sequence_lengths=(),
        streams=None,
        stream_kind=None,
        pin="core",
        precision="f32",
        io=None,
        effort=effort,
        inputs=InputSettings(),
        limits=Limits(),
    )
    return replace(spec, **changes)


def make_job(directory: Path, bundle: Path, cell: Cell | None = None, **changes: Any) -> Job:
    """Return a short execution of the fake engine on the first allowed CPU."""
    import os

    cell = cell or make_cell()
    job = Job(
        cell=cell,
        scenario=find(cell.asked.scenario),
        model_path=str(directory / "model.onnx"),
        bundle=str(bundle),
        reference=Reference(None, None, None, Reason("no_reference")),
        check=True,
        cpus=(min(os.sched_getaffinity(0)),),
        streams=1,
        stream_kind=None,
        io=None,
        timed_s=0.05,
        warmup_s=0.05,
        work_dir=str(directory),
        log_path=str(directory / "worker.log"),
        samples_path=str(directory / "samples.z"),
        keep_raw=False,
        memory_room_bytes=8 << 30,
        memory_limit_bytes=None,
        seed=0,
    )
    return replace(job, **changes)
