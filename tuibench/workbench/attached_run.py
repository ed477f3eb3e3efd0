"""Follows a run started elsewhere, by its journal and lock alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from tuibench.core.errors import TuibenchError
from tuibench.core.run import RunResult
from tuibench.runs.directory import RunDirectory
from tuibench.runs.journal import Follower
from tuibench.runs.past import head_of, is_headless
from tuibench.runs.replay import Replay
from tuibench.workbench.watched_run import Event, end_error

_LOOK_S = 0.25


class AttachedRun:
    """Polls four times a second; an idle poll costs one stat and writes nothing."""

    def __init__(self, directory: RunDirectory, pause: Callable[[float], None] = time.sleep) -> None:
        self.run_dir = directory.path
        self.replay = Replay()
        if is_headless(directory):
            self.replay.take(head_of(directory.request()))
        self._directory = directory
        self._follower = Follower(directory.path)
        self._pause = pause

    @property
    def id(self) -> str:
        """The run's id."""
        return self._directory.id

    @property
    def directory(self) -> RunDirectory:
        """The run's directory."""
        return self._directory

    @property
    def begun(self) -> bool:
        """True: the journal always belongs to the followed run."""
        return True

    def events(self) -> Iterator[list[Event]]:
        """Yield all events from the beginning, then new ones, until the run has ended."""
        while True:
            # Test the lock first: a journal read after the lock is free is complete.
            alive = self._directory.is_held()
            events = self._follower.read()
            self.replay.damaged = self._follower.damaged
            for event in events:
                self.replay.take(event)
            yield events
            if not alive:
                break
            if not events:
                self._pause(_LOOK_S)
        if not self.replay.end and self.replay.start:
            self.replay.end = {"status": "interrupted", "reason": "its runner died"}

    def result(self) -> RunResult:
        """Return the result from the journal; raise TuibenchError if there is none."""
        error = end_error(self.replay)
        if error is not None:
            raise error
        if not self.replay.start or not self.replay.planned:
            raise TuibenchError(f"run {self.id[-4:].lower()} ended before there was a plan")
        return self.replay.result()
