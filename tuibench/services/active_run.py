"""A run that this process started, watches, and ends or detaches."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tuibench.core.errors import ExitCode, HostBusy, TuibenchError, signal_name
from tuibench.core.reason import Reason, because
from tuibench.core.result import RunResult
from tuibench.runs.directory import LOG, hold_scratch
from tuibench.runs.observer import Event, RunObserver, ignore_event
from tuibench.runs.replay import display_names
from tuibench.runs.result import ending_code, settle_samples
from tuibench.runs.task import DETACH, read_tail
from tuibench.services.detached_runner import directory_error, send_request

__all__ = ["ActiveRun", "Event", "RunObserver", "display_names", "ending_code", "settle_samples"]
"""Names that the shell needs for a run that it follows, started here or elsewhere."""

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LOOK_S = 0.25
_END_S = 1.5
_SAVE_S = 15.0
"""Time for the runner to save its result before it is killed."""


class ActiveRun(RunObserver):
    """The client's side of a runner: its request pipe, its journal, its end."""

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
        super().__init__(run_dir)
        self.kept = kept
        """True if the run's directory outlives this process and its result goes to the store."""
        self.detached = False
        self._process = process
        self._log = log
        self._resumed = resumed
        self._first_seq = first_seq
        self._held: int | None = None
        """Lock of a temporary directory."""
        self._lifeline, self._done = process.stdin, process.stdout
        send_request(self._lifeline, request)

    @property
    def done_fd(self) -> int:
        """A file descriptor that is readable once the run has ended."""
        return self._done.fileno()

    def events(self, pause: Callable[[float], None] = time.sleep) -> Iterator[list[Event]]:
        """Yield new events, at most four times a second, until the run has ended or is detached."""
        ended = False
        while not ended and not self.detached:
            ended = self._wait(_LOOK_S)
            yield self.read()
        if not self.detached:
            self._require_own()
            self._note_break()

    @property
    def begun(self) -> bool:
        """True if the journal's events come from the runner started here."""
        return self.replay.pid == self._process.pid

    def _require_own(self) -> None:
        """Raise HostBusy if another runner resumed the run first; its journal is not ours to report."""
        if not self.begun and self._process.wait() == ExitCode.BUSY:
            raise HostBusy("runner_exists", run=self.id)

    def detach(self) -> None:
        """Detach the run, unless it has ended meanwhile."""
        if self._wait(0):
            return
        try:
            self._lifeline.write(DETACH)
        except BrokenPipeError:
            return
        # A runner that ends right now may not have read the request.
        self.detached = not self._wait(0)

    def cancel(self) -> None:
        """End the run now; its measurements stay in the journal and go to the store."""
        if not self._wait(0):
            self._process.terminate()
            if not self._wait(_SAVE_S if self.kept else _END_S):
                self._process.kill()
        self.read()
        self._note_break()

    def _wait(self, seconds: float) -> bool:
        """Return whether the runner, alive or dead, has closed its pipe, so that the journal is complete."""
        poll = select.poll()
        poll.register(self._done, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def read(self, each: Callable[[Event], None] = ignore_event) -> list[Event]:
        """Apply and return the new events of this session."""
        if not self.kept and self._held is None:
            # The runner may be killed: keep the directory until its measurements are shown.
            self._held = hold_scratch(self.run_dir)
        # A signal that ends this command in the middle would lose what was read.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
        try:
            return [event for event in super().read(each) if int(event["seq"]) >= self._first_seq]
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _note_break(self) -> None:
        """Set an end if the journal has none; only the runner writes the journal itself."""
        if not self.replay.end and self.replay.start:
            self.note_end(self._how_it_ended())
            if self._process.wait() == ExitCode.STORE:
                self.replay.end["exit_code"] = int(ExitCode.STORE)

    def _how_it_ended(self) -> Reason:
        code = self._process.wait()
        if code < 0:
            return because("runner_killed", signal=signal_name(-code))
        tail = self._last_line()
        return because("runner_exited", exit_code=code, output=tail)

    def _last_line(self) -> str | None:
        return read_tail(f"/proc/self/fd/{self._log}") or read_tail(str(self.run_dir / LOG))

    def result(self) -> RunResult:
        """Return the result from the journal; raise TuibenchError if the run was not even planned."""
        if self.error is not None:
            raise self.error
        if not self.replay.planned and self.replay.end.get("status", "interrupted") == "interrupted":
            code = self._process.wait()
            if code == ExitCode.STORE:
                raise directory_error(str(self.run_dir.parent), self._last_line())
            raise TuibenchError("ended_unplanned", run=self.id, why=self._how_it_ended())
        if not self.replay.start:
            raise TuibenchError("no_event_to_save", run=self.id)
        return self.replay.result()

    def close(self) -> None:
        """Remove the directory of a run that is not kept; leave a detached run alone."""
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
            # This process will not wait for it: init inherits it.
            self._process.returncode = 0
        self._done.close()
        os.close(self._log)
        if not self.detached and not self._worth_keeping():
            shutil.rmtree(self.run_dir, ignore_errors=True)
        if self._held is not None:
            os.close(self._held)

    def _worth_keeping(self) -> bool:
        """Return False for a new run that failed before its first measurement; the failure is already reported."""
        if not self.kept:
            return False
        if self._resumed or self.directory.is_held():
            # It existed before, or another runner has it now.
            return True
        return self.replay.has_something or "saved" in self.replay.end
