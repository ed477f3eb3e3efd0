"""Follows runs by their journals and locks, for whoever watches or lists them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tuibench.core.activity import RunInfo
from tuibench.core.errors import StoreDamaged, StoreError, StoreNewer, TuibenchError
from tuibench.core.ids import short_id
from tuibench.core.reason import RUNNER_DIED, Reason, error_text
from tuibench.core.result import RunResult
from tuibench.runs.directory import RunDirectory
from tuibench.runs.journal import NAME, NONSENSE, Follower, History, decode_event, open_regular, read_history
from tuibench.runs.replay import Replay, replay
from tuibench.runs.state import StateContext, ended_info, judged_info, unbegun_info, unreadable_info

Event = dict[str, Any]

_LOOK_S = 0.25
_TAIL_BYTES = 1 << 14


def ignore_event(_: Event) -> None:
    """Do nothing with an event."""


class RunObserver:
    """One run, followed by its journal and lock; a poll reads only what is new."""

    def __init__(self, run_dir: Path, *, counts_only: bool = False) -> None:
        """With `counts_only` count executions instead of keeping them."""
        self.directory = RunDirectory(run_dir)
        self.replay = Replay(counts_only=counts_only)
        self.alive = True
        """True if a runner held the lock at the last poll."""
        self._follower = Follower(run_dir)
        self._request: Mapping[str, Any] = {}
        self._broken: StoreError | None = None
        """The error that made the journal unusable; every later poll raises it again."""

    @property
    def id(self) -> str:
        """The run's id."""
        return self.directory.id

    @property
    def run_dir(self) -> Path:
        """The run's directory."""
        return self.directory.path

    @property
    def request(self) -> Mapping[str, Any]:
        """The run's request, read once; raise StoreError if it cannot be read."""
        if not self._request:
            self._request = self.directory.request()
        return self._request

    @property
    def begun(self) -> bool:
        """True if the journal's events belong to the followed run."""
        return True

    def poll(self, each: Callable[[Event], None] = ignore_event) -> list[Event]:
        """Test the lock, then read as `read` does."""
        # Test the lock first: a journal read after the lock is free is complete.
        self.alive = self.directory.is_held()
        return self.read(each)

    def read(self, each: Callable[[Event], None] = ignore_event) -> list[Event]:
        """Apply and return the new events; raise StoreError, now and later, if they are damaged.

        Call `each` after an event is applied and before the next one is.
        """
        if self._broken is not None:
            raise self._broken.with_traceback(None)
        events = self._follower.read()
        self.replay.damaged = self._follower.missing
        try:
            if _lacks_head(self.replay, events):
                self.replay.take(make_head(self.request))
            for event in events:
                self.replay.take(event)
                each(event)
        except StoreError as error:
            self._broken = error
            raise
        return events

    def events(self, pause: Callable[[float], None] = time.sleep) -> Iterator[list[Event]]:
        """Yield all events from the beginning, then new ones four times a second, until the run has ended."""
        while True:
            events = self.poll()
            yield events
            if not self.alive:
                break
            if not events:
                pause(_LOOK_S)
        self.note_end(Reason(RUNNER_DIED))

    def note_end(self, reason: Reason) -> None:
        """Set an end if the journal has none; only the runner writes the journal itself."""
        if not self.replay.end and self.replay.start:
            self.replay.end = {"status": "interrupted", "reason": reason}

    @property
    def error(self) -> TuibenchError | None:
        """Return the error of a run that could not be planned or resumed; None if there is none."""
        problem = self.replay.end.get("error")
        if problem is None:
            return None
        error = TuibenchError(str(problem["message"]), str(problem.get("hint") or ""))
        error.exit_code = type(error.exit_code)(int(problem["exit_code"]))
        return error

    def result(self) -> RunResult:
        """Return the result from the journal; raise TuibenchError if there is none."""
        if self.error is not None:
            raise self.error
        if not self.replay.start or not self.replay.planned:
            raise TuibenchError(f"run {short_id(self.id)} ended before there was a plan")
        return self.replay.result()

    def info(self, context: StateContext) -> RunInfo:
        """Poll and return the run's state; report damage in the state instead of raising."""
        held = self.alive = self.directory.is_held()
        try:
            request = self.request
            if not (self.run_dir / NAME).exists():
                return unbegun_info(self.directory, held)
            # First and last event are enough of an ended run, to keep lists cheap.
            ends = None if held or self.replay.events else read_ends(self.run_dir)
            if ends is not None:
                return ended_info(self.directory, request, context, *ends)
            self.read()
            if not self.replay.start:
                return unbegun_info(self.directory, held)
            return judged_info(self.directory, request, self.replay, context, held=held)
        except StoreError as error:
            damaged = isinstance(error, (StoreNewer, StoreDamaged))
            return unreadable_info(self.directory, held, error_text(error.message), begins=not damaged)
        except NONSENSE:
            return unreadable_info(self.directory, held, Reason("journal_nonsense"))


def read_state(run: RunDirectory, context: StateContext) -> RunInfo:
    """Return the run's current state; report damage in the state instead of raising."""
    return RunObserver(run.path).info(context)


def states_of(runs: Sequence[RunDirectory], context: StateContext) -> tuple[RunInfo, ...]:
    """Return the state of each run, in the given order."""
    return tuple(read_state(run, context) for run in runs)


def read_replay(run: RunDirectory) -> tuple[Replay, History]:
    """Replay a journal; raise StoreError if it is unreadable, StoreDamaged if an event is invalid."""
    history = read_history(run.path)
    state = Replay()
    state.damaged = history.missing
    if history.damaged and not any(event["ev"] == "run_start" for event in history.events):
        state.take(make_head(run.request()))
    return replay(history.events, state), history


def read_ends(run_dir: Path) -> tuple[Event, Event] | None:
    """Return the first and last event of an ended run, or None if the last one is no end with counts."""
    try:
        with os.fdopen(open_regular(run_dir / NAME), "rb") as handle:
            first = decode_event(handle.readline())
            size = handle.seek(0, os.SEEK_END)
            handle.seek(max(0, size - _TAIL_BYTES))
            last = decode_event(handle.read().rstrip(b"\n").rpartition(b"\n")[2])
    except OSError:
        return None
    whole = first is not None and last is not None and first["ev"] == "run_start" and last["ev"] == "run_end"
    return (first, last) if first and last and whole and "executions" in last else None


def make_head(request: Mapping[str, Any]) -> Event:
    """Rebuild a run's first event from its request, without the runner's own data: machine, versions and time."""
    return {
        "ev": "run_start",
        "seq": 0,
        "t_ns": 0,
        "run": request["id"],
        "spec": request["spec"],
        "host_id": request.get("host_id", ""),
    }


def _lacks_head(state: Replay, events: Sequence[Event]) -> bool:
    """Return whether the first event of a journal was lost to damage."""
    return bool(state.damaged) and not state.start and not any(e["ev"] == "run_start" for e in events)
