"""Control requests to a live run: a file contains the request, and a signal makes the runner read it at once."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from tuibench.core import activity
from tuibench.core.activity import RunInfo
from tuibench.core.errors import TuibenchError, UsageError, WriteError
from tuibench.core.record import from_plain
from tuibench.core.spec import BenchmarkSpec
from tuibench.host.system import start_ticks
from tuibench.runs.control import MAX_S, ControlRequests
from tuibench.runs.directory import RunDirectory
from tuibench.runs.observer import read_ends
from tuibench.runs.task import KNOCK

_CANCEL_S = 20.0
_CANCEL_LOOK_S = 0.05
# SIGCONT wakes a stopped process so that it receives SIGTERM.
_END = (signal.SIGTERM, signal.SIGCONT)


def cancel(directory: RunDirectory, info: RunInfo) -> None:
    """End a run and wait for its end; on another machine, only write the request."""
    if info.state != activity.ELSEWHERE:
        _require_alive(info, "cancel")
    with _reaching(info):
        directory.ask_to_cancel()
    if info.state == activity.ELSEWHERE:
        return
    if info.pid is not None and directory.is_held():
        try:
            _signal(info.pid, info.pid_start, _END)
        except PermissionError as error:
            raise UsageError("process_of_other_user", pid=info.pid) from error
    deadline = time.monotonic() + _CANCEL_S
    while directory.is_held():
        if time.monotonic() > deadline:
            raise TuibenchError("run_ends_slowly", run=info.id)
        time.sleep(_CANCEL_LOOK_S)


def finish(directory: RunDirectory, info: RunInfo) -> None:
    """Request the end of a run after the current execution, of a profile once it can be shown."""
    if info.state == activity.WAITING:
        raise UsageError("run_queued", run=info.id)
    if info.state != activity.ELSEWHERE:
        _require_alive(info, "finish")
    requests = ControlRequests(directory.path)
    with _reaching(info):
        requests.ask_to_finish()
    _knock(directory, info)
    if info.state != activity.ELSEWHERE and not directory.is_held():
        requests.forget_finish()
        if not _is_finished(directory):
            raise UsageError("ended_before_finish", run=info.id)


def extend(directory: RunDirectory, info: RunInfo, ticket: str, more_s: float | None) -> None:
    """Request more time per cell; None repeats each cell's original time."""
    requests = ControlRequests(directory.path)
    if info.state != activity.ELSEWHERE:
        _require_alive(info, "extend")
    spec = from_plain(BenchmarkSpec, directory.request()["spec"])
    if spec.profile is not None:
        raise UsageError("profile_without_target", run=info.id)
    effort = spec.effort
    if effort.target is None:
        raise UsageError("run_without_target", run=info.id)
    wanted_s = effort.limit_s if more_s is None else more_s
    if not 0 < wanted_s <= MAX_S:
        raise UsageError("more_time_out_of_range", subject="--by", given=wanted_s, most_s=MAX_S)
    if requests.finish_asked:
        raise UsageError("run_finishing", run=info.id)
    with _reaching(info):
        requests.ask_for_time(ticket, wanted_s)
    _knock(directory, info)
    if info.state != activity.ELSEWHERE and not directory.is_held():
        requests.withdraw(ticket)
        raise UsageError("ended_before_more", run=info.id)


def _is_finished(directory: RunDirectory) -> bool:
    """Return whether the run has ended as finished, by itself or on request."""
    ends = read_ends(directory.path)
    return ends is not None and ends[1].get("status") == "finished"


def _require_alive(info: RunInfo, asked: str) -> None:
    if info.state not in activity.ALIVE:
        raise UsageError("run_in_state", run=info.id, state=info.state, asked=asked, resumable=info.resumable)


@contextmanager
def _reaching(info: RunInfo) -> Iterator[None]:
    """Turn errors of writing a request into errors about the run."""
    try:
        yield
    except PermissionError as error:
        raise UsageError("run_of_other_user", run=info.id) from error
    except OSError as error:
        raise WriteError("run_unreachable", run=info.id, text=error.strerror or str(error)) from error


def _knock(directory: RunDirectory, info: RunInfo) -> None:
    """Signal the runner to poll now; without the signal it polls within seconds."""
    if info.state != activity.ELSEWHERE and info.pid is not None and directory.is_held():
        with suppress(PermissionError):
            _signal(info.pid, info.pid_start, (KNOCK,))


def _signal(pid: int, started: int | None, numbers: Sequence[int]) -> None:
    """Send signals to exactly this process: the kernel reuses pids."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return  # it has just ended by itself
    try:
        if start_ticks(pid) == started:
            for number in numbers:
                signal.pidfd_send_signal(handle, number)
    except ProcessLookupError:
        return  # ended meanwhile
    finally:
        os.close(handle)
