"""Every request of the queue ends once and in its place; no error in one is lost."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines import make
from tests.engines.probe import setting
from tests.engines.test_contract import probe
from tuibench.engines import openvino
from tuibench.engines.openvino_session import OpenVinoQueue, OpenVinoSession

NEVER = 1 << 62
STREAMS = min(2, len(os.sched_getaffinity(0)))


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenVinoSession]:
    """A small model on as many streams as there are CPUs, two at most."""
    engine = openvino.make()
    engine.start()
    path = make.mlp().save(tmp_path_factory.mktemp("queue"))
    loaded = engine.load(setting(path, one_at_a_time=False, streams=STREAMS, threads=STREAMS))
    assert loaded.read_back().streams == STREAMS
    yield loaded
    loaded.close()


def stamps(length: int) -> Any:
    """Return an int64 buffer for timestamps."""
    return memoryview(array("q", [0] * length))


@settings(max_examples=25)
@given(sizes=st.lists(st.integers(0, 60), min_size=1, max_size=4), io=st.sampled_from(["bound", "call"]))
def test_each_request_ends_once_and_in_its_place(session: OpenVinoSession, sizes: list[int], io: str) -> None:
    queue = session.queue(make.mlp().feeds, io)
    for size in sizes:
        starts, ends = stamps(size), stamps(size + 3)
        assert queue.run(NEVER, starts, ends) == size
        after = perf_counter_ns()
        assert all(0 < start < end < after for start, end in zip(starts, ends, strict=False))
        assert list(starts) == sorted(starts)
        assert list(ends[size:]) == [0, 0, 0]
    queue.close()


def test_at_most_as_many_requests_as_streams_run_at_once(session: OpenVinoSession) -> None:
    starts, ends = stamps(200), stamps(200)
    queue = session.queue(make.mlp().feeds, "bound")
    assert queue.run(NEVER, starts, ends) == 200
    queue.close()
    busy = [sum(s <= moment < e for s, e in zip(starts, ends, strict=True)) for moment in starts]
    assert max(busy) <= STREAMS


def test_no_request_starts_after_the_deadline_and_all_started_end(session: OpenVinoSession) -> None:
    starts, ends = stamps(100_000), stamps(100_000)
    queue = session.queue(make.mlp().feeds, "bound")
    until = perf_counter_ns() + 20_000_000
    count = queue.run(until, starts, ends)
    assert 0 < count < 100_000
    assert all(0 < start < until for start in starts[:count]) and all(ends[:count])
    assert not any(starts[count:]) and not any(ends[count:])
    assert queue.run(perf_counter_ns() - 1, starts, ends) == 0
    queue.close()


class Recorder:
    """Stands for the engine's queue and records the submissions."""

    def __init__(self, length: int) -> None:
        self.fed: list[tuple[object, int]] = []
        self.length = length

    def set_callback(self, done: Any) -> None:
        """Keep the stamping function."""
        self.done = done

    def get_idle_request_id(self) -> int:
        """Return the same id each time."""
        return 0

    def wait_all(self) -> None:
        """Return at once: all requests have ended."""

    def submit(self, inputs: object, index: int) -> None:
        """End the request at once."""
        self.fed.append((inputs, index))
        self.done(None, index)


def test_samples_rotate_from_one_run_to_the_next() -> None:
    recorder = Recorder(3)
    queue = OpenVinoQueue(recorder, recorder.submit, ["a", "b", "c"], copies=False)
    for size in (4, 2):
        queue.run(NEVER, stamps(size), stamps(size))
    assert recorder.fed == [("a", 0), ("b", 1), ("c", 2), ("a", 3), ("b", 0), ("c", 1)]


def test_queue_computes_the_given_samples(session: OpenVinoSession) -> None:
    case = make.mlp()
    seen = []
    queue = session.queue(case.feeds, "bound")
    assert isinstance(queue, OpenVinoQueue)
    real = queue._queue

    class Listening:
        """Forwards every call and reads the outputs before the stamp."""

        get_idle_request_id, wait_all = real.get_idle_request_id, real.wait_all

        @staticmethod
        def set_callback(done: Any) -> None:
            """Read the outputs first, then stamp."""

            def look(request: Any, index: int) -> None:
                seen.append((index, request.get_output_tensor(0).data.copy()))
                done(request, index)

            real.set_callback(look)

    queue._queue = Listening
    assert queue.run(NEVER, stamps(9), stamps(9)) == 9
    queue._queue = real
    queue.close()
    bound = session.bind(case.feeds, "bound")
    assert sorted(index for index, _ in seen) == list(range(9))
    for index, output in seen:
        np.testing.assert_allclose(output, bound.outputs(index % 3)["y"], rtol=1e-5)


def test_error_in_a_callback_is_raised_by_the_run(session: OpenVinoSession) -> None:
    queue = session.queue(make.mlp().feeds, "bound")
    readonly = memoryview(bytes(80)).cast("q")
    with pytest.raises(Exception, match=r"read-only|modify"):
        queue.run(NEVER, stamps(10), readonly)
    starts, ends = stamps(10), stamps(10)
    assert queue.run(NEVER, starts, ends) == 10
    assert all(ends)
    queue.close()


def test_closing_right_after_a_run_does_not_deadlock(tmp_path: Path) -> None:
    path = make.mlp().save(tmp_path)
    assert probe("churn", "openvino", path, "80") == 80


def test_error_in_an_inference_is_raised_by_the_run(tmp_path: Path) -> None:
    engine = openvino.make()
    engine.start()
    case = make.reshaped()
    session = engine.load(setting(case.save(tmp_path), one_at_a_time=False))
    queue = session.queue(case.feeds, "engine-allocated")
    with pytest.raises(RuntimeError, match="conflicts"):
        queue.run(NEVER, stamps(10), stamps(10))
    queue.close()
    session.close()
