"""Output on stderr during a benchmark: the preamble, a progress line, and one line per finished cell."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, TypeVar

from tuibench.cli.output import progress_painter, width
from tuibench.cli.terminal import Interruption
from tuibench.core.cell import Asked
from tuibench.core.label import name_cell, varying_axes
from tuibench.present.preamble import DryRun, preamble_text
from tuibench.present.profile.page import left_line, time_lines
from tuibench.present.progress import RunLog, Snapshot, cell_line, phase_words
from tuibench.present.reason import read_words, reason_words
from tuibench.present.run_list import waiting_words
from tuibench.services.active_run import Event, RunObserver, display_names
from tuibench.services.forecast import expected_memory, expected_s, first_round, limit_s, preamble_of

if TYPE_CHECKING:  # types only: benchmarks do not need them
    from tuibench.services.profiles import ProfilePlan

Watched = TypeVar("Watched", bound=RunObserver)


_SAID = frozenset({"granted", "warning", "finish_asked", "extended"})
"""Events with a permanent line of their own, as in the log."""


class View(Generic[Watched]):
    """Shows the progress of a run on stderr."""

    def __init__(
        self,
        active: Watched,
        notes: tuple[str, ...] = (),
        *,
        quiet: bool = False,
        ascii_only: bool = False,
        plan: Callable[[Watched], ProfilePlan] | None = None,
    ) -> None:
        """`plan` estimates the time of a profile."""
        self._plan = plan
        self._is_timed = False
        self._quiet = quiet
        self._ascii = ascii_only
        self._notes = notes
        self.active = active
        self._done: set[str] = set()
        self._names: dict[str, str] = {}
        self._axes: tuple[str, ...] = ()
        self._waiting = False
        self._snapshot = Snapshot(0, 0, activity="starting")
        self._log = RunLog(self._cell_line, lambda key: self._name(self.active.replay.cell(key).asked))
        self.painter = progress_painter(ascii_only)

    def watch(self, interruption: Interruption, answer: Callable[[], None] | None = None) -> None:
        """Follow the run to its end; call `answer` after an interruption that only opens a question."""
        for events in self.active.events():
            interruption.check()
            for event in events if not self._quiet else ():
                self._take(event)
            if not self._quiet:
                self.painter.update(self._snapshot)
            if interruption.asked and answer is not None:
                self.painter.clear()
                answer()
                interruption.answered()
        self.painter.clear()
        if (damage := self.active.replay.damage) is not None and not self._quiet:
            self.painter.say(f"tuibench: {reason_words(damage)}")

    def watch_until(self, interruption: Interruption, tells: Callable[[Event], bool]) -> None:
        """Follow the run until the first event for which `tells` is true, or to its end."""
        for events in self.active.events():
            interruption.check()
            for event in events:
                if not self._quiet:
                    self._take(event)
            # A run that has ended needs no detaching.
            if self.active.begun and not self.active.replay.end and any(map(tells, events)):
                return

    def plan(self) -> DryRun:
        """Return the plan for --dry-run."""
        replay = self.active.replay
        spec, cells, memory = replay.spec, first_round(replay), expected_memory(replay)
        return DryRun(
            spec=spec,
            cells=cells,
            expected_s=expected_s(spec, len(cells)),
            limit_s=limit_s(spec, len(cells)),
            memory_bytes={cell.key: memory[cell.key] for cell in cells},
            notes=self._notes,
            failed=tuple((c, why) for c in replay.cells if (why := replay.cell(c.key).failure)),
        )

    def _take(self, event: Event) -> None:
        kind = event["ev"]
        if event.get("cell") is not None and event["cell"] not in self.active.replay.tracks:
            return  # damage lost its plan
        if kind in ("plan", "sitting"):
            self._introduce()
        elif kind == "waiting":
            self._stand_in_line(event)
        elif kind in _SAID:
            self._done -= set(event["cells"] if kind == "extended" else ())
            if words := self._log.words(event):
                self.painter.say(words)
        elif kind == "cell_done":
            # A remeasured cell is done twice.
            self._done.add(str(event["cell"]))
            self.painter.cell_done(self._log.words(event))
        elif kind == "profile_part":
            self._say_part(event)
        elif kind == "progress":
            self._snapshot = self._progress(event)

    def _say_part(self, event: Event) -> None:
        """Print the time of a process that timed layers; after the costs, print the time estimate."""
        replay, part = self.active.replay, event["part"]
        if words := self._log.words(event):
            self.painter.cell_done(words)
        elif part == "costs":
            for line in self._time_lines(is_last=True):
                self.painter.say(line)
        elif event.get("begin") is not None and (each := event["begin"].get("ms_each")):
            left = int(event["begin"].get("points") or 0) - len(replay.parts.points)
            if left > 0:
                self.painter.say(left_line(left, float(each)))

    def _time_lines(self, *, is_last: bool = False) -> list[str]:
        """Return the estimate of a profile, once, before anything is measured; `is_last` if no later call follows."""
        replay = self.active.replay
        asked = replay.spec.profile
        if self._plan is None or asked is None or self._is_timed or replay.parts.measured:
            return []
        plan = self._plan(self.active)
        if plan.seconds is None and not is_last:
            return []
        self._is_timed = True
        return time_lines(asked, plan.seconds, plan.basis)

    def _introduce(self) -> None:
        """Print the preamble once the plan is known; a resumed run has it from the start."""
        if self.active.replay.planned and not self._names:
            self._done = {key for key, track in self.active.replay.tracks.items() if not track.live}
            self._names = display_names(self.active.replay)
            self._log.is_profile = self.active.replay.spec.profile is not None
            self._axes = varying_axes(cell.asked for cell in self.active.replay.cells)
            self.painter.clear()
            known = preamble_of(self.active.replay, self._notes)
            known = replace(known, time=tuple(self._time_lines()))
            self.painter.write(preamble_text(known, self._ascii, width(sys.stderr)))

    def _stand_in_line(self, event: Event) -> None:
        place, words = int(event["place"]), waiting_words(event)
        if not self._waiting:
            self._waiting = True
            self.painter.say(
                f"this machine is measuring: {words}; this run is queued (--no-wait: exit, --share-host: measure now)"
            )
        self._snapshot = Snapshot(0, 0, activity=f"queued, position {place}: {words}")

    def _progress(self, event: Event) -> Snapshot:
        cells = self.active.replay.cells
        if event.get("cell") is None:
            activity, eta_s = read_words(event.get("activity")), event.get("eta_s")
            return Snapshot(len(self._done), len(cells), activity=activity, eta_s=eta_s)
        asked = next(c.asked for c in cells if c.key == event["cell"])
        phase = phase_words(str(event["phase"]))
        half = event.get("half_width_pct")
        return Snapshot(
            done=len(self._done),
            cells=len(cells),
            label=self._name(asked),
            p50_ms=event.get("p50_ms"),
            half_width=None if half is None else half / 100,
            grade=event.get("grade"),
            eta_s=event.get("eta_s"),
            activity=phase,
        )

    def _cell_line(self, key: str) -> str:
        cell = self.active.replay.cell(key)
        return cell_line(self._name(cell.asked), cell)

    def _name(self, asked: Asked) -> str:
        return name_cell(asked, self._axes, model=self._names.get(asked.model_sha256, ""))
