"""The common interface of a watched run, whether this process started it or not."""

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
from tuibench.runs.track import new_tracks
from tuibench.workbench.forecast import item_bytes, worker_bytes

Event = dict[str, Any]


class WatchedRun(Protocol):
    """A run as a view needs it, started here or elsewhere."""

    run_dir: Path
    replay: Replay

    @property
    def id(self) -> str:
        """The run's id."""

    @property
    def begun(self) -> bool:
        """True if the journal's events belong to the watched run."""

    def events(self) -> Iterator[list[Event]]:
        """Yield the events since the last poll, until the run has ended."""

    def result(self) -> RunResult:
        """Return the result from the journal."""


def end_error(replay: Replay) -> TuibenchError | None:
    """Return the error of a run that could not be planned or resumed; None if there is none."""
    problem = replay.end.get("error")
    if problem is None:
        return None
    error = TuibenchError(str(problem["message"]), str(problem.get("hint") or ""))
    error.exit_code = type(error.exit_code)(int(problem["exit_code"]))
    return error


def ending_code(replay: Replay, result: RunResult) -> ExitCode:
    """Return the exit code of the command that waited for a run."""
    ended = signal_code(str(replay.end.get("reason", "")))
    # With `only_saved`, the signal ended an earlier session and not this command.
    if ended is not None and not replay.end.get("only_saved"):
        return ended
    if replay.end.get("saved") is False:
        return ExitCode.STORE
    if result.status == "interrupted":
        return ExitCode(int(replay.end.get("exit_code", ExitCode.SOME_FAILED)))
    return exit_code(result.cells) if result.spec.profile is None else _profile_code(replay, result)


def _profile_code(replay: Replay, result: RunResult) -> ExitCode:
    """Return 0 if all requested parts exist, or if the user ended the run on purpose."""
    asked = result.spec.profile
    if asked is None or result.profile is None:
        return ExitCode.SOME_FAILED
    whole = result.status == "finished" and replay.end.get("reason") in (None, ON_REQUEST)
    return ExitCode.OK if whole and not replay.parts.lacking(asked) else ExitCode.SOME_FAILED


def first_round(replay: Replay) -> tuple[Cell, ...]:
    """Return the planned cells in the order of the first round, without those that failed already."""
    spec = replay.spec
    live = new_tracks(track.cell for track in replay.tracks.values() if track.failure is None)
    schedule = Schedule(live, spec.effort, random.Random(spec.inputs.seed))
    return tuple(turn.cell for turn in schedule.next_round())


def expected_memory(replay: Replay) -> dict[str, int]:
    """Return the estimated memory of each planned cell: weights as read, reordered and packed, and the inputs."""
    models, points = replay.models, {p.id: p for p in replay.points}
    sizes = {}
    for cell in replay.cells:
        point, model = points[cell.point], models[cell.model]
        inputs = point.distinct * sum(math.prod(fed.shape) * item_bytes(fed.dtype) for fed in point.inputs)
        sizes[cell.key] = worker_bytes(model, inputs)
    return sizes


def settle_samples(result: RunResult, source: Path | None, target: str | None) -> RunResult:
    """Copy the samples from `source` to `target`, or mark each as not kept; never name a file of the run."""
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
    """Remove the paths of inputs and reference outputs, which are deleted with the run."""
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
