"""Input of a worker: all data for one execution, sent as plain JSON in the first frame."""

from __future__ import annotations

from dataclasses import dataclass

from tuibench.core.cell import Cell
from tuibench.core.model import Reference
from tuibench.core.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Job:
    """One execution to run."""

    cell: Cell
    scenario: Scenario
    """The cell's scenario, including the drive that this worker imports."""
    model_path: str
    bundle: str
    reference: Reference
    check: bool
    cpus: tuple[int, ...]
    streams: int
    stream_kind: str | None
    """The value of --stream-kind; None: choose by rule."""
    io: str | None
    """The I/O class requested or required by a comparison; None: the cheapest one that works."""
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
    """Points of the time series; fewer if a cell may have many executions, because a stored cell is bounded."""
    histogram_bins: int = 256
    """Bins of the histogram, bounded for the same reason."""
