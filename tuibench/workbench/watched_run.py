"""A run that somebody watches: what is known of it so far, wherever its process was started."""

from __future__ import annotations

import math
import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from tuibench.core.cell import Cell, Execution, Samples
from tuibench.core.errors import ExitCode, TuibenchError, WriteError
from tuibench.core.model import Point
from tuibench.core.run import RunResult
from tuibench.core.wish import ON_REQUEST
from tuibench.runs.outcome import exit_code, signal_code
from tuibench.runs.replay import Replay
from tuibench.runs.schedule import Schedule
from tuibench.workbench.forecast import item_bytes, worker_bytes

Event = dict[str, Any]


class WatchedRun(Protocol):
    """What a view needs of a run, whether it was started here or elsewhere."""

    run_dir: Path
    replay: Replay

    @property
    def id(self) -> str:
        """The run's."""

    @property
    def begun(self) -> bool:
        """Whether what the journal says is about the run that is watched."""

    def events(self) -> Iterator[list[Event]]:
        """What happened since the last look, until the run has ended."""

    def result(self) -> RunResult:
        """The result as the journal has it."""


def end_error(replay: Replay) -> TuibenchError | None:
    """What a run that could not even be planned, or not be taken up, has to say."""
    problem = replay.end.get("error")
    if problem is None:
        return None
    error = TuibenchError(str(problem["message"]), str(problem.get("hint") or ""))
    error.exit_code = type(error.exit_code)(int(problem["exit_code"]))
    return error


def ending_code(replay: Replay, result: RunResult) -> ExitCode:
    """What the command that waited for a run ends with."""
    ended = signal_code(str(replay.end.get("reason", "")))
    # A signal that ended an earlier sitting is none that ended the command which saved what it left.
    if ended is not None and not replay.end.get("only_saved"):
        return ended
    if replay.end.get("saved") is False:
        return ExitCode.STORE
    if result.status == "interrupted":
        return ExitCode(int(replay.end.get("exit_code", ExitCode.SOME_FAILED)))
    return exit_code(result.cells) if result.spec.profile is None else _profile_code(replay, result)


def _profile_code(replay: Replay, result: RunResult) -> ExitCode:
    """0 where all that was asked for is there, or somebody wanted no more of it."""
    asked = result.spec.profile
    if asked is None or result.profile is None:
        return ExitCode.SOME_FAILED
    whole = result.status == "finished" and replay.end.get("reason") in (None, ON_REQUEST)
    return ExitCode.OK if whole and not replay.parts.lacking(asked) else ExitCode.SOME_FAILED


def first_round(replay: Replay) -> tuple[Cell, ...]:
    """The planned cells in the order in which the first round takes them, but for those that failed already."""
    spec = replay.spec
    live = [cell for cell in replay.cells if replay.cell(cell.key).failure is None]
    schedule = Schedule(live, spec.effort, random.Random(spec.inputs.seed))
    return tuple(turn.cell for turn in schedule.next_round())


def expected_memory(replay: Replay) -> dict[str, int]:
    """About what each planned cell will take: weights as read, reordered and packed, and the inputs."""
    models, points = replay.models, {p.id: p for p in replay.points}
    sizes = {}
    for cell in replay.cells:
        point, model = points[cell.point], models[cell.model]
        inputs = point.distinct * sum(math.prod(fed.shape) * item_bytes(fed.dtype) for fed in point.inputs)
        sizes[cell.key] = worker_bytes(model, inputs)
    return sizes


def settle_samples(result: RunResult, source: Path | None, target: str | None) -> RunResult:
    """Copy the samples from `source` to `target`, or say of each that it was not kept; no file of the run is named."""
    if target is not None:
        Path(target).mkdir(exist_ok=True)
    cells = [
        replace(
            cell,
            samples=None if cell.samples is None else replace(cell.samples, file=None),
            executions=tuple(_settle(e, source, target) for e in cell.executions),
        )
        for cell in result.cells
    ]
    return unfile_points(replace(result, cells=tuple(cells)))


def unfile_points(result: RunResult) -> RunResult:
    """Inputs and reference outputs go away with the run, and a name of what is gone helps nobody."""
    return replace(result, points=tuple(_unfiled(point) for point in result.points))


def _unfiled(point: Point) -> Point:
    return replace(point, bundle=None, reference=replace(point.reference, file=None))


def _settle(execution: Execution, source: Path | None, target: str | None) -> Execution:
    file = execution.samples.file
    samples: Samples = replace(execution.samples, file=None)
    if target is not None and source is not None and file is not None:
        name = Path(file).name
        try:
            shutil.copyfile(source / name, Path(target) / name)
        except OSError as error:
            raise WriteError(f"samples cannot be copied to {target}: {error.strerror}") from error
        samples = replace(samples, file=str(Path(target) / name))
    return replace(execution, samples=samples)
