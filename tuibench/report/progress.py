"""The progress line, a pure function of one snapshot, and a painter that hardly disturbs the measurement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

from tuibench.core.text import show
from tuibench.core.units import ms, percent, seconds
from tuibench.report.style import fit, to_ascii, width_of

WIDTH = 79
PAINT_EVERY_S = 1.0
"""1 Hz, so that repainting does not disturb a measurement on the same machine."""
SPEAK_EVERY_S = 30.0


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
    estimate = "" if snapshot.p50_ms is None else ms(snapshot.p50_ms)
    if estimate and snapshot.half_width is not None:
        estimate += f" ±{percent(snapshot.half_width)}"
    grade = show(snapshot.grade, 4) if snapshot.grade else ""
    eta = "" if snapshot.eta_s is None else f"{seconds(max(snapshot.eta_s, 0.0))} left"
    label, activity = show(snapshot.label, 60), show(snapshot.activity, 60)
    if not any((place, label, estimate, grade, eta)):
        return fit(show(snapshot.activity, 500), width)
    for parts in ((place, label, estimate, grade, eta, activity), (place, label, estimate, grade, eta)):
        line = " · ".join(filter(None, parts))
        if width_of(line) <= width:
            return line
    # Cut the name rather than the numbers.
    numbers = " · ".join(filter(None, (place, estimate, grade, eta)))
    room = width - width_of(numbers) - 3
    return f"{numbers} · {fit(label, room)}" if label and room >= 8 else fit(numbers, width)


class ProgressPainter:
    """Writes progress to stderr: repainted in place on a terminal, elsewhere as occasional whole lines."""

    def __init__(self, stream: TextIO, clock: Callable[[], float], in_place: bool, ascii_only: bool = False) -> None:
        self._stream = stream
        self._clock = clock
        self._in_place = in_place
        self._ascii_only = ascii_only
        self._spoken_at = clock()
        self._painted_at: float | None = None
        self._shown = ""
        self._gone = False

    def update(self, snapshot: Snapshot) -> None:
        """Show a snapshot if it is time; cheap enough to call at every event."""
        now = self._clock()
        if not self._in_place:
            if now - self._spoken_at >= SPEAK_EVERY_S:
                self._speak(progress_line(snapshot), now)
            return
        if self._painted_at is not None and now - self._painted_at < PAINT_EVERY_S:
            return
        self._painted_at = now
        line = self._encode(progress_line(snapshot))
        if line != self._shown:
            # Blanks overwrite a longer old line: unlike escape codes, every terminal supports them.
            self.write(f"\r{line}{' ' * (width_of(self._shown) - width_of(line))}")
            self._shown = line

    def say(self, text: str) -> None:
        """Print a permanent line, for a finished cell or a warning."""
        self.clear()
        self._speak(show(text, 500), self._clock())

    def cell_done(self, text: str) -> None:
        """Report a finished cell if there is no terminal; on a terminal the repainted line is enough."""
        if not self._in_place:
            self._speak(show(text, 500), self._clock())

    def clear(self) -> None:
        """Erase the line before results or errors are printed."""
        if self._shown:
            self.write(f"\r{' ' * width_of(self._shown)}\r")
            self._shown = ""
            self._painted_at = None

    def _speak(self, line: str, now: float) -> None:
        self.write(self._encode(line) + "\n")
        self._spoken_at = now

    def _encode(self, line: str) -> str:
        # ASCII replacements such as +- are longer than the original.
        return to_ascii(line)[: WIDTH if self._in_place else None] if self._ascii_only else line

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
