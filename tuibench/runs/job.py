"""The job of one execution: everything that the measuring process needs to know."""

from __future__ import annotations

from pathlib import Path

from tuibench.core.scenario import find
from tuibench.core.spec import BenchmarkSpec
from tuibench.runs.preparation import Prepared
from tuibench.runs.schedule import Turn
from tuibench.stats.percentile import MOST_BINS
from tuibench.worker.job import Job

_MOST_POINTS = 512
_CELL_POINTS = 450
_CELL_BINS = 2250
"""Limits for the series and histograms of all executions of a cell, so that a stored cell stays below 64 kB."""
_MANY = 20
_CELL_BINS_OF_MANY = 1500
"""Limit with many executions, whose other data takes more of the space."""


def make_job(
    spec: BenchmarkSpec,
    prepared: Prepared,
    turn: Turn,
    run_dir: Path,
    cpus: tuple[int, ...],
    io: str | None,
    stream_kind: str | None,
    memory_room_bytes: int | None,
    most_executions: int,
) -> Job:
    """Return the job for one turn; `io` and `stream_kind` are the cell's fixed values, else the requested ones."""
    cell = turn.cell
    point = next(p for p in prepared.points if p.id == cell.point)
    room = _CELL_BINS if most_executions < _MANY else _CELL_BINS_OF_MANY
    name = f"{cell.key}-{turn.n}" if not turn.anchor else f"{cell.key}-anchor{-turn.n}"
    return Job(
        cell=cell,
        scenario=find(cell.asked.scenario),
        model_path=spec.models[cell.model].path,
        bundle=point.bundle or "",
        reference=point.reference,
        check=spec.check,
        cpus=cpus,
        streams=cell.asked.streams,
        stream_kind=stream_kind,
        io=io,
        timed_s=spec.effort.timed_s,
        warmup_s=spec.effort.warmup_s,
        work_dir=str(run_dir / "work"),
        log_path=str(run_dir / "logs" / f"{name}.log"),
        samples_path=str(run_dir / "samples" / f"{name}.z"),
        keep_raw=spec.keep_raw,
        memory_room_bytes=memory_room_bytes,
        memory_limit_bytes=spec.limits.memory_bytes,
        seed=spec.inputs.seed,
        weight_types=tuple(prepared.models[cell.model].weight_types or ()),
        series_points=max(6, min(_MOST_POINTS, _CELL_POINTS // most_executions)),
        histogram_bins=max(48, min(MOST_BINS, room // most_executions)),
    )
