"""Checks that a resumed run measures the same models and inputs on the same machine, and restores its schedule."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Sequence
from pathlib import Path

from tuibench.core.cell import Cell
from tuibench.core.errors import ExitCode, ModelError, TuibenchError
from tuibench.core.reason import Reason, because
from tuibench.runs.journal import open_regular
from tuibench.runs.preparation import Prepared
from tuibench.runs.replay import Replay
from tuibench.runs.schedule import Schedule
from tuibench.runs.track import Track
from tuibench.stats.interval import LEAST, mean_and_deviation, t_quantile

_BLOCK = 1 << 20
_LEAST_MARGIN = 0.05
_UNKNOWN_MARGIN = 0.15
"""Difference of logarithms allowed with too few executions to know their spread."""


class Disagreement(TuibenchError):
    """The machine measures differently than before; resuming would mix two populations in one number."""

    exit_code = ExitCode.NOT_COMPARABLE


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
        raise ModelError("inputs_changed")
    for old, new in zip(earlier.models, prepared.models, strict=True):
        if old.sha256 != new.sha256:
            raise ModelError("model_changed_since", path=new.path)
    if [cell.key for cell in earlier.cells] != [cell.key for cell in cells]:
        raise ModelError("plan_not_repeatable")


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
    return because(code, change=math.expm1(difference), allowed=abs(math.expm1(math.copysign(margin, difference))))
