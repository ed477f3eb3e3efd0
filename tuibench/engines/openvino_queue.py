"""OpenVINO's own asynchronous queue, with a stamp at each submission and each completion."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter_ns
from typing import Any

_LOOK_S = 0.001
_CALM_LOOKS = 2
_MOST_LOOKS = 1000


class OpenVinoQueue:
    """Queue that passes the samples in turn to one request per stream."""

    def __init__(self, queue: Any, submit: Callable[[Any, int], object], inputs: Sequence[Any], copies: bool) -> None:
        self._queue: Any = queue
        self._submit: Any = submit
        self._inputs = inputs
        self._copies = copies
        self._position = 0

    def run(self, until_ns: int, starts: Any, ends: Any) -> int:
        """Run every stream until `until_ns` or until the arrays are full, then drain; return the number of requests."""
        errors: list[BaseException] = []
        self._queue.set_callback(_make_stamp(ends, errors, self._copies))
        wait_for_idle, submit, clock = self._queue.get_idle_request_id, self._submit, perf_counter_ns
        inputs, samples, position = self._inputs, len(self._inputs), self._position
        most, count = min(len(starts), len(ends)), 0
        try:
            while count < most and not errors:
                # Raises the error of an earlier inference.
                wait_for_idle()
                now = clock()
                if now >= until_ns:
                    break
                starts[count] = now
                submit(inputs[position % samples], count)
                position += 1
                count += 1
        finally:
            self._position = position % samples
            # Also after an error: a request still running would write into arrays that the caller reuses.
            self._queue.wait_all()
        if errors:
            raise errors[0]
        return count

    def close(self) -> None:
        """Release the requests, once no engine thread uses one."""
        if self._queue is not None:
            _wait_for_quiet()
        self._queue = self._submit = None
        self._inputs = ()


def _wait_for_quiet() -> None:
    """Wait until all other threads of the process sleep.

    This avoids a deadlock: the last stream with a request needs the interpreter's lock to free its callback, while
    freeing the model joins that stream with the lock held. A thread that sleeps at two checks, with the lock free in
    between, no longer needs the lock.
    """
    own = threading.get_native_id()
    calm = 0
    for _ in range(_MOST_LOOKS):
        time.sleep(_LOOK_S)
        states = [_state(task) for task in Path("/proc/self/task").iterdir() if task.name != str(own)]
        calm = calm + 1 if all(state in ("S", "") for state in states) else 0
        if calm == _CALM_LOOKS:
            return


def _state(task: Path) -> str:
    """Return the kernel's state letter, or '' if the thread has just ended."""
    try:
        return (task / "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def _make_stamp(ends: Any, errors: list[BaseException], copies: bool) -> Callable[[Any, int], None]:
    """Return the callback of one run: copies outputs if the I/O class requires it, then takes the stamp."""
    clock = perf_counter_ns

    def stamp(request: Any, index: int) -> None:
        try:
            if copies:
                for tensor in request.output_tensors:
                    tensor.data.copy()
            ends[index] = clock()
        except BaseException as error:  # an error that leaves a callback ends the process; `run` raises it instead
            errors.append(error)

    return stamp
