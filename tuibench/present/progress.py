"""Progress of a run: the log line of each event, the progress line, and its painter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TextIO

from tuibench.core.cell import CellResult, p50_latency
from tuibench.core.reason import CANCELLED_ON_REQUEST, FINISHED_ON_REQUEST
from tuibench.core.text import cut, show, to_ascii, width_of
from tuibench.core.units import count_of, ms, percent, seconds
from tuibench.present.amount import amount, with_interval
from tuibench.present.cells import failure_text
from tuibench.present.reason import extension_words, finishing_words, read_end, read_words, reason_words
from tuibench.present.run_list import waiting_words
from tuibench.present.table import wrap_lines

WIDTH = 79
PAINT_EVERY_S = 1.0
"""1 Hz, so that repainting does not disturb a measurement on the same machine."""
LOG_EVERY_S = 30.0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a run after its last event."""

    done: int
    """Number of finished cells."""
    cells: int
    label: str = ""
    """The cell being measured."""
    p50_ms: float | None = None
    half_width: float | None = None
    """Half width of the 95 % interval, as a fraction."""
    grade: str | None = None
    eta_s: float | None = None
    activity: str = ""
    """Current activity: inspecting, loading, warming up, execution 3 of 5 …"""


def progress_line(snapshot: Snapshot, width: int = WIDTH) -> str:
    """Return one line of at most `width` columns; the least important parts are dropped first."""
    place = f"{min(snapshot.done + 1, snapshot.cells)}/{snapshot.cells}" if snapshot.cells else ""
    estimate = "" if snapshot.p50_ms is None else with_interval(ms(snapshot.p50_ms), snapshot.half_width)
    grade = show(snapshot.grade, 4) if snapshot.grade else ""
    eta = "" if snapshot.eta_s is None else f"{seconds(max(snapshot.eta_s, 0.0))} left"
    label, activity = show(snapshot.label, 60), show(snapshot.activity, 60)
    if not any((place, label, estimate, grade, eta)):
        return cut(show(snapshot.activity, 500), width)
    for parts in ((place, label, estimate, grade, eta, activity), (place, label, estimate, grade, eta)):
        line = " · ".join(filter(None, parts))
        if width_of(line) <= width:
            return line
    # Cut the name rather than the numbers.
    numbers = " · ".join(filter(None, (place, estimate, grade, eta)))
    room = width - width_of(numbers) - 3
    return f"{numbers} · {cut(label, room)}" if label and room >= 8 else cut(numbers, width)


class ProgressPainter:
    """Writes progress to stderr: repainted in place on a terminal, elsewhere as occasional whole lines."""

    def __init__(
        self,
        stream: TextIO,
        clock: Callable[[], float],
        in_place: bool,
        ascii_only: bool = False,
        columns: Callable[[], int | None] = lambda: None,
    ) -> None:
        """`columns` returns the width at which permanent lines are broken between words; None for a file or a pipe."""
        self._stream = stream
        self._clock = clock
        self.in_place = in_place
        self._columns = columns
        self._ascii_only = ascii_only
        self._logged_at = clock()
        self._painted_at: float | None = None
        self._shown = ""
        self._gone = False

    def update(self, snapshot: Snapshot) -> None:
        """Show a snapshot if it is time; cheap enough to call at every event."""
        now = self._clock()
        if not self.in_place:
            if now - self._logged_at >= LOG_EVERY_S:
                self._write_line(progress_line(snapshot), now)
            return
        if self._painted_at is not None and now - self._painted_at < PAINT_EVERY_S:
            return
        self._painted_at = now
        # A line as wide as the terminal would leave a copy behind when it is repainted.
        width = min(WIDTH, (self._columns() or WIDTH + 1) - 1)
        line = self._encode(progress_line(snapshot, width))[:width]
        if line != self._shown:
            # Blanks overwrite a longer old line: unlike escape codes, every terminal supports them.
            self.write(f"\r{line}{' ' * (width_of(self._shown) - width_of(line))}")
            self._shown = line

    def say(self, text: str) -> None:
        """Print a permanent line, for a finished cell or a warning."""
        self.clear()
        self._write_line(show(text, 500), self._clock())

    def cell_done(self, text: str) -> None:
        """Report a finished cell if there is no terminal; on a terminal the repainted line is enough."""
        if not self.in_place:
            self._write_line(show(text, 500), self._clock())

    def clear(self) -> None:
        """Erase the line before results or errors are printed."""
        if self._shown:
            self.write(f"\r{' ' * width_of(self._shown)}\r")
            self._shown = ""
            self._painted_at = None

    def _write_line(self, line: str, now: float) -> None:
        self.write("\n".join(wrap_lines([self._encode(line)], self._columns())) + "\n")
        self._logged_at = now

    def _encode(self, line: str) -> str:
        return to_ascii(line) if self._ascii_only else line

    def write(self, text: str) -> None:
        """Print text as it is; after a failed write print nothing more: a closed stderr must not end a measurement."""
        if self._gone:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            self._gone = True


def can_repaint(stream: TextIO, term: str) -> bool:
    """Return whether a line can be repainted: the terminal can move its cursor."""
    return stream.isatty() and term not in ("", "dumb")


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


_MAX_LOG_CHARS = 500


def phase_words(phase: str) -> str:
    """Return the words for the phase of an execution."""
    return _PHASES.get(phase, show(phase, 40))


def cell_line(name: str, cell: CellResult) -> str:
    """Return the line of a finished cell."""
    p50 = p50_latency(cell)
    if p50.value is None:
        return f"{name}: {failure_text(cell)}"
    grade = f", grade {cell.grade.letter}" if cell.grade else ""
    return f"{name}: {amount(p50, 'ms')}{grade} ({reason_words(cell.stopped_by)})"


class RunLog:
    """Makes log lines from the events of a run, in order.

    `cell` returns the line of the cell with a key as it is now; `name` returns its name.
    """

    def __init__(self, cell: Callable[[str], str], name: Callable[[str], str]) -> None:
        self._cell = cell
        self._name = name
        self._round = 0
        self._place: object = None
        self._mark: object = None
        self.is_profile = False

    def words(self, event: Event) -> str:
        """Return the log line of an event; '' if it has none."""
        handler = getattr(self, f"_on_{event['ev']}", None)
        return show(handler(event), _MAX_LOG_CHARS) if handler is not None else ""

    def _on_run_start(self, event: Event) -> str:
        self.is_profile = bool((event.get("spec") or {}).get("profile"))
        return f"the run starts: pid {event.get('pid')}"

    def _on_sitting(self, event: Event) -> str:
        changes = [read_words(change) for change in event.get("mixed") or ()]
        return "resumed" + (f"; changed: {'; '.join(changes)}" if changes else "")

    def _on_waiting(self, event: Event) -> str:
        # The run repeats the event every ten seconds, with the new time left.
        if event["place"] == self._place:
            return ""
        self._place = event["place"]
        return f"queued, position {event['place']}: {waiting_words(event)}"

    def _on_granted(self, event: Event) -> str:
        self._place = None
        if event.get("shared"):
            return "measuring concurrently (--share-host): the numbers suffer"
        return f"waited {seconds(float(event['waited_s']))} for the machine" if float(event["waited_s"]) >= 1 else ""

    def _on_progress(self, event: Event) -> str:
        stage, activity = event.get("stage"), event.get("activity")
        # The stage "layers" is logged once per process; other stages, which report every layer, only when they begin.
        mark = (stage, event.get("done") if stage == "layers" else None) if stage else activity
        if event.get("cell") is not None or mark == self._mark:
            return ""
        self._mark = mark
        return read_words(activity)

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
        return f"finishing on request: {finishing_words(self.is_profile)}"

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
        return f"{words}; not saved: {read_words(event.get('why'))}" if event.get("saved") is False else words


def drift_words(drift: float | None) -> str:
    """Return the drift of the anchor cell since the start."""
    return "" if drift is None else f"{'+' if drift >= 0 else '-'}{percent(abs(drift))}"
