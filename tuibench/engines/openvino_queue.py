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
    """Feeds the samples in turn to as many requests as there are streams."""

    def __init__(self, queue: Any, submit: Callable[[Any, int], object], inputs: Sequence[Any], copies: bool) -> None:
        self._queue: Any = queue
        self._submit: Any = submit
        self._inputs = inputs
        self._copies = copies
        self._position = 0

    def run(self, until_ns: int, starts: Any, ends: Any) -> int:
        """Keep every stream busy until `until_ns` or the arrays are full, then drain; the count of requests."""
        errors: list[BaseException] = []
        self._queue.set_callback(_make_stamp(ends, errors, self._copies))
        wait_for_idle, submit, clock = self._queue.get_idle_request_id, self._submit, perf_counter_ns
        inputs, samples, position = self._inputs, len(self._inputs), self._position
        most, count = min(len(starts), len(ends)), 0
        try:
            while count < most and not errors:
                # Raises what went wrong in an earlier inference.
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
            # Also on the way out of an error: a request that still runs would write into arrays the caller reuses.
            self._queue.wait_all()
        if errors:
            raise errors[0]
        return count

    def close(self) -> None:
        """Give the requests back, once no thread of the engine holds one any more."""
        if self._queue is not None:
            _wait_for_quiet()
        self._queue = self._submit = None
        self._inputs = ()


def _wait_for_quiet() -> None:
    """Sleep until all other threads of the process do.

    A stream that is the last to hold a request needs the interpreter's lock to free its callback, and freeing the
    model joins that stream with the lock held: then neither would ever end. Asleep in two looks with the lock free
    between them means that none is on its way there.
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
    """One letter of the kernel's, or nothing where the thread has just ended."""
    try:
        return (task / "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def _make_stamp(ends: Any, errors: list[BaseException], copies: bool) -> Callable[[Any, int], None]:
    """The callback of one run: outputs copied where the I/O class says so, then the stamp."""
    clock = perf_counter_ns

    def stamp(request: Any, index: int) -> None:
        try:
            if copies:
                for tensor in request.output_tensors:
                    tensor.data.copy()
            ends[index] = clock()
        except BaseException as error:  # one that leaves a callback ends the process; the run raises it instead
            errors.append(error)

    return stamp
