"""Inspects models and makes their inputs in child processes; compares a resumed run with its earlier sessions."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tuibench.core.cell import Cell
from tuibench.core.errors import ExitCode, ModelError, PhaseTimeout, TuibenchError, UsageError
from tuibench.core.model import ModelSummary, Point, Reference
from tuibench.core.reason import Reason, because
from tuibench.core.record import from_plain, to_plain
from tuibench.core.scenario import find
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.text import show
from tuibench.host.kernel_files import busy_shares, read_cpu_times
from tuibench.host.topology import Topology, choose_cpus, read_topology
from tuibench.runs.journal import open_regular
from tuibench.runs.replay import Replay
from tuibench.runs.schedule import Schedule, Turn
from tuibench.runs.supervision import Bounds
from tuibench.runs.task import Call, ChildDeath, StopSwitch, call_child
from tuibench.runs.track import Track
from tuibench.stats.interval import LEAST, mean_and_deviation, t_quantile
from tuibench.stats.percentile import MOST_BINS
from tuibench.worker.job import Job

Tell = Callable[[str], None]


@dataclass(slots=True)
class Prepared:
    """Models and inputs, with the points that hung in ONNX Runtime."""

    models: list[ModelSummary] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    hung: dict[str, str] = field(default_factory=dict)
    """Maps a point id to the error message; ONNX Runtime is not tried again."""


class Preparation:
    """Prepares one benchmark's models, one child after the other."""

    def __init__(
        self,
        spec: BenchmarkSpec,
        run_dir: Path,
        stop: StopSwitch,
        bounds: Bounds,
        memory_bytes: int | None,
        tell: Tell,
        cache: str | None = None,
        call: Call = call_child,
    ) -> None:
        self._call = call
        self._cache = cache
        self._spec = spec
        self._run_dir = run_dir
        self._stop = stop
        self._bounds = bounds
        self._memory_bytes = memory_bytes
        self._tell = tell

    def carry_out(self) -> Prepared:
        """Prepare all models in order; among several, an unreadable model gives failed cells instead of an error."""
        prepared = Prepared()
        for index, source in enumerate(self._spec.models):
            try:
                self._tell(f"inspecting {source.asked}")
                summary = self._inspect(index)
                self._tell(f"making inputs for {source.asked}")
                points = self._prepare(index, summary, prepared)
            except UsageError:
                raise
            except TuibenchError as error:
                if len(self._spec.models) == 1:
                    raise
                summary = _unread(source.path, error)
                points = [_failed_point(index, error)]
            prepared.models.append(summary)
            prepared.points += points
        return prepared

    def _inspect(self, index: int) -> ModelSummary:
        source = self._spec.models[index]
        request: dict[str, Any] = {"path": source.path, "memory_bytes": self._memory_bytes, "parent": os.getpid()}
        request["cache"] = self._cache
        try:
            answer = self._call(
                "inspect",
                request,
                timeout_s=self._bounds.limit_s("inspect", None),
                stop=self._stop,
                log_path=self._log(f"inspect-{index}"),
            )
        except ChildDeath as death:
            raise self._ended(f"{source.asked}: reading the model {death.message}", death) from death
        return from_plain(ModelSummary, answer)

    def _prepare(self, index: int, summary: ModelSummary, prepared: Prepared) -> list[Point]:
        done: dict[str, Point] = {}
        skipped: list[str] = []
        while True:
            candidate: dict[str, Any] = {}

            def hear(line: dict[str, Any], candidate: dict[str, Any] = candidate) -> float | None:
                for stage in ("candidate", "tried"):
                    if stage in line:
                        candidate.update(point=line[stage], stage=stage)
                if "point" in line:
                    point = from_plain(Point, line["point"])
                    done[point.id] = point
                    candidate.clear()
                return self._bounds.limit_s("first", None)

            try:
                self._ask(index, summary, skipped, hear)
                return list(done.values())
            except ChildDeath as death:
                last = candidate.get("point")
                if self._bounds.over or last is None or last["id"] in skipped:
                    asked = self._spec.models[index].asked
                    raise self._ended(f"{asked}: making inputs {death.message}", death) from death
                skipped.append(last["id"])
                # A timeout of the reference alone does not mean that the model hangs.
                if death.kind == "timeout" and candidate["stage"] == "candidate":
                    prepared.hung[last["id"]] = death.message

    def _ask(
        self, index: int, summary: ModelSummary, skipped: list[str], hear: Callable[[dict[str, Any]], float | None]
    ) -> None:
        request = {
            "spec": to_plain(self._spec),
            "model": index,
            "summary": to_plain(summary),
            "run_dir": str(self._run_dir),
            "skip_trial": skipped,
            "only": None,
            "reference": self._spec.check,
            "memory_bytes": self._memory_bytes,
            "parent": os.getpid(),
        }
        limit = self._bounds.limit_s("load", None)
        log = self._log(f"prepare-{index}")
        self._call("prepare", request, timeout_s=limit, stop=self._stop, log_path=log, on_line=hear)

    def _ended(self, message: str, death: ChildDeath) -> TuibenchError:
        """Return the error for a dead child; a timeout of the command is not the model's fault."""
        if self._bounds.over:
            return PhaseTimeout(f"--max-time was over before there was a plan ({message})", "give it more time")
        kind = PhaseTimeout if death.kind == "timeout" else ModelError
        return kind(message, death.log_tail or "")

    def _log(self, name: str) -> str:
        return str(self._run_dir / "logs" / f"{name}.log")


def _unread(path: str, error: TuibenchError) -> ModelSummary:
    return ModelSummary(path, f"unread:{path}", 0, 0, (), (), reason=error.message)


def _failed_point(index: int, error: TuibenchError) -> Point:
    nothing = Reference(None, None, None, error.message)
    return Point(f"m{index}", index, None, 1, {}, {}, (), None, 0, nothing, failure=("model", "inspect", error.message))


_LOOK_S = 0.1


class Machine:
    """Reads the topology once, and the load before each choice that depends on it."""

    def __init__(self, wait: Callable[[float], None], root: Path = Path("/")) -> None:
        self._wait = wait
        self._root = root
        self.topology: Topology = read_topology(os.sched_getaffinity(0), root)

    def choose(self, cores: int) -> tuple[int, ...]:
        """Choose the CPUs idlest over a tenth of a second; skip the measurement if all are needed."""
        busy: dict[int, float] = {}
        if cores < len(self.topology.cores) or len(self.topology.allowed) > len(self.topology.cores):
            before = read_cpu_times(self._root)
            self._wait(_LOOK_S)
            busy = dict(busy_shares(before, read_cpu_times(self._root)))
        return choose_cpus(self.topology, cores, busy)


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


_BLOCK = 1 << 20
_LEAST_MARGIN = 0.05
_UNKNOWN_MARGIN = 0.15
"""Difference of logarithms allowed with too few executions to know their spread."""


class Disagreement(TuibenchError):
    """The machine measures differently than before; resuming would mix two populations in one number."""

    exit_code = ExitCode.NOT_COMPARABLE

    def __init__(self, reason: Reason, message: str = "", hint: str = "") -> None:
        super().__init__(message or reason.code, hint)
        self.reason = reason


def hash_inputs(path: str | None) -> str | None:
    """Return the sha256 of an inputs file, None for generated inputs; later sessions compare it.

    Raise OSError if the file is missing or not a regular file.
    """
    if path is None:
        return None
    digest = hashlib.sha256()
    with os.fdopen(open_regular(Path(os.path.realpath(path))), "rb") as handle:
        while block := handle.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def check_plan(earlier: Replay, prepared: Prepared, cells: Sequence[Cell], inputs_sha256: str | None) -> None:
    """Raise ModelError unless models, inputs and cells match the first session's."""
    if earlier.inputs_sha256 != inputs_sha256:
        raise ModelError("the file of --inputs changed since this run began", "put the old one back, or start anew")
    for old, new in zip(earlier.models, prepared.models, strict=True):
        if old.sha256 != new.sha256:
            hint = "measure it as it is now with tuibench rerun, or put the old file back"
            raise ModelError(f"{show(new.path)} changed since this run began", hint)
    if [cell.key for cell in earlier.cells] != [cell.key for cell in cells]:
        raise ModelError("the plan of this run cannot be made again on this machine", "tuibench rerun starts anew")


def restore(schedule: Schedule, earlier: Replay) -> list[Track]:
    """Continue the rounds of the earlier sessions; return cells that are complete but not recorded as done."""
    enough = [
        track
        for key, track in schedule.tracks.items()
        if track.live and track.count and schedule.decide_again(key).stop
    ]
    schedule.round = max((done.round for track in schedule.tracks.values() for done in track.done), default=0)
    schedule.anchor_turns = earlier.anchors
    if earlier.anchor is not None:
        schedule.anchor = schedule.tracks[earlier.anchor].cell
    return enough


def cheapest(earlier: Replay) -> Track | None:
    """Return the previous anchor cell, else the measured cell that is cheapest to repeat."""
    measured = [t for t in earlier.tracks.values() if t.count and t.failure is None]
    before = [t for t in measured if t.cell.key == earlier.anchor]
    return min(before or measured, key=lambda t: t.spent_s / t.count, default=None)


def disagreement(p50_ns: float, before_ns: Sequence[float], code: str = "anchor_differs") -> Reason | None:
    """Return how an anchor execution differs from earlier ones, under this code; None if it fits.

    The margin is a 95 % prediction interval for one more execution, and at least 5 %.
    """
    logs = [math.log(value) for value in before_ns]
    center, deviation = mean_and_deviation(logs)
    margin = _UNKNOWN_MARGIN
    if len(logs) >= LEAST:
        spread = t_quantile(len(logs) - 1) * deviation * math.sqrt(1 + 1 / len(logs))
        margin = max(_LEAST_MARGIN, spread)
    difference = math.log(p50_ns) - center
    if abs(difference) <= margin:
        return None
    return because(code, change=math.expm1(difference), allowed=math.expm1(margin))
