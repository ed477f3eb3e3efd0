"""OpenVINO's own asynchronous queue, with a stamp at each submission and each completion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any


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
        """Give the requests back."""
        self._queue = self._submit = None
        self._inputs = ()


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
