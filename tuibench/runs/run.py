"""One whole run: prepare, plan, rounds of executions, each result on disk before the next one starts."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tuibench.core.cell import Asked, Cell, Execution, Failure
from tuibench.core.errors import TuibenchError
from tuibench.core.label import name_cell
from tuibench.core.record import to_plain
from tuibench.core.spec import BenchmarkSpec, Effort
from tuibench.core.units import seconds
from tuibench.engines import registry
from tuibench.engines.protocol import IO_CLASSES
from tuibench.measure.job import Job
from tuibench.runs.journal import Journal
from tuibench.runs.machine import Machine
from tuibench.runs.plan import make_cells, twins
from tuibench.runs.preparation import Preparation, Prepared
from tuibench.runs.schedule import SLOW_NS, Progress, Schedule, Turn, slow_executions
from tuibench.runs.stopping import Cancelled, StopSwitch
from tuibench.runs.summary import grade_executions, pool
from tuibench.runs.supervision import Bounds, OutOfTime, Supervision
from tuibench.stats.histogram import MOST_BINS
from tuibench.stats.sample_file import read_samples, spans

_MOST_POINTS = 512
_CELL_POINTS = 450
_CELL_BINS = 1500
"""Of the series and histograms of all executions of a cell: a stored cell stays below 64 kB with them."""

Execute = Callable[[Job, Bounds, StopSwitch, Callable[[Mapping[str, Any]], None], int], Execution | Failure]


def execute(
    job: Job, bounds: Bounds, stop: StopSwitch, listen: Callable[[Mapping[str, Any]], None], pad: int
) -> Execution | Failure:
    """A real worker for one execution."""
    return Supervision(job, bounds, stop, listen, pad).carry_out()


@dataclass(frozen=True, slots=True)
class Setup:
    """What a run is given besides its specification."""

    run_dir: Path
    journal: Journal
    machine: Machine
    stop: StopSwitch
    memory_room: Callable[[], int | None]
    """Bytes that may be allocated now."""
    seed: int
    execute: Execute = execute
    plan_only: bool = False
    """For --dry-run: nothing is measured once the plan stands."""


class Run:
    """Carries a specification out; everything it learns goes to the journal."""

    def __init__(self, spec: BenchmarkSpec, setup: Setup) -> None:
        self._spec = spec
        self._setup = setup
        self._journal = setup.journal
        limits = spec.limits
        deadline = None if limits.max_time_s is None else time.monotonic() + limits.max_time_s
        self._bounds = Bounds(limits.timeout_scale, deadline)
        self._rng = random.Random(setup.seed)
        self._prepared = Prepared()
        self._schedule = Schedule([], spec.effort, self._rng)
        self._twins: dict[str, tuple[str, ...]] = {}

    def carry_out(self) -> str:
        """The status the run ended with: finished, cancelled or failed; the journal has the rest."""
        try:
            self._prepare()
            while not self._setup.plan_only and self._round():
                continue
            status: dict[str, Any] = {"status": "finished"}
        except OutOfTime:
            self._journal.append("warning", message="--max-time was reached; cells not measured are skipped")
            status = {"status": "finished", "reason": "max-time"}
        except Cancelled as cancelled:
            status = {"status": "cancelled", "reason": cancelled.reason}
        except TuibenchError as error:
            problem = {"message": error.message, "hint": error.hint, "exit_code": int(error.exit_code)}
            status = {"status": "failed", "error": problem}
        self._journal.append("run_end", **status)
        return str(status["status"])

    def _prepare(self) -> None:
        setup = self._setup
        for engine in self._spec.engines:
            registry.check(engine)
        memory = self._spec.limits.memory_bytes or setup.memory_room()
        preparation = Preparation(self._spec, setup.run_dir, setup.stop, self._bounds, memory, self._tell)
        self._prepared = preparation.carry_out()
        cells = make_cells(self._spec, self._prepared.models, self._prepared.points)
        self._twins = twins(cells)
        self._schedule = Schedule(cells, self._spec.effort, self._rng)
        self._journal.append(
            "plan",
            cells=to_plain(cells),
            models=to_plain(self._prepared.models),
            points=to_plain(self._prepared.points),
            seed=setup.seed,
        )
        for cell in cells:
            self._refuse_early(cell)

    def _refuse_early(self, cell: Cell) -> None:
        """Fail a cell for which no inputs could be made, or whose first inference hung already."""
        point = next(p for p in self._prepared.points if p.id == cell.point)
        failure = None
        if point.failure is not None:
            failure = Failure(*point.failure)
        elif point.id in self._prepared.hung and cell.asked.engine == "onnxruntime":
            failure = Failure("timeout", "first", self._prepared.hung[point.id])
        if failure is not None:
            self._fail(Turn(cell, 1, 0, False), failure, 0.0)

    def _round(self) -> bool:
        turns = self._schedule.next_round()
        for turn in turns:
            self._setup.stop.check()
            if self._bounds.over:
                raise OutOfTime
            if turn.anchor or self._schedule.progress[turn.cell.key].live:
                self._take(turn)
        return bool(turns)

    def _take(self, turn: Turn) -> None:
        begin = time.monotonic()
        self._journal.append("execution_start", **_place(turn))
        try:
            answer = self._setup.execute(
                self._job(turn),
                self._bounds,
                self._setup.stop,
                lambda frame: self._hear(turn, frame),
                self._rng.randrange(1 << 16),
            )
        except OSError as error:
            # No process, no descriptor or no place for its log: that is this execution's end, not the run's.
            answer = Failure("exception", "start", f"{error.strerror or error}")
        wall_s = time.monotonic() - begin
        if isinstance(answer, Failure):
            self._fail(turn, answer, wall_s)
        else:
            self._keep(turn, answer, wall_s)

    def _keep(self, turn: Turn, execution: Execution, wall_s: float) -> None:
        self._journal.append("execution_done", **_place(turn), wall_s=wall_s, result=to_plain(execution))
        if turn.anchor:
            return
        key, io = turn.cell.key, execution.used.io
        progress = self._schedule.progress[key]
        decision = self._schedule.record(turn, execution, wall_s)
        if progress.io == io and self._schedule.start_anew(key, io):
            self._journal.append(
                "warning", cell=key, keep_io=io, message=f"measured anew with I/O class {io}, as its twin is"
            )
            decision = self._schedule.decide_again(key)
        self._report(turn, execution.p50_ns, "done")
        if turn.n == 1 and execution.p50_ns > SLOW_NS:
            self._journal.append("warning", message=slow_message(turn.cell.asked, execution.p50_ns, self._spec.effort))
        self._level(key)
        if decision.stop and not progress.live:
            self._done(progress)

    def _level(self, key: str) -> None:
        """Hold cells that will be compared to the I/O class that all of them can have."""
        group = [k for k in self._twins.get(key, ()) if not self._schedule.progress[k].failure]
        members = [self._schedule.progress[k] for k in group]
        seen = {p.io or e.used.io for p in members for e in p.executions[-1:]}
        if len(seen) > 1 and not any(p.unlevel for p in members):
            self._schedule.force_io(group, max(seen, key=IO_CLASSES.index))

    def _fail(self, turn: Turn, failure: Failure, wall_s: float) -> None:
        if not turn.anchor and failure.kind == "refused" and self._schedule.give_way(turn):
            message = f"cannot be measured with the I/O class of its twin ({failure.message}); its own stands"
            self._journal.append("warning", cell=turn.cell.key, message=message)
            return
        again = not turn.anchor and self._schedule.record_failure(turn, failure, wall_s)
        self._journal.append("execution_failed", **_place(turn), again=again, wall_s=wall_s, failure=to_plain(failure))
        if again:
            message = f"{failure.message} while timing; repeated once"
            self._journal.append("warning", cell=turn.cell.key, message=message)
        elif not turn.anchor:
            self._done(self._schedule.progress[turn.cell.key])

    def _done(self, progress: Progress) -> None:
        pooled = None
        if progress.executions:
            files = [e.samples.file for e in progress.executions]
            samples = [_read(f) for f in files]
            point = next(p for p in self._prepared.points if p.id == progress.cell.point)
            pooled = to_plain(pool(progress.executions, samples, point.items))
        self._journal.append("cell_done", cell=progress.cell.key, stopped_by=progress.stopped_by, pooled=pooled)

    def _job(self, turn: Turn) -> Job:
        spec, run_dir, cell = self._spec, self._setup.run_dir, turn.cell
        point = next(p for p in self._prepared.points if p.id == cell.point)
        name = f"{cell.key}-{turn.n}" if not turn.anchor else f"{cell.key}-anchor{-turn.n}"
        return Job(
            cell=cell,
            model_path=spec.models[cell.model].path,
            bundle=point.bundle or "",
            reference=point.reference,
            check=spec.check,
            cpus=self._setup.machine.choose(cell.asked.cores),
            streams=cell.asked.streams,
            stream_kind=spec.stream_kind or self._schedule.progress[cell.key].stream_kind,
            io=self._schedule.progress[cell.key].io or spec.io,
            timed_s=spec.effort.timed_s,
            warmup_s=spec.effort.warmup_s,
            work_dir=str(run_dir / "work"),
            log_path=str(run_dir / "logs" / f"{name}.log"),
            samples_path=str(run_dir / "samples" / f"{name}.z"),
            keep_raw=spec.keep_raw,
            memory_room_bytes=self._setup.memory_room(),
            memory_limit_bytes=spec.limits.memory_bytes,
            seed=spec.inputs.seed,
            weight_types=tuple(self._prepared.models[cell.model].weight_types or ()),
            series_points=max(6, min(_MOST_POINTS, _CELL_POINTS // spec.effort.max_executions)),
            histogram_bins=max(48, min(MOST_BINS, _CELL_BINS // spec.effort.max_executions)),
        )

    def _hear(self, turn: Turn, frame: Mapping[str, Any]) -> None:
        if frame["f"] == "progress":
            self._report(turn, float(frame["p50_ns"]), str(frame["phase"]))
        elif frame["f"] == "phase":
            self._report(turn, None, str(frame["phase"]))

    def _report(self, turn: Turn, live_ns: float | None, phase: str) -> None:
        progress = self._schedule.progress[turn.cell.key]
        grade = grade_executions(progress.executions) if progress.executions else None
        p50_ns = progress.p50_ns or live_ns
        half = progress.half_width
        self._journal.append(
            "progress",
            cell=turn.cell.key,
            p50_ms=None if p50_ns is None else p50_ns / 1e6,
            half_width_pct=None if half is None else half * 100,
            grade=grade.letter if grade else None,
            eta_s=self._schedule.eta_s(self._spec.effort.timed_s + 0.8),
            n=len(progress.executions),
            round=turn.round,
            phase=phase,
            live=len(self._schedule.live),
        )

    def _tell(self, message: str) -> None:
        self._journal.append("progress", cell=None, activity=message)


def slow_message(asked: Asked, p50_ns: float, effort: Effort) -> str:
    """What is said as soon as a call turns out to last longer than a second."""
    place = name_cell(asked, ("engine", "dims"))
    count = slow_executions(effort).max_executions
    return f"{place}: one call takes {seconds(p50_ns / 1e9)}, so it gets {count} executions of a few calls each"


def _place(turn: Turn) -> dict[str, Any]:
    """Which execution an event is about."""
    return {"cell": turn.cell.key, "n": turn.n, "round": turn.round, "anchor": turn.anchor}


def _read(file: str | None) -> Sequence[int] | None:
    """The samples to pool, thinned; None where there are none to be read, and the histogram stands in."""
    if file is None:
        return None
    try:
        samples = read_samples(Path(file))
    except (OSError, ValueError):
        return None
    return [value for begin, end in spans(len(samples)) for value in samples[begin:end]]
