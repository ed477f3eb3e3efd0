"""What a worker is told: everything for one execution, as plain JSON in its first frame."""

from __future__ import annotations

from dataclasses import dataclass

from tuibench.core.cell import Cell
from tuibench.core.model import Reference
from tuibench.core.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Job:
    """One execution to carry out."""

    cell: Cell
    scenario: Scenario
    """Of the cell, with the drive that this worker imports."""
    model_path: str
    bundle: str
    reference: Reference
    check: bool
    cpus: tuple[int, ...]
    streams: int
    stream_kind: str | None
    """Asked with --stream-kind, else None: the rule decides."""
    io: str | None
    """Asked, or forced by a comparison; None: the best that can be had."""
    timed_s: float
    warmup_s: float
    work_dir: str
    log_path: str
    samples_path: str
    keep_raw: bool
    memory_room_bytes: int | None
    memory_limit_bytes: int | None
    seed: int
    weight_types: tuple[str, ...] = ()
    series_points: int = 64
    """Of the series over time; fewer where a cell may have many executions, because a stored cell is bounded."""
    histogram_bins: int = 256
    """Likewise."""
