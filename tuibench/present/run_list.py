"""The runs of this machine, listed like processes by `ps`: state, progress and reason for waiting."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tuibench.core.activity import ALIVE, RESUMABLE, UNSAVED, WAITING, Holder, RunInfo
from tuibench.core.cell import CellResult, latency
from tuibench.core.errors import ExitCode
from tuibench.core.ids import short_id, short_ids
from tuibench.core.reason import CANCELLED_ON_REQUEST, FINISHED_ON_REQUEST
from tuibench.core.record import to_plain
from tuibench.core.text import show, to_ascii
from tuibench.core.units import count_of, ms, percent, seconds
from tuibench.present.ages import age
from tuibench.present.amount import amount
from tuibench.present.cells import failure_text
from tuibench.present.reason import export_words, extension_words, finishing_words, read_end, read_words, reason_words
from tuibench.present.table import Column, table_lines

WIDTH = 80
SCHEMA = 1
_SILENT_S = 60.0
"""A run with an older heartbeat is marked as silent."""
_LONGEST = 200


def run_list(runs: Sequence[RunInfo], now: float, *, width: int | None = WIDTH, ascii_only: bool = False) -> str:
    """Return a line per run in the order given, then the commands for interrupted runs; '' without runs."""
    if not runs:
        return ""
    names = short_ids(run.id for run in runs)
    lines = table_lines(_SHELL_RUNS, [(run, names[run.id], now) for run in runs], width)
    text = "\n".join([*lines, *_advice(runs, names)]) + "\n"
    return to_ascii(text) if ascii_only else text


def runs_json(runs: Sequence[RunInfo]) -> str:
    """Return the runs as JSON."""
    names = short_ids(run.id for run in runs)
    listed = [
        {"short": names[run.id], **to_plain(run, export_words), "detail": export_words(run.detail)} for run in runs
    ]
    return json.dumps({"schema": SCHEMA, "runs": listed}, indent=1) + "\n"


def why_words(run: RunInfo) -> str:
    """Return the reason for a run's state: what it waits for, or what ended it."""
    words = [f"place {run.place}" if run.state == WAITING and run.place is not None else ""]
    words.append(holder_words(run.holder) if run.state == WAITING and run.holder is not None else "")
    words.append(reason_words(run.detail, _LONGEST))
    if run.state in ALIVE and run.heartbeat_age_s is not None and run.heartbeat_age_s > _SILENT_S:
        words.append(f"silent for {seconds(run.heartbeat_age_s)}")
    return " · ".join(filter(None, words))


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


Named = tuple[RunInfo, str, float]
"""A run, its short id and the current time."""
_SHELL_RUNS: tuple[Column[Named], ...] = (
    Column("id", "id", text=lambda one: one[1]),
    Column("state", "state", text=lambda one: show(one[0].state, 20)),
    Column("age", "age", text=lambda one: age(one[0].started_utc, one[2]), right=True),
    Column("name", "name", text=lambda one: show(one[0].name or ", ".join(one[0].models), _LONGEST), least=12),
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
        "resume ID goes on with what is missing": [run for run in broken if run.resumable and run.state != UNSAVED],
        "resume ID saves what was measured": [run for run in broken if run.resumable and run.state == UNSAVED],
        "remove ID removes what cannot be taken up": [run for run in broken if not run.resumable],
    }
    return [f"tuibench {words}: {', '.join(names[run.id] for run in of)}" for words, of in advice.items() if of]


Event = Mapping[str, Any]

_PHASES = {
    "start": "starting",
    "load": "loading",
    "first": "first inference",
    "check": "checking outputs",
    "timed": "measuring",
    "warmup": "warming up",
    "done": "measuring",
}
_RUN_LOG_LONGEST = 500


def phase_words(phase: str) -> str:
    """Return the words for the phase of an execution."""
    return _PHASES.get(phase, show(phase, 40))


def cell_line(name: str, cell: CellResult) -> str:
    """Return the line of a finished cell."""
    p50 = latency(cell)
    if p50.value is None:
        return f"{name}: {failure_text(cell)}"
    grade = f", grade {cell.grade.letter}" if cell.grade else ""
    return f"{name}: {amount(p50, 'ms')}{grade} ({reason_words(cell.stopped_by)})"


class RunLog:
    """Makes log lines from events in order; `cell` returns the present line of a cell by its key, `name` its name."""

    def __init__(self, cell: Callable[[str], str], name: Callable[[str], str]) -> None:
        self._cell = cell
        self._name = name
        self._round = 0
        self._place: object = None
        self._activity = ""
        self._is_profile = False

    def words(self, event: Event) -> str:
        """Return the log line of an event; '' if it has none."""
        teller = getattr(self, f"_on_{event['ev']}", None)
        return show(teller(event), _RUN_LOG_LONGEST) if teller is not None else ""

    def _on_run_start(self, event: Event) -> str:
        self._is_profile = bool((event.get("spec") or {}).get("profile"))
        return f"the run begins: pid {event.get('pid')}"

    def _on_sitting(self, event: Event) -> str:
        changes = [read_words(change) for change in event.get("mixed") or ()]
        return "taken up again" + (f" although {'; '.join(changes)}" if changes else "")

    def _on_waiting(self, event: Event) -> str:
        # The event repeats every ten seconds to update the time left.
        if event["place"] == self._place:
            return ""
        self._place = event["place"]
        return f"waits at place {event['place']}: {event['words']}"

    def _on_granted(self, event: Event) -> str:
        self._place = None
        if event.get("shared"):
            return "measures beside another benchmark, as --share-host asks: numbers will suffer"
        return f"waited {seconds(float(event['waited_s']))} for the machine" if float(event["waited_s"]) >= 1 else ""

    def _on_progress(self, event: Event) -> str:
        said = str(event.get("activity") or "") if event.get("cell") is None else ""
        if event.get("stage"):
            # Progress within a part of a profile is reported for each of a thousand layers.
            said = said.partition(":")[0] if event["stage"] == "layers" else said.partition(",")[0]
        if not said or said == self._activity:
            return ""
        self._activity = said
        return said

    def _on_execution_start(self, event: Event) -> str:
        if int(event["round"]) <= self._round:
            return ""
        self._round = int(event["round"])
        return f"round {self._round}"

    def _on_cell_done(self, event: Event) -> str:
        return self._cell(str(event["cell"]))

    def _on_execution_failed(self, event: Event) -> str:
        if event.get("anchor"):
            return f"the anchor execution failed: {event['failure'].get('message', '')}"
        return ""

    def _on_profile_part(self, event: Event) -> str:
        if event["part"] != "layers" or not event.get("result"):
            return ""
        return f"process {int(event['n'])}: {ms(float(event['result']['unprofiled_us']) / 1000)}/batch"

    def _on_warning(self, event: Event) -> str:
        name = self._name(str(event["cell"])) if event.get("cell") else ""
        words = read_words(event["message"])
        return f"{name}: {words}" if name else words

    def _on_finish_asked(self, _: Event) -> str:
        return f"finishing on request: {finishing_words(self._is_profile)}"

    def _on_extended(self, event: Event) -> str:
        words = extension_words(float(event["limit_s"]), int(event["executions"]))
        return f"{words}, for {count_of(len(event['cells']), 'cell')}"

    def _on_run_end(self, event: Event) -> str:
        status, reason = str(event.get("status", "interrupted")), read_end(event)
        names_status = reason is None or reason.code in (FINISHED_ON_REQUEST, CANCELLED_ON_REQUEST)
        words = reason_words(reason) or status
        words = words if names_status else f"{status}: {words}"
        if event.get("saved"):
            return f"{words}; saved"
        return f"{words}; not saved: {event.get('why', '')}" if event.get("saved") is False else words


def drift_words(drift: float | None) -> str:
    """Return the drift of the anchor cell since the start."""
    return "" if drift is None else f"{'+' if drift >= 0 else '-'}{percent(abs(drift))}"
