"""A run that was started elsewhere, followed by its journal and its lock alone."""

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
    """Looks four times a second; costs a stat where nothing happened, and changes nothing."""

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
        """The run's."""
        return self._directory.id

    @property
    def directory(self) -> RunDirectory:
        """Where it keeps its things."""
        return self._directory

    @property
    def begun(self) -> bool:
        """Whether what the journal says is about the run that is watched: it always is."""
        return True

    def events(self) -> Iterator[list[Event]]:
        """All from the beginning, then what happens, until the run has ended."""
        while True:
            # In this order: what was written before the lock was free is read after it.
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
        """The result as the journal has it; TuibenchError where there is none."""
        error = end_error(self.replay)
        if error is not None:
            raise error
        if not self.replay.start or not self.replay.planned:
            raise TuibenchError(f"run {self.id[-4:].lower()} ended before there was a plan")
        return self.replay.result()
