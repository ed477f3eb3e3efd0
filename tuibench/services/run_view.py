"""One run watched by a screen: each poll reads new events and rebuilds only what they change."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tuibench.core.activity import AHEAD, DONE, LOST, NOW, Live, Making, RunInfo, RunView
from tuibench.core.cell import CellResult, Noise
from tuibench.core.errors import ExitCode, StoreError
from tuibench.core.label import name_cell, varying_axes
from tuibench.core.profile import LAYERS, name_part
from tuibench.core.reason import RUNNER_DIED, Reason, error_text
from tuibench.core.record import from_plain
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.text import show
from tuibench.present.preamble import preamble_lines
from tuibench.present.progress import RunLog, cell_line, phase_words
from tuibench.present.reason import read_reason
from tuibench.runs.directory import LOG, RunDirectory
from tuibench.runs.journal import NONSENSE, open_regular
from tuibench.runs.observer import Event, RunObserver, StateContext, judged_info
from tuibench.runs.profile.parts import list_parts
from tuibench.runs.replay import Replay, all_warnings, display_names
from tuibench.services.forecast import limit_s, preamble_of
from tuibench.stats.grading import waiting_share
from tuibench.stats.interval import LEAST, half_width


def making_of(replay: Replay, latest: Mapping[str, Any]) -> Making | None:
    """Return the progress from the journal and its latest event, which is empty after the end; None for a benchmark."""
    asked = replay.spec.profile
    if asked is None:
        return None
    parts, stage, done = replay.parts, str(latest.get("stage") or ""), int(latest.get("done") or 0)
    at = name_part(stage, done + 1 if stage == LAYERS else 0)

    def state(name: str) -> str:
        if name in parts.failures:
            return LOST
        return DONE if name in parts.done else NOW if name == at else AHEAD

    pairs = tuple((name, state(name)) for name in list_parts(asked))
    return Making(read_reason(latest.get("activity")), stage, done, int(latest.get("of") or 0), pairs)


_MOST_LINES = 2000
_MOST_SHARES = 60
_WHOLE = ("plan", "sitting", "run_end")
"""Events that may change every cell."""


class RunWatch:
    """Watches a run of this machine; `context` supplies the facts that only the store has."""

    def __init__(
        self,
        directory: RunDirectory,
        context: Callable[[], StateContext],
        project: str = "",
        clock: Callable[[float], time.struct_time] = time.localtime,
    ) -> None:
        self._run = RunObserver(directory.path)
        self._replay = self._run.replay
        self._context = context
        self._project = project
        self._local = clock
        self._log: deque[str] = deque(maxlen=_MOST_LINES)
        self._words = RunLog(self._line, self._name)
        self._shares: deque[float | None] = deque(maxlen=_MOST_SHARES)
        self._at: Event = {}
        """The start event of the current execution."""
        self._changed: set[str] = set()
        self._cells: dict[str, CellResult] = {}
        self._halves: dict[str, tuple[float, ...]] = {}
        self._names: dict[str, str] = {}
        self._axes: tuple[str, ...] = ()
        self._began: tuple[float, int] = (0.0, 0)
        """Start time in seconds since 1970, and the journal's clock at that time."""
        self._view: RunView | None = None

    def look(self) -> RunView:
        """Return the view, the same object if nothing changed; raise StoreError if the journal is inconsistent."""
        before = self._run.alive, self._replay.damaged
        try:
            events = self._run.poll(self._take)
            if self._view is not None and not events and before == (self._run.alive, self._replay.damaged):
                return self._view
            self._view = self._make()
        except NONSENSE as error:
            # Each line is valid, but the events contradict each other: another version wrote them.
            why = error_text(f"{type(error).__name__} {error}")
            self._run.broken = StoreError("events_inconsistent", run=self._run.id, why=why)
            raise self._run.broken from error
        return self._view

    def close(self) -> None:
        """Do nothing: no resource is open between polls."""

    def _take(self, event: Event) -> None:
        kind = str(event["ev"])
        if kind in ("run_start", "sitting"):
            self._began = _epoch(str(event.get("started_utc", ""))), int(event["t_ns"])
            self._at = {}
        elif kind == "plan":
            self._names = display_names(self._replay)
            self._axes = varying_axes(cell.asked for cell in self._replay.cells)
        if kind in _WHOLE:
            self._changed |= self._replay.tracks.keys()
        elif kind == "extended":
            self._changed |= set(event["cells"])
        if event.get("cell") is not None and event["cell"] not in self._replay.tracks:
            return  # damage lost its plan
        if event.get("cell") is not None and kind in ("execution_done", "execution_failed", "cell_done", "warning"):
            self._changed.add(str(event["cell"]))
        if kind == "execution_start":
            self._at = event
        elif kind == "execution_done":
            noise = event["result"].get("noise")
            self._shares.append(waiting_share([from_plain(Noise, noise)]) if noise else None)
        lines = preamble_lines(preamble_of(self._replay)) if kind == "plan" else [self._words.words(event)]
        self._log.extend(f"{self._time_of(event)}  {words}" for words in lines if words)

    def _make(self) -> RunView:
        replay = self._replay
        if not replay.start:
            return self._unbegun()
        # After its last event a runner still cleans up; it counts as alive until it releases its lock.
        ended = not self._run.alive
        if ended and not replay.end:
            self._run.note_end(Reason(RUNNER_DIED))
            self._changed |= replay.tracks.keys()
        for key in self._changed & replay.tracks.keys():
            # Percentiles over all iterations are the main cost of watching, so compute them only after the end.
            self._cells[key] = replay.cell(key, pooling=ended)
            self._halves[key] = _half_widths(replay.tracks[key].logs)
        self._changed.clear()
        cells = tuple(self._cells[key] for key in replay.tracks)
        ahead = sum(cell.failure is None or bool(cell.executions) for cell in cells)
        spec = replay.spec
        view = RunView(
            info=self._info(ended),
            project=self._project,
            spec=spec,
            models=replay.models,
            names=dict(self._names),
            cells=cells,
            live=None if ended else self._live(),
            executions_min=spec.effort.min_executions,
            half_widths=dict(self._halves),
            waiting_shares=tuple(self._shares),
            log=tuple(self._log),
            warnings=all_warnings(replay),
            drift=_number(replay.drift().get("drift")),
            elapsed_s=replay.seconds,
            eta_s=None if ended else _number(self._replay.latest.get("eta_s")),
            limit_s=limit_s(spec, ahead, replay.extended_s) if cells else None,
            making=making_of(replay, {} if ended else self._replay.latest),
        )
        return self._close(view) if ended else view

    def _close(self, view: RunView) -> RunView:
        """Return the view of an ended run."""
        end = self._replay.end
        error = self._run.error
        reason: Reason | None = end.get("reason")
        if error is not None:
            reason = error.reason
        return replace(
            view,
            status=str(end.get("status", "interrupted")),
            reason=reason,
            saved=bool(end.get("saved") or self._context().is_saved(self._run.id)),
            result=self._replay.result() if view.cells or self._has_profile else None,
            other_machine=int(end.get("exit_code") or 0) == ExitCode.NOT_COMPARABLE,
        )

    @property
    def _has_profile(self) -> bool:
        return self._replay.spec.profile is not None and self._replay.has_something

    def _info(self, ended: bool) -> RunInfo:
        try:
            request = self._run.request
        except StoreError:
            request = {}
        return judged_info(self._run.directory, request, self._replay, self._context(), held=not ended)

    def _unbegun(self) -> RunView:
        """Return the view of a run that has written nothing yet, or never will."""
        info, alive = self._run.info(self._context()), self._run.alive
        view = RunView(info, self._project, log=tuple(self._log))
        return view if alive else replace(view, status="interrupted", reason=info.detail, saved=False)

    def _live(self) -> Live | None:
        key = self._replay.latest.get("cell")
        if key is None or key not in self._replay.tracks or self._replay.waiting or self._replay.end:
            return None
        half = _number(self._replay.latest.get("half_width_pct"))
        track = self._replay.tracks[str(key)]
        same = self._at.get("cell") == key and int(self._at.get("n", 0)) > 0
        return Live(
            cell=str(key),
            n=int(self._at["n"]) if same else track.count,
            round=int(self._replay.latest.get("round") or 0),
            phase=phase_words(str(self._replay.latest.get("phase", ""))) if same else "anchor execution",
            p50_ms=_number(self._replay.latest.get("p50_ms")),
            half_width=None if half is None else half / 100,
            grade=self._replay.latest.get("grade"),
        )

    def _line(self, key: str) -> str:
        return cell_line(self._name(key), self._replay.cell(key))

    def _name(self, key: str) -> str:
        asked = self._replay.tracks[key].cell.asked
        return name_cell(asked, self._axes, model=self._names.get(asked.model_sha256, ""))

    def _time_of(self, event: Event) -> str:
        began, at_ns = self._began
        moment = self._local(began + (int(event["t_ns"]) - at_ns) / 1e9)
        return time.strftime("%H:%M:%S", moment)


def _half_widths(logs: list[float]) -> tuple[float, ...]:
    return tuple(half_width(logs[:number]) for number in range(LEAST, len(logs) + 1))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def _epoch(utc: str) -> float:
    try:
        moment = datetime.fromisoformat(utc)
    except ValueError:
        return 0.0
    return (moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment).timestamp()


_LOGS = "logs"
_TAIL_BYTES = 1 << 16
_MOST_FILES = 200
_MAX_CHARS = 500


def run_log(run: RunDirectory) -> tuple[str, ...]:
    """Return the ends of all logs, each under its name, the last written one at the end."""
    paths = [run.path / LOG, *_within(run.path / _LOGS)]
    dated = sorted((_changed_ns(path), path) for path in paths)
    lines: list[str] = []
    for _, path in dated[-_MOST_FILES:]:
        said = _tail(path)
        if said:
            lines += [f"{show(path.name, 80)}:", *(f"  {show(line, _MAX_CHARS)}" for line in said)]
    return tuple(lines)


def run_spec(run: RunDirectory) -> BenchmarkSpec:
    """Return the specification of a run; raise StoreError if it cannot be read."""
    return from_plain(BenchmarkSpec, run.request()["spec"])


def _within(folder: Path) -> list[Path]:
    try:
        return [folder / name for name in os.listdir(folder)]
    except OSError:
        return []  # the run ended before it had logs


def _changed_ns(path: Path) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0


def _tail(path: Path) -> list[str]:
    """Return the last lines of a file; none if it is missing or no regular file."""
    try:
        with os.fdopen(open_regular(path), "rb") as handle:
            end = handle.seek(0, os.SEEK_END)
            handle.seek(max(0, end - _TAIL_BYTES))
            data = handle.read()
    except (OSError, StoreError):
        return []
    lines = data.decode("utf-8", "backslashreplace").splitlines()
    return lines[1:] if end > _TAIL_BYTES else lines
