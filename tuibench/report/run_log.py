"""A run's log: one line for each event worth knowing afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tuibench.core.cell import CellResult
from tuibench.core.text import show
from tuibench.core.units import count_of, ms, percent, seconds
from tuibench.core.wish import extension_words, finishing_words
from tuibench.report.label import failure_text, plus_minus
from tuibench.report.run_list import reason_words

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
_LONGEST = 500


def phase_words(phase: str) -> str:
    """Return the words for the phase of an execution."""
    return _PHASES.get(phase, show(phase, 40))


def cell_line(name: str, cell: CellResult) -> str:
    """Return the line of a finished cell."""
    p50 = cell.latency_ms.get("p50")
    if p50 is None or p50.value is None:
        return f"{name}: {failure_text(cell)}"
    value = " ".join(filter(None, (ms(p50.value), plus_minus(p50))))
    grade = f", grade {cell.grade.letter}" if cell.grade else ""
    return f"{name}: {value}{grade} ({cell.stopped_by})"


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
        return show(teller(event), _LONGEST) if teller is not None else ""

    def _on_run_start(self, event: Event) -> str:
        self._is_profile = bool((event.get("spec") or {}).get("profile"))
        return f"the run begins: pid {event.get('pid')}"

    def _on_sitting(self, event: Event) -> str:
        changes = [str(change) for change in event.get("mixed") or ()]
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
        return f"{name}: {event['message']}" if name else str(event["message"])

    def _on_finish_asked(self, _: Event) -> str:
        return f"finishing on request: {finishing_words(self._is_profile)}"

    def _on_extended(self, event: Event) -> str:
        words = extension_words(float(event["limit_s"]), int(event["executions"]))
        return f"{words}, for {count_of(len(event['cells']), 'cell')}"

    def _on_run_end(self, event: Event) -> str:
        status, reason = str(event.get("status", "interrupted")), reason_words(str(event.get("reason") or ""))
        # "finished on request" includes the status.
        words = (reason or status) if reason.startswith(status) or not reason else f"{status}: {reason}"
        if event.get("saved"):
            return f"{words}; saved"
        return f"{words}; not saved: {event.get('why', '')}" if event.get("saved") is False else words


def drift_words(drift: float | None) -> str:
    """Return the drift of the anchor cell since the start."""
    return "" if drift is None else f"{'+' if drift >= 0 else '-'}{percent(abs(drift))}"
