"""The timing loop and its recording, on calls of scripted cost."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuibench.worker.drive import least_iterations
from tuibench.worker.recording import Recording
from tuibench.worker.sync import BLOCK_NS, next_count, time_block


def test_block_makes_exactly_the_requested_calls_and_stamps_each() -> None:
    made: list[int] = []
    stamps = np.zeros(8, dtype=np.int64)
    time_block(cycle([lambda: made.append(0), lambda: made.append(1)]), stamps.data, 5)
    assert made == [0, 1, 0, 1, 0]
    assert np.all(np.diff(stamps[:6]) >= 0)
    assert stamps[0] > 0
    assert stamps[6] == 0


def test_sample_rotation_continues_across_blocks() -> None:
    made: list[int] = []
    turning = cycle([lambda n=n: made.append(n) for n in range(3)])
    stamps = np.zeros(8, dtype=np.int64)
    time_block(turning, stamps.data, 2)
    time_block(turning, stamps.data, 2)
    assert made == [0, 1, 2, 0]


@given(st.floats(100, 1e9), st.integers(1, 20))
def test_calibration_ends_at_blocks_of_the_requested_length(latency_ns: float, steps: int) -> None:
    count = 1
    for _ in range(30):
        nxt = next_count(count, int(count * latency_ns))
        if nxt == count:
            break
        assert nxt <= count * 10
        count = nxt
    elapsed = count * latency_ns
    assert elapsed >= BLOCK_NS * 0.99 or latency_ns * (1 << 20) < BLOCK_NS
    assert count == 1 or elapsed < 2.1 * BLOCK_NS


@given(st.lists(st.lists(st.integers(1, 10**7), min_size=1, max_size=50), min_size=1, max_size=30), st.integers(5, 200))
def test_moments_cover_every_call_and_kept_values_are_bounded(blocks: list[list[int]], room: int) -> None:
    recording = Recording(room=room)
    for block in blocks:
        recording.add(np.array(block, dtype=np.int64), sum(block))
    everything = np.array([v for block in blocks for v in block], dtype=np.float64)
    assert recording.total == len(everything)
    assert recording.mean_ns == pytest.approx(float(everything.mean()), rel=1e-9)
    assert recording.std_ns == pytest.approx(float(everything.std()), rel=1e-6, abs=1e-3)
    assert recording.timed_ns == int(everything.sum())
    assert len(recording.kept()) <= max([room, *(len(b) for b in blocks)])


@pytest.mark.parametrize(("latency_ns", "least"), [(1e6, 10), (1e9, 10), (1.5e9, 3), (3e9, 3), (4e9, 1)])
def test_slow_calls_need_fewer_iterations(latency_ns: float, least: int) -> None:
    assert least_iterations(latency_ns) == least
