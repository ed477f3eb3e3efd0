"""The whole result of a replayed journal, and the exit code that follows from it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tuibench.core.cell import CellResult, Execution, Samples
from tuibench.core.errors import ExitCode, WriteError
from tuibench.core.reason import FINISHED_ON_REQUEST, Failure, Reason
from tuibench.core.result import RunResult
from tuibench.core.schema import PROFILE
from tuibench.runs.comparison import compare_cells
from tuibench.runs.replay import Replay, all_warnings, display_names


def make_result(replay: Replay) -> RunResult:
    """Return the whole result of a replayed journal."""
    frame = _frame(replay)
    return _with_cells(replay, frame) if replay.spec.profile is None else _with_profile(replay, frame)


def _with_profile(replay: Replay, frame: RunResult) -> RunResult:
    from tuibench.runs.profile.result import make_profile  # not needed for benchmarks

    profile = make_profile(frame.spec, replay.parts, replay.points, replay.inputs_sha256)
    return replace(frame, schema=PROFILE, profile=profile)


def _with_cells(replay: Replay, frame: RunResult) -> RunResult:
    cells = tuple(replay.cell(key) for key in replay.tracks)
    rounds = {t.cell.key: [(d.round, d.execution) for d in t.done] for t in replay.tracks.values()}
    names = display_names(replay)
    pair_s = 2 * sum(replay.walls_s) / len(replay.walls_s) if replay.walls_s else None
    comparisons = compare_cells(cells, rounds, names, pair_s=pair_s, drifts=replay.drifts)
    return replace(
        frame,
        cells=cells,
        comparisons=comparisons,
        anchor=replay.drift(),
    )


def _frame(replay: Replay) -> RunResult:
    """Return the fields that every result has."""
    return RunResult(
        id=str(replay.start.get("run", "")),
        status=str(replay.end.get("status", "interrupted")),
        spec=replay.spec,
        models=replay.models,
        # Inputs and reference outputs are deleted with the run.
        points=tuple(replace(p, bundle=None, reference=replace(p.reference, file=None)) for p in replay.points),
        cells=(),
        environment=dict(replay.start.get("host", {})),
        versions=dict(replay.start.get("versions", {})),
        started_utc=str(replay.start.get("started_utc", "")),
        seconds=replay.seconds,
        warnings=all_warnings(replay),
        host=str(replay.start.get("host_id", "")),
        sittings=tuple(s for place, s in enumerate(replay.sessions) if s.executions or not place),
        waited_s=replay.waited_s,
        shared_host=replay.shared,
    )


_SIGNAL_CODES = {"SIGINT": ExitCode.INTERRUPT, "SIGTERM": ExitCode.TERMINATED, "SIGHUP": ExitCode.HANGUP}
_ENGINES = frozenset({"engine", "setting"})
"""Failures of an engine that is missing or lacks a requested feature; refusing a model is the model's failure."""
_UNREADABLE = frozenset({"inspect", "inputs", "load"})


def exit_code(cells: Sequence[CellResult]) -> ExitCode:
    """Return 0 if every cell was measured; above 1 only if none was and all failed in the same way."""
    if all(cell.status == "ok" for cell in cells):
        return ExitCode.OK
    if any(cell.executions for cell in cells):
        return ExitCode.SOME_FAILED
    if all(cell.failure is None for cell in cells):
        # Nothing failed and nothing was measured: --max-time passed first.
        return ExitCode.TIMEOUT
    codes = {code_of(cell.failure) for cell in cells if cell.failure is not None}
    return codes.pop() if len(codes) == 1 else ExitCode.SOME_FAILED


def code_of(failure: Failure) -> ExitCode:
    """Return the exit code if every cell has this failure."""
    if failure.kind in _ENGINES:
        return ExitCode.ENGINE
    if failure.kind == "timeout":
        return ExitCode.TIMEOUT
    return ExitCode.MODEL if failure.phase in _UNREADABLE else ExitCode.SOME_FAILED


def signal_code(reason: Reason | None) -> ExitCode | None:
    """Return the exit code of a run ended by a signal."""
    return _SIGNAL_CODES.get(reason.fields.get("signal", "")) if reason is not None else None


def ending_code(replay: Replay, result: RunResult) -> ExitCode:
    """Return the exit code of the command that waited for a run."""
    ended = signal_code(replay.end.get("reason"))
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
    whole = result.status == "finished" and replay.end.get("reason") in (None, Reason(FINISHED_ON_REQUEST))
    return ExitCode.OK if whole and not replay.parts.lacking(asked) else ExitCode.SOME_FAILED


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
    return replace(result, cells=tuple(cells))


def _settle(execution: Execution, source: Path | None, target: str | None) -> Execution:
    file = execution.samples.file
    samples: Samples = replace(execution.samples, file=None)
    if target is not None and source is not None and file is not None:
        name = Path(file).name
        try:
            shutil.copyfile(source / name, Path(target) / name)
        except OSError as error:
            raise WriteError("samples_not_copied", path=target, text=error.strerror) from error
        samples = replace(samples, file=str(Path(target) / name))
    return replace(execution, samples=samples)
