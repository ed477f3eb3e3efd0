"""Streams: every request counted once, and the steady rate taken only while all streams are busy."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from itertools import repeat
from time import perf_counter_ns

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuibench.worker.loading import divide_cpus
from tuibench.worker.streams import Stamps, ThreadStreams, queue_slices, record_parts, run_until, steady_rate


def spans(first: int, step: int, count: int) -> tuple[Stamps, Stamps]:
    """Return `count` consecutive requests of `step` ns."""
    stamps = first + step * np.arange(count + 1, dtype=np.int64)
    return stamps[:-1], stamps[1:]


def test_steady_rate_excludes_ramp_and_drain() -> None:
    second = 10**9
    early, late = spans(0, second // 10, 100), spans(5 * second, second // 10, 100)
    assert steady_rate([early, late]) == pytest.approx(20.0)
    alone = len(early[1]) + len(late[1])
    assert alone / 15 < 20


@given(st.integers(1, 4), st.integers(10, 50), st.integers(10**5, 10**7))
def test_equal_streams_complete_one_request_each_per_latency(streams: int, count: int, step: int) -> None:
    rate = steady_rate([spans(0, step, count) for _ in range(streams)])
    assert rate == pytest.approx(streams * 1e9 / step, rel=1e-6)


def test_run_until_ends_at_the_time_or_the_maximum() -> None:
    stamps = np.zeros(100, dtype=np.int64)
    assert run_until(repeat(lambda: None), stamps.data, perf_counter_ns() + 10**12, 7) == 7
    assert run_until(repeat(lambda: None), stamps.data, 0, 50) == 1


def test_stream_threads_run_at_once_on_their_own_calls() -> None:
    before = threading.active_count()
    together = threading.Barrier(2, timeout=30)
    seen: list[str] = []

    def maker(name: str) -> Iterator[Callable[[], object]]:
        def call() -> None:
            together.wait()
            seen.append(name)

        return repeat(call)

    streams = ThreadStreams([lambda: maker("a"), lambda: maker("b")])
    try:
        stamps = streams.run(10**12, 3)
    finally:
        streams.close()
    assert [len(s) for s in stamps] == [4, 4]
    assert sorted(seen) == ["a"] * 3 + ["b"] * 3
    assert threading.active_count() == before


def test_error_in_one_stream_is_raised_to_the_caller() -> None:
    def broken() -> Iterator[Callable[[], object]]:
        raise ValueError("no such model")

    with pytest.raises(ValueError, match="no such model"):
        ThreadStreams([broken])


class Queue:
    """A queue of two streams whose requests take 10 ns."""

    def run(self, until_ns: int, starts: memoryview, ends: memoryview) -> int:
        for index in range(6):
            starts[index] = 10 * (index // 2)
            ends[index] = 10 * (index // 2) + 10
        return 6

    def close(self) -> None:
        """Release nothing."""


def test_queue_requests_are_dealt_to_one_lane_per_stream() -> None:
    parts = queue_slices(Queue(), 2)(1000, 8)
    assert [list(starts) for starts, _ in parts] == [[0, 10, 20], [0, 10, 20]]
    assert steady_rate(parts) == pytest.approx(2e8)


@given(st.integers(1, 64), st.integers(1, 64))
def test_threads_are_shared_evenly_among_streams_without_loss(cores: int, streams: int) -> None:
    shares = divide_cpus(tuple(range(cores)), streams, "core")
    assert len(shares) == streams
    sizes = [s.threads for s in shares]
    assert max(sizes) - min(sizes) <= 1
    assert all(s.threads == len(s.cpus) for s in shares)
    if streams <= cores:
        assert {c for share in shares for c in share.cpus} == set(range(cores))
        assert sum(sizes) == cores


def test_streams_without_pinning_may_use_every_cpu() -> None:
    assert [(s.cpus, s.threads) for s in divide_cpus((0, 1, 2), 2, "none")] == [((0, 1, 2), 2), ((0, 1, 2), 1)]


@pytest.mark.parametrize(("streams", "count"), [(8, 5), (8, 2), (16, 10), (2, 5)])
def test_streams_out_of_step_lose_no_calls_at_the_edges(streams: int, count: int) -> None:
    step = 10**8
    parts = [spans(i * 50_000, step, count) for i in range(streams)]
    assert steady_rate(parts) == pytest.approx(streams * 1e9 / step, rel=1e-3)


def test_calls_of_streams_are_recorded_in_the_order_of_their_end() -> None:
    recording, seconds = record_parts([spans(0, 10, 3), spans(5, 20, 2)], 1000)
    assert list(recording.kept()) == [10, 10, 20, 10, 20]
    assert seconds == pytest.approx(45e-9)
    assert recording.total == 5
