from __future__ import annotations

import random

import pytest

from tuibench.stats.stopping import Settled, settled


def noise(count: int, level: float = 1e6, spread: float = 0.003, seed: int = 0) -> list[float]:
    rng = random.Random(seed)
    return [level * (1 + rng.gauss(0, spread)) for _ in range(count)]


def test_too_few_blocks_are_never_settled() -> None:
    assert settled([1e6] * 5) == Settled(0, False, "no steady state")
    assert settled([]) == Settled(0, False, "no steady state")


def test_level_series_is_flat_and_not_cut() -> None:
    assert settled([1e6] * 6) == Settled(0, True, "flat")


@pytest.mark.parametrize("seed", range(20))
def test_noisy_level_series_is_flat(seed: int) -> None:
    verdict = settled(noise(30, seed=seed))
    assert (verdict.ok, verdict.note) == (True, "flat")


@pytest.mark.parametrize("seed", range(20))
def test_cut_removes_the_whole_warm_up(seed: int) -> None:
    verdict = settled([2.5e6, 2.0e6, 1.6e6, 1.2e6, *noise(20, seed=seed)])
    assert (verdict.ok, verdict.note) == (True, "warm-up")
    assert 4 <= verdict.cut <= 12


def test_engine_that_becomes_and_stays_slower_is_a_slowdown() -> None:
    verdict = settled([*noise(6, level=0.8e6), *noise(20, seed=1)])
    assert (verdict.ok, verdict.note) == (True, "slowdown")
    assert verdict.cut >= 6


def test_drifting_series_has_no_steady_state() -> None:
    drift = [1e6 * (1 + 0.01 * i) for i in range(40)]
    assert not settled(drift).ok
    assert settled(drift).note == "no steady state"


def test_step_in_the_second_half_settles_once_enough_blocks_follow() -> None:
    before = noise(20, level=1.2e6)
    after = noise(60, seed=1)
    assert not settled(before + after[:10]).ok
    later = settled(before + after)
    assert later.ok
    assert later.cut >= 20


def test_series_with_warm_up_settles_after_it() -> None:
    series = [3e6, 2.6e6, 2.2e6, 1.8e6, 1.5e6, 1.25e6, 1.1e6, *noise(60)]
    first = next(n for n in range(1, len(series)) if settled(series[:n]).ok)
    assert 12 <= first <= 20
    assert settled(series[:first]).cut >= 6


def test_one_stall_does_not_unsettle_a_level_series() -> None:
    series = noise(30)
    series[20] *= 5
    assert settled(series).ok


def test_noisy_level_series_settles_within_a_few_blocks() -> None:
    waits = []
    for seed in range(200):
        series = noise(60, spread=0.05, seed=seed)
        waits.append(next(n for n in range(1, 61) if settled(series[:n]).ok))
    assert sorted(waits)[180] <= 15


def test_cut_without_noise_is_exact() -> None:
    assert settled([3.0, 2.0, *[1.0] * 10]) == Settled(2, True, "warm-up")
