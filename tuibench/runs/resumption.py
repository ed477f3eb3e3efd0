"""Resumes an interrupted run: measures nothing twice and mixes only comparable executions."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tuibench.core.cell import Cell
from tuibench.core.errors import ExitCode, ModelError, StoreError, TuibenchError
from tuibench.core.text import show
from tuibench.core.units import percent
from tuibench.runs.directory import RunDirectory
from tuibench.runs.journal import NAME, History, decode_event, open_regular, read_history
from tuibench.runs.preparation import Prepared
from tuibench.runs.profile.parts import count_parts
from tuibench.runs.replay import Replay, replay
from tuibench.runs.schedule import Schedule
from tuibench.runs.track import Track, count_cells
from tuibench.stats.interval import LEAST, mean_and_deviation, t_quantile

_BLOCK = 1 << 20
_LEAST_MARGIN = 0.05
_UNKNOWN_MARGIN = 0.15
"""Difference of logarithms allowed with too few executions to know their spread."""


class Disagreement(TuibenchError):
    """The machine measures differently than before; resuming would mix two populations in one number."""

    exit_code = ExitCode.NOT_COMPARABLE


def changed_machine(run: str, changes: Sequence[str]) -> Disagreement:
    """Return the refusal to resume a run on a changed machine."""
    return Disagreement(
        f"this machine is not what it was when the run began: {'; '.join(changes)}",
        f"tuibench resume {run} --mixed measures the rest all the same and marks the result; "
        f"tuibench resume {run} --finish saves what there is",
    )


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


def disagreement(p50_ns: float, before_ns: Sequence[float]) -> str | None:
    """Return how an anchor execution differs from earlier ones; None if it fits.

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
    word = "slower" if difference > 0 else "faster"
    change = percent(abs(math.expm1(difference)))
    return f"the anchor execution is {change} {word} than before the break (allowed {percent(math.expm1(margin))})"


_TAIL_BYTES = 1 << 14
COUNTS = ("cells", "cells_done", "executions")


def read_replay(run: RunDirectory) -> tuple[Replay, History]:
    """Replay a journal; raise StoreError if it is unreadable, StoreDamaged if an event is invalid."""
    history = read_history(run.path)
    earlier = Replay()
    if _lacks_head(history):
        earlier.take(head_of(run.request()))
    earlier.damaged = history.missing
    return replay(history.events, earlier), history


def count(earlier: Replay) -> dict[str, int]:
    """Return a run's counts; they are part of its last event, so that lists need not read the whole journal."""
    profile = earlier.spec.profile if earlier.start else None
    if profile is not None:
        parts = earlier.parts
        return count_parts(profile, parts.done | parts.failures.keys(), parts.measured, parts.changes)
    return count_cells(earlier.tracks.values())


def read_ends(run: RunDirectory) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return the first and last event of an ended run, or None if the last one is no end with counts."""
    try:
        with os.fdopen(open_regular(run.path / NAME), "rb") as handle:
            first = decode_event(handle.readline())
            size = handle.seek(0, os.SEEK_END)
            handle.seek(max(0, size - _TAIL_BYTES))
            last = decode_event(handle.read().rstrip(b"\n").rpartition(b"\n")[2])
    except OSError:
        return None
    whole = first is not None and last is not None and first["ev"] == "run_start" and last["ev"] == "run_end"
    return (first, last) if first and last and whole and "executions" in last else None


def is_headless(run: RunDirectory) -> bool:
    """Return whether the first line of a journal is damaged; read the other lines only then."""
    try:
        with os.fdopen(open_regular(run.path / NAME), "rb") as handle:
            line = handle.readline()
        first = decode_event(line) if line.endswith(b"\n") else None
        if first is not None and first["ev"] == "run_start":
            return False
        return _lacks_head(read_history(run.path))
    except (OSError, StoreError):
        return False


def _lacks_head(history: History) -> bool:
    return bool(history.damaged) and not any(event["ev"] == "run_start" for event in history.events)


def head_of(request: dict[str, Any]) -> dict[str, Any]:
    """Rebuild a run's first event from its request, without the runner's own data: machine, versions and time."""
    return {
        "ev": "run_start",
        "seq": 0,
        "t_ns": 0,
        "run": request["id"],
        "spec": request["spec"],
        "host_id": request.get("host_id", ""),
    }
