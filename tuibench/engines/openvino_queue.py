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
        self._queue.set_callback(self._stamp_copied(ends) if self._copies else self._stamp(ends))
        wait_for_idle, submit, inputs, clock = (
            self._queue.get_idle_request_id,
            self._submit,
            self._inputs,
            perf_counter_ns,
        )
        position, samples = self._position, len(self._inputs)
        most, count = min(len(starts), len(ends)), 0
        try:
            while count < most:
                # Raises what went wrong in an earlier inference or callback.
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
        return count

    def close(self) -> None:
        """Give the requests back."""
        self._queue = self._submit = None
        self._inputs = ()

    @staticmethod
    def _stamp(ends: Any) -> Callable[[Any, int], None]:
        clock = perf_counter_ns

        def stamp(_: Any, index: int) -> None:
            ends[index] = clock()

        return stamp

    @staticmethod
    def _stamp_copied(ends: Any) -> Callable[[Any, int], None]:
        clock = perf_counter_ns

        def stamp(request: Any, index: int) -> None:
            for tensor in request.output_tensors:
                tensor.data.copy()
            ends[index] = clock()

        return stamp
