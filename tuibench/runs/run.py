"""One whole benchmark run: prepare, plan, then rounds of executions, each result durable before the next starts."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tuibench.core import engine
from tuibench.core.cell import Asked, Cell, Execution
from tuibench.core.engine import IO_CLASSES
from tuibench.core.errors import TuibenchError
from tuibench.core.label import name_cell
from tuibench.core.model import Point
from tuibench.core.reason import FINISHED_ON_REQUEST, Failure, Reason, because, error_text
from tuibench.core.record import to_plain
from tuibench.core.spec import BenchmarkSpec, Effort
from tuibench.engines import factory
from tuibench.runs.base import BaseRun, Setup
from tuibench.runs.control import ControlPoller
from tuibench.runs.copies import ModelCopies, file_for
from tuibench.runs.job import make_job
from tuibench.runs.journal import Journal, require_room
from tuibench.runs.preparation import Prepared
from tuibench.runs.replay import Replay
from tuibench.runs.resumption import Disagreement, cheapest, disagreement, restore
from tuibench.runs.schedule import SLOW_NS, Schedule, Turn, make_cells, matching_cells, slow_executions
from tuibench.runs.supervision import OutOfTime
from tuibench.runs.track import Track, count_cells, grade_executions, new_tracks, pool
from tuibench.stats.samples import read_samples, spans
from tuibench.worker.job import Job

_START_S = 0.8
"""Time of an execution outside its timed part."""


class ProgressReporter:
    """Reports the progress of one session with a schedule."""

    def __init__(self, journal: Journal, schedule: Schedule, effort: Effort, control: ControlPoller) -> None:
        self._journal = journal
        self._schedule = schedule
        self._effort = effort
        self._control = control

    def hear(self, turn: Turn, frame: Mapping[str, Any]) -> None:
        """Forward a frame from the worker."""
        if frame["f"] == "progress":
            self._report(turn, float(frame["p50_ns"]), str(frame["phase"]))
        elif frame["f"] == "phase":
            self._report(turn, None, str(frame["phase"]))

    def done(self, turn: Turn, p50_ns: float) -> None:
        """Report an execution's result; warn after a cell's first one if its calls are slow."""
        self._report(turn, p50_ns, "done")
        if turn.n == 1 and p50_ns > SLOW_NS:
            self._journal.append("warning", message=slow_calls(turn.cell.asked, p50_ns, self._effort))

    def _report(self, turn: Turn, live_ns: float | None, phase: str) -> None:
        track = self._schedule.tracks[turn.cell.key]
        grade = grade_executions(track.executions) if track.count else None
        p50_ns = track.p50_ns or live_ns
        half = track.half_width
        self._journal.append(
            "progress",
            cell=turn.cell.key,
            p50_ms=None if p50_ns is None else p50_ns / 1e6,
            half_width_pct=None if half is None else half * 100,
            grade=grade.letter if grade else None,
            eta_s=self._left_s(track),
            n=track.count,
            round=turn.round,
            phase=phase,
            live=len(self._schedule.live),
        )

    def _left_s(self, current: Track) -> float:
        default_s = self._effort.timed_s + _START_S
        if self._control.finishing:
            return current.execution_s or default_s
        return self._schedule.eta_s(default_s)


def slow_calls(asked: Asked, p50_ns: float, effort: Effort) -> Reason:
    """Return the warning for a call that takes longer than a second."""
    count = slow_executions(effort).max_executions
    return because("slow_calls", cell=name_cell(asked, ("engine", "dims")), call_s=p50_ns / 1e9, executions=count)


class _NoCopy(TuibenchError):
    """The model cannot be brought into the form that an engine takes."""


class BenchmarkRun(BaseRun):
    """Rounds of executions, each result durable before the next starts."""

    out_of_time = Reason("cells_skipped")

    def __init__(self, spec: BenchmarkSpec, setup: Setup) -> None:
        super().__init__(spec, setup)
        self._rng = random.Random(setup.seed)
        self._prepared = Prepared()
        self._schedule = Schedule({}, spec.effort, self._rng)
        self._matching: dict[str, tuple[str, ...]] = {}
        self._reporter = ProgressReporter(setup.journal, self._schedule, spec.effort, self.control)
        self._copies = ModelCopies(spec, setup.run_dir, setup.call, setup.stop, self.bounds, setup.memory_room)
        self._anchored: Execution | None = None
        """The last anchor execution."""
        self._cut_short = False
        """True if unmeasured cells were left when the run was finished on request."""

    @property
    def counts(self) -> dict[str, int]:
        """The run's counts so far, earlier sessions included."""
        if not self.planned and self.setup.earlier is not None:
            return self.setup.earlier.counts
        return count_cells(self._schedule.tracks.values())

    def measure(self) -> dict[str, Any]:
        """Prepare, then run rounds until no cell needs more; return the fields of the end."""
        self._prepare()
        while not self.setup.plan_only and self._round():
            continue
        return {"status": "finished"} | ({"reason": Reason(FINISHED_ON_REQUEST)} if self._cut_short else {})

    def _prepare(self) -> None:
        for name in self.spec.engines:
            factory.check(name)
        self._prepared = self.prepare(
            lambda activity: self.journal.append("progress", cell=None, activity=to_plain(activity))
        )
        cells = make_cells(
            self.spec, self._prepared.models, self._prepared.points, self.setup.cpu_choice.topology.nodes_for
        )
        earlier, inputs_sha256 = self.check_plan(self._prepared, cells)
        self._matching = matching_cells(cells)
        tracks = new_tracks(cells) if earlier is None else earlier.tracks
        session = 0 if earlier is None else len(earlier.sessions)
        self._schedule = Schedule(tracks, self.spec.effort, self._rng, session)
        self._reporter = ProgressReporter(self.journal, self._schedule, self.spec.effort, self.control)
        self.planned = True
        if earlier is not None:
            self._go_on(earlier)
            return
        self.write_plan(self._prepared, cells, inputs_sha256)
        for cell in cells:
            self._refuse_early(cell)

    def _go_on(self, earlier: Replay) -> None:
        """Continue after the last session, once an anchor execution shows that the machine measures as before."""
        enough = restore(self._schedule, earlier)
        # The journal does not contain the forced I/O classes; they follow from the executions.
        for key in self._schedule.tracks:
            self._level(key)
        for track in enough:
            if not track.live:
                self._done(track)
        for track in self._schedule.live:
            self._refuse_early(track.cell)
        anchor = cheapest(earlier) if self._schedule.live else None
        if anchor is None:
            return
        turn = self._schedule.anchor_turn(anchor.cell)
        self._take(turn)
        answer = self._anchored
        difference: Reason | None = Reason("anchor_failed")
        if answer is not None:
            difference = disagreement(answer.p50_ns, [execution.p50_ns for execution in anchor.executions])
        if difference is not None and self.setup.mixed:
            self.journal.append("warning", message=because("mixed", difference=difference))
        elif difference is not None:
            raise Disagreement.from_reason(difference)

    def _refuse_early(self, cell: Cell) -> None:
        """Fail a cell without inputs, of a file that its engine cannot read, or whose first inference hung already."""
        point, name = self._point(cell), cell.asked.engine
        failure = point.failure
        file_format = self._prepared.models[cell.model].format
        path = self.spec.models[cell.model].path
        if failure is None and not engine.reads(name, file_format) and file_for(name, path) == path:
            reader = engine.reader_of(file_format)
            failure = Failure(
                "refused", "load", because("format_not_read", engine=name, format=file_format, reader=reader)
            )
        if failure is None and point.id in self._prepared.hung and cell.asked.engine == engine.DEFAULT:
            failure = Failure("timeout", "first", self._prepared.hung[point.id])
        if failure is not None:
            self._fail(Turn(cell, 1, 0, False), failure, 0.0)

    def _round(self) -> bool:
        turns = self._schedule.next_round()
        for turn in turns:
            self.setup.stop.check()
            self.poll()
            if self.control.finishing and self._has_something:
                self._wind_up()
                return False
            if self.bounds.over:
                raise OutOfTime
            require_room(self.setup.run_dir)
            if turn.anchor or self._schedule.tracks[turn.cell.key].live:
                self._take(turn)
        # A request for more time may have come just as the last cell was done.
        self.poll()
        return bool(turns) or bool(self._schedule.live)

    def poll(self) -> None:
        """Apply control requests; requests for more time wait until there is a plan."""
        self.control.poll(self._schedule if self.planned else None)

    @property
    def _has_something(self) -> bool:
        """Return whether any cell has an execution or a failure to end with."""
        return any(t.count or t.failure for t in self._schedule.tracks.values())

    def _wind_up(self) -> None:
        """Finish all cells that have at least one execution."""
        self._cut_short = True
        for track in self._schedule.live:
            if track.count:
                track.stopped_by = because(FINISHED_ON_REQUEST, executions=track.count)
                self._done(track)

    def _take(self, turn: Turn) -> None:
        begin = time.monotonic()
        self.journal.append("execution_start", **_place(turn))
        pad = self._rng.randrange(1 << 16)
        try:
            job = self._job(turn)
            hear = partial(self._reporter.hear, turn)
            answer = self.setup.execute(job, self.bounds, self.setup.stop, hear, pad)
        except _NoCopy as refusal:
            answer = Failure("refused", "load", refusal.reason)
        except OSError as error:
            # No process, no descriptor or no place for its log: fail the execution, not the run.
            answer = Failure("exception", "start", error_text(error.strerror or str(error)))
        wall_s = time.monotonic() - begin
        if isinstance(answer, Failure):
            # A failure for lack of disk space says nothing about the cell and can be retried.
            require_room(self.setup.run_dir)
            self._fail(turn, answer, wall_s)
        else:
            self._keep(turn, answer, wall_s)

    def _keep(self, turn: Turn, execution: Execution, wall_s: float) -> None:
        self.journal.append("execution_done", **_place(turn), wall_s=wall_s, result=to_plain(execution))
        if turn.anchor:
            self._anchored = execution
            return
        key, io = turn.cell.key, execution.used.io
        track = self._schedule.tracks[key]
        decision = self._schedule.record(turn, execution, wall_s)
        if track.io == io and self._schedule.start_anew(key, io):
            self.journal.append("warning", cell=key, keep_io=io, message=because("io_levelled", io=io))
            decision = self._schedule.decide_again(key)
        self._reporter.done(turn, execution.p50_ns)
        self._level(key)
        if decision.stop and not track.live:
            self._done(track)

    def _level(self, key: str) -> None:
        """Force cells that are compared to an I/O class that all of them support."""
        group = [k for k in self._matching.get(key, ()) if not self._schedule.tracks[k].failure]
        members = [self._schedule.tracks[k] for k in group]
        seen = {t.io or e.used.io for t in members for e in t.executions[-1:]}
        if len(seen) > 1 and not any(t.unlevel for t in members):
            self._schedule.force_io(group, max(seen, key=IO_CLASSES.index))

    def _fail(self, turn: Turn, failure: Failure, wall_s: float) -> None:
        if not turn.anchor and failure.kind == "refused" and self._schedule.give_way(turn):
            message = because("io_kept", why=failure.message)
            self.journal.append("warning", cell=turn.cell.key, message=message)
            return
        again = not turn.anchor and self._schedule.record_failure(turn, failure, wall_s)
        self.journal.append("execution_failed", **_place(turn), again=again, wall_s=wall_s, failure=to_plain(failure))
        if again:
            message = because("repeated", why=failure.message)
            self.journal.append("warning", cell=turn.cell.key, message=message)
        elif not turn.anchor:
            self._done(self._schedule.tracks[turn.cell.key])

    def _done(self, track: Track) -> None:
        pooled = None
        if track.count:
            samples = [_read(e.samples.file) for e in track.executions]
            pooled = to_plain(pool(track.executions, samples, self._point(track.cell).items))
        self.journal.append("cell_done", cell=track.cell.key, stopped_by=track.stopped_by, pooled=pooled)

    def _job(self, turn: Turn) -> Job:
        setup, track = self.setup, self._schedule.tracks[turn.cell.key]
        io, kind = track.io or self.spec.io, self.spec.stream_kind or track.stream_kind
        cpus = setup.cpu_choice.choose(turn.cell.asked.cores)
        room, most = setup.memory_room(), max(self.spec.effort.max_executions, track.most or 0)
        interpreter = setup.interpreters.get(turn.cell.asked.engine, "")
        point = self._point(turn.cell)
        try:
            path = self._copies.path_of(turn.cell, point)
        except TuibenchError as error:
            raise _NoCopy.from_reason(error.reason) from error
        job = make_job(self.spec, self._prepared, turn, setup.run_dir, cpus, io, kind, room, most)
        nodes = setup.cpu_choice.topology.by_node(cpus)
        return replace(job, model_path=path, interpreter=interpreter, nodes=nodes)

    def _point(self, cell: Cell) -> Point:
        return next(p for p in self._prepared.points if p.id == cell.point)


def _place(turn: Turn) -> dict[str, Any]:
    """Return the fields that identify an execution in an event."""
    return {"cell": turn.cell.key, "n": turn.n, "round": turn.round, "anchor": turn.anchor}


def _read(file: str | None) -> Sequence[int] | None:
    """Return the samples to pool, thinned; None if there are none, and the histogram is used."""
    if file is None:
        return None
    try:
        samples = read_samples(Path(file))
    except (OSError, ValueError):
        return None
    return [value for begin, end in spans(len(samples)) for value in samples[begin:end]]
