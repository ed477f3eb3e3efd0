"""Builds the whole result from a replayed journal: cells with comparisons, or a profile."""

from __future__ import annotations

from dataclasses import replace

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
    comparisons = compare_cells(cells, rounds, names, pair_s=pair_s)
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
        points=replay.points,
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
