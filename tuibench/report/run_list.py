"""The runs of this machine, listed like processes by `ps`: state, progress and reason for waiting."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tuibench.core.activity import ALIVE, ELSEWHERE, RESUMABLE, UNSAVED, WAITING, Holder, RunInfo
from tuibench.core.errors import ExitCode
from tuibench.core.record import to_plain
from tuibench.core.short_id import short_id, short_ids
from tuibench.core.text import show
from tuibench.core.units import count_of, seconds
from tuibench.report.age import age
from tuibench.report.column import Column, lay_out
from tuibench.report.style import to_ascii

WIDTH = 80
SCHEMA = 1
_SILENT_S = 60.0
"""A run with an older heartbeat is marked as silent."""
_COLUMNS = (
    Column("id"),
    Column("state"),
    Column("age", right=True),
    Column("name", least=12),
    Column("done", right=True),
    Column("executions", right=True, rank=2),
    Column("left", right=True),
    Column("pid", right=True, rank=1),
    Column("why", least=28),
)
_LONGEST = 200
_SIGNALS = {"SIGTERM": "ended by its user", "SIGINT": "ended by its user", "SIGHUP": "ended by a hang-up"}


def run_list(runs: Sequence[RunInfo], now: float, *, width: int | None = WIDTH, ascii_only: bool = False) -> str:
    """Return a line per run in the order given, then the commands for interrupted runs; '' without runs."""
    if not runs:
        return ""
    names = short_ids(run.id for run in runs)
    lines = lay_out(_COLUMNS, [_cells(run, names[run.id], now) for run in runs], width)
    text = "\n".join([*lines, *_advice(runs, names)]) + "\n"
    return to_ascii(text) if ascii_only else text


def runs_json(runs: Sequence[RunInfo]) -> str:
    """Return the runs as JSON."""
    names = short_ids(run.id for run in runs)
    listed = [{"short": names[run.id], **to_plain(run)} for run in runs]
    return json.dumps({"schema": SCHEMA, "runs": listed}, indent=1) + "\n"


def why_words(run: RunInfo) -> str:
    """Return the reason for a run's state: what it waits for, or what ended it."""
    words = [f"place {run.place}" if run.state == WAITING and run.place is not None else ""]
    words.append(holder_words(run.holder) if run.state == WAITING and run.holder is not None else "")
    words.append(show(reason_words(run.detail), _LONGEST))
    if run.state in ALIVE and run.heartbeat_age_s is not None and run.heartbeat_age_s > _SILENT_S:
        words.append(f"silent for {seconds(run.heartbeat_age_s)}")
    return " · ".join(filter(None, words))


def reason_words(reason: str) -> str:
    """Return the reason why a run ended, with words in place of signal names."""
    first, semicolon, rest = reason.partition(";")
    return _SIGNALS.get(first, first) + semicolon + rest


def resume_words(run: str, end: Mapping[str, Any]) -> str:
    """Return the commands that resume a run; a run refused on this machine needs --mixed or --finish."""
    if end.get("exit_code") == ExitCode.NOT_COMPARABLE:
        mixed = f"tuibench resume {run} --mixed measures the rest all the same and marks the result"
        return f"{mixed}; tuibench resume {run} --finish saves what there is"
    return f"tuibench resume {run} measures what is missing"


def holder_words(holder: Holder) -> str:
    """Return who measures on this machine and the time left, if known."""
    who = f"run {show(short_id(holder.run), 10)}" if holder.run else f"pid {holder.pid}"
    left = f", {seconds(max(holder.eta_s, 0.0))} left" if holder.eta_s is not None else ""
    stopped = ", which is stopped and may never end" if holder.stopped else ""
    return f"behind {who} of {show(holder.user, 40)}{left}{stopped}"


def cancel_words(run: RunInfo) -> str:
    """Return the result of cancelling a run."""
    short = short_id(run.id)
    if run.state == ELSEWHERE:
        return f"{short}: {show(run.detail)}; its runner there will see the request within seconds"
    if run.state == UNSAVED:
        return f"{short}: ended, not saved: {show(run.detail)}; tuibench resume {short} tries again"
    measured = count_of(run.executions, "part" if run.kind else "execution")
    kept = f"{measured} saved" if run.executions else "nothing was measured"
    return f"{short}: {run.state}, {kept}"


def _cells(run: RunInfo, name: str, now: float) -> tuple[str, ...]:
    return (
        name,
        show(run.state, 20),
        age(run.started_utc, now),
        show(run.name or ", ".join(run.models), _LONGEST),
        f"{run.cells_done}/{run.cells}" if run.cells else "-",
        str(run.executions),
        seconds(max(run.eta_s, 0.0)) if run.state in ALIVE and run.eta_s is not None else "",
        str(run.pid) if run.state in ALIVE and run.pid is not None else "",
        why_words(run),
    )


def _advice(runs: Sequence[RunInfo], names: dict[str, str]) -> list[str]:
    broken = [run for run in runs if run.state in RESUMABLE]
    advice = {
        "resume ID goes on with what is missing": [run for run in broken if run.resumable and run.state != UNSAVED],
        "resume ID saves what was measured": [run for run in broken if run.resumable and run.state == UNSAVED],
        "remove ID removes what cannot be taken up": [run for run in broken if not run.resumable],
    }
    return [f"tuibench {words}: {', '.join(names[run.id] for run in of)}" for words, of in advice.items() if of]
