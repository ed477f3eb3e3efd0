"""A run that this process started, watches, and ends or lets go."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tuibench.core.errors import ExitCode, HostBusy, TuibenchError
from tuibench.core.run import RunResult
from tuibench.core.short_id import short_id
from tuibench.core.signal_name import signal_name
from tuibench.runs.directory import LOG, RunDirectory
from tuibench.runs.journal import Follower
from tuibench.runs.past import head_of, is_headless
from tuibench.runs.replay import Replay
from tuibench.runs.scratch import hold_scratch
from tuibench.runs.stopping import DETACH
from tuibench.runs.task import read_tail
from tuibench.workbench.launch import no_room, send_request
from tuibench.workbench.watched_run import Event, end_error

_LOOK_S = 0.25
_END_S = 1.5
_SAVE_S = 15.0
"""For the runner to put what it has into the store before it is killed."""


class ActiveRun:
    """The client's end of a runner: its lifeline, its journal, its end."""

    def __init__(
        self,
        run_dir: Path,
        log: int,
        process: subprocess.Popen[bytes],
        request: bytes,
        *,
        kept: bool = False,
        resumed: bool = False,
        first_seq: int = 0,
    ) -> None:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the runner has no channel")
        self.run_dir = run_dir
        self.replay = Replay()
        if resumed and is_headless(RunDirectory(run_dir)):
            self.replay.take(head_of(RunDirectory(run_dir).request()))
        self.kept = kept
        """Whether the run has a directory that outlives this process, and a place in the store."""
        self.detached = False
        self._process = process
        self._log = log
        self._resumed = resumed
        self._first_seq = first_seq
        self._follower = Follower(run_dir)
        self._held: int | None = None
        """Lock of a temporary directory."""
        self._lifeline, self._done = process.stdin, process.stdout
        send_request(self._lifeline, request)

    @property
    def id(self) -> str:
        """The run's."""
        return self.run_dir.name

    @property
    def done_fd(self) -> int:
        """Readable once the run has ended."""
        return self._done.fileno()

    def events(self) -> Iterator[list[Event]]:
        """What happened since the last look, four times a second at most, until the run has ended or was let go."""
        ended = False
        while not ended and not self.detached:
            ended = self._wait(_LOOK_S)
            yield self._read()
        if not self.detached:
            self._require_own()
            self._note_break()

    @property
    def begun(self) -> bool:
        """Whether what the journal says comes from the runner that was started here."""
        return self.replay.pid == self._process.pid

    def _require_own(self) -> None:
        """Raise HostBusy where another runner was faster to take the run up: its journal is not ours to report."""
        if not self.begun and self._process.wait() == ExitCode.BUSY:
            short = short_id(self.id)
            raise HostBusy(f"run {short} has a runner already", f"tuibench attach {short} follows it")

    def detach(self) -> None:
        """Let the run go on without this process; one that has ended meanwhile stays ours to report."""
        if self._wait(0):
            return
        try:
            self._lifeline.write(DETACH)
        except BrokenPipeError:
            return
        # A runner that ended in this instant has not read it.
        self.detached = not self._wait(0)

    def cancel(self) -> None:
        """End the run now; what was measured stays in its journal and goes to the store."""
        if not self._wait(0):
            self._process.terminate()
            if not self._wait(_SAVE_S if self.kept else _END_S):
                self._process.kill()
        self._read()
        self._note_break()

    def _wait(self, seconds: float) -> bool:
        """Whether the journal is complete: the runner, alive or dead, has closed its end."""
        poll = select.poll()
        poll.register(self._done, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def _read(self) -> list[Event]:
        if not self.kept and self._held is None:
            # Its runner may be killed: what it measured must then stay until it is shown.
            self._held = hold_scratch(self.run_dir)
        events = self._follower.read()
        self.replay.damaged = self._follower.damaged
        for event in events:
            self.replay.take(event)
        # What an earlier sitting did is no news.
        return [event for event in events if int(event["seq"]) >= self._first_seq]

    def _note_break(self) -> None:
        """Give what is known an end where the journal has none; the journal itself is its runner's alone."""
        if not self.replay.end and self.replay.start:
            self.replay.end = {"status": "interrupted", "reason": self._how_it_ended()}
            if self._process.wait() == ExitCode.STORE:
                self.replay.end["exit_code"] = int(ExitCode.STORE)

    def _how_it_ended(self) -> str:
        code = self._process.wait()
        if code < 0:
            return f"the runner died by {signal_name(-code)}"
        tail = self._last_words()
        return f"the runner ended with code {code}" + (f" ({tail})" if tail else "")

    def _last_words(self) -> str | None:
        return read_tail(f"/proc/self/fd/{self._log}") or read_tail(str(self.run_dir / LOG))

    def result(self) -> RunResult:
        """The result as the journal has it; TuibenchError where the run could not even be planned."""
        error = end_error(self.replay)
        if error is not None:
            raise error
        if not self.replay.planned and self.replay.end.get("status", "interrupted") == "interrupted":
            code = self._process.wait()
            if code == ExitCode.STORE:
                raise no_room(self.run_dir.parent, self._last_words())
            raise TuibenchError(f"{self._how_it_ended()} before there was a plan")
        if not self.replay.start:
            raise TuibenchError(f"run {short_id(self.id)} has nothing to save: no event of its journal can be read")
        return self.replay.result()

    def close(self) -> None:
        """Leave nothing behind of a run that nobody wants kept; one that was let go stays alone."""
        if not self.detached:
            self.cancel()
        self._lifeline.close()
        if not self.detached:
            try:
                self._process.wait(_END_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        else:
            # It is init's child once this process has gone, and nothing here waits for it.
            self._process.returncode = 0
        self._done.close()
        os.close(self._log)
        if not self.detached and not self._worth_keeping():
            shutil.rmtree(self.run_dir, ignore_errors=True)
        if self._held is not None:
            os.close(self._held)

    def _worth_keeping(self) -> bool:
        """A new run that failed before it measured anything, and has said so to whoever asked for it, is no news."""
        if not self.kept:
            return False
        if self._resumed or RunDirectory(self.run_dir).is_held():
            # It was there before, or is another's by now.
            return True
        return self.replay.has_something or "saved" in self.replay.end
