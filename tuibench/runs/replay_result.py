"""Builds the whole result from a replayed journal: cells with comparisons and conclusions, or a profile."""

from __future__ import annotations

from dataclasses import replace

from tuibench.core.form import PROFILE
from tuibench.core.label import model_names
from tuibench.core.run import RunResult
from tuibench.runs.conclusion import conclude
from tuibench.runs.pairing import compare_cells, explain_missing
from tuibench.runs.replay import Replay, all_warnings


def make_result(past: Replay) -> RunResult:
    """Return the whole result of a replayed journal."""
    frame = _frame(past)
    return _with_cells(past, frame) if past.spec.profile is None else _with_profile(past, frame)


def _with_profile(past: Replay, frame: RunResult) -> RunResult:
    from tuibench.runs.profile_result import make_profile  # not needed for benchmarks

    profile = make_profile(frame.spec, past.parts, past.points, past.inputs_sha256)
    return replace(frame, schema=PROFILE, profile=profile)


def _with_cells(past: Replay, frame: RunResult) -> RunResult:
    cells = past.results
    rounds = {t.cell.key: [(d.round, d.execution) for d in t.executions] for t in past.tracks.values()}
    names = past.names()
    pair_s = 2 * sum(past.walls_s) / len(past.walls_s) if past.walls_s else None
    comparisons = compare_cells(cells, rounds, names, pair_s=pair_s)
    missing = explain_missing(past.models, model_names(frame.spec.models), cells, comparisons)
    return replace(
        frame,
        cells=cells,
        comparisons=comparisons,
        conclusions=(*conclude(cells, names), *missing),
        anchor=past.drift(),
    )


def _frame(past: Replay) -> RunResult:
    """Return the fields that every result has."""
    return RunResult(
        id=str(past.start.get("run", "")),
        status=str(past.end.get("status", "interrupted")),
        spec=past.spec,
        models=past.models,
        points=past.points,
        cells=(),
        environment=dict(past.start.get("host", {})),
        versions=dict(past.start.get("versions", {})),
        started_utc=str(past.start.get("started_utc", "")),
        seconds=past.seconds,
        warnings=all_warnings(past),
        host=str(past.start.get("host_id", "")),
        sittings=tuple(s for place, s in enumerate(past.sittings) if s.executions or not place),
        waited_s=past.waited_s,
        shared_host=past.shared,
    )
