"""The runs of this machine, listed like processes by `ps`: state, progress and reason for waiting."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tuibench.core.activity import ALIVE, RESUMABLE, UNSAVED, WAITING, Holder, RunInfo, holder_reason
from tuibench.core.errors import ExitCode
from tuibench.core.ids import short_id, short_ids
from tuibench.core.record import from_plain, to_plain
from tuibench.core.text import show
from tuibench.core.units import seconds
from tuibench.present.ages import age
from tuibench.present.error.control import state_words
from tuibench.present.reason import export_words, reason_words, replace_reasons
from tuibench.present.table import Column, as_text, table_lines

WIDTH = 80
SCHEMA = 1
_SILENT_S = 60.0
"""A run with an older heartbeat is marked as silent."""
_MAX_CHARS = 200


def run_list(runs: Sequence[RunInfo], now: float, *, width: int | None = WIDTH, ascii_only: bool = False) -> str:
    """Return a line per run in the order given, then the commands for interrupted runs; '' without runs."""
    if not runs:
        return ""
    names = short_ids(run.id for run in runs)
    lines = table_lines(_SHELL_RUNS, [(run, names[run.id], now) for run in runs], width)
    return as_text([*lines, *_advice(runs, names)], ascii_only)


def runs_json(runs: Sequence[RunInfo]) -> str:
    """Return the runs as JSON."""
    names = short_ids(run.id for run in runs)
    listed = [
        {"short": names[run.id], **to_plain(run, export_words), "detail": export_words(run.detail)} for run in runs
    ]
    return json.dumps({"schema": SCHEMA, "runs": listed}, indent=1) + "\n"


def why_words(run: RunInfo) -> str:
    """Return the reason for a run's state: what it waits for, or what ended it."""
    queue = [f"position {run.place}" if run.state == WAITING and run.place is not None else ""]
    queue.append(queue_words(run.holder) if run.state == WAITING and run.holder is not None else "")
    words = [", ".join(filter(None, queue))]
    words.append(reason_words(run.detail, _MAX_CHARS))
    if run.state in ALIVE and run.heartbeat_age_s is not None and run.heartbeat_age_s > _SILENT_S:
        words.append(f"silent for {seconds(run.heartbeat_age_s)}")
    return " · ".join(filter(None, words))


def resume_words(run: str, end: Mapping[str, Any]) -> str:
    """Return the commands that resume a run; a run refused on this machine needs --mixed or --finish."""
    if end.get("exit_code") == ExitCode.NOT_COMPARABLE:
        mixed = f"tuibench resume {run} --mixed measures the rest and records the change"
        return f"{mixed}; tuibench resume {run} --finish saves the partial result"
    return f"tuibench resume {run} measures the rest"


def owner_words(holder: Holder | None) -> str:
    """Return who measures on this machine, to a user who has to wait; it may be unknown."""
    return reason_words(holder_reason(holder))


def waiting_words(event: Mapping[str, Any]) -> str:
    """Return who measures, from an event of a waiting run; older runs wrote the words."""
    holder = event.get("holder")
    return str(event["words"]) if "words" in event else owner_words(from_plain(Holder, holder) if holder else None)


def event_values(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event for scripts, with words in place of reasons."""
    plain: dict[str, Any] = replace_reasons(dict(event))
    return plain | {"words": waiting_words(event)} if event["ev"] == "waiting" else plain


def queue_words(holder: Holder) -> str:
    """Return who measures on this machine and the time left, if known."""
    who = f"run {show(short_id(holder.run), 10)}" if holder.run else f"pid {holder.pid}"
    left = f", {seconds(max(holder.eta_s, 0.0))} left" if holder.eta_s is not None else ""
    stopped = ", suspended, may never end" if holder.stopped else ""
    return f"behind {who} of {show(holder.user, 40)}{left}{stopped}"


Named = tuple[RunInfo, str, float]
"""A run, its short id and the current time."""
_SHELL_RUNS: tuple[Column[Named], ...] = (
    Column("id", "id", text=lambda one: one[1]),
    Column("state", "state", text=lambda one: state_words(one[0].state)),
    Column("age", "age", text=lambda one: age(one[0].started_utc, one[2]), right=True),
    Column("name", "name", text=lambda one: show(one[0].name or ", ".join(one[0].models), _MAX_CHARS), least=12),
    Column("done", "done", text=lambda one: _done(one[0]), right=True),
    Column("executions", "executions", text=lambda one: str(one[0].executions), right=True, rank=2),
    Column("left", "left", text=lambda one: _left(one[0]), right=True),
    Column("pid", "pid", text=lambda one: _pid(one[0]), right=True, rank=1),
    Column("why", "why", text=lambda one: why_words(one[0]), least=28),
)


def _done(run: RunInfo) -> str:
    return f"{run.cells_done}/{run.cells}" if run.cells else "-"


def _left(run: RunInfo) -> str:
    return seconds(max(run.eta_s, 0.0)) if run.state in ALIVE and run.eta_s is not None else ""


def _pid(run: RunInfo) -> str:
    return str(run.pid) if run.state in ALIVE and run.pid is not None else ""


def _advice(runs: Sequence[RunInfo], names: dict[str, str]) -> list[str]:
    broken = [run for run in runs if run.state in RESUMABLE]
    advice = {
        "resume ID measures the rest": [run for run in broken if run.resumable and run.state != UNSAVED],
        "resume ID saves the measurements": [run for run in broken if run.resumable and run.state == UNSAVED],
        "remove ID deletes a run that cannot be resumed": [run for run in broken if not run.resumable],
    }
    return [f"tuibench {words}: {', '.join(names[run.id] for run in of)}" for words, of in advice.items() if of]
