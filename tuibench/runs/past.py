"""Replays a run from its journal; the request replaces a damaged first event."""

from __future__ import annotations

import os
from typing import Any

from tuibench.core.errors import StoreError
from tuibench.runs.directory import RunDirectory
from tuibench.runs.journal import NAME, History, decode_event, read_history
from tuibench.runs.profile_part import count_parts
from tuibench.runs.regular import open_regular
from tuibench.runs.replay import Replay, replay
from tuibench.runs.track import count_cells

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
