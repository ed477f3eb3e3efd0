from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tuibench.core.cell import Grade, Noise
from tuibench.core.reason import because, error_text
from tuibench.stats.grading import grade_noise

QUIET = Noise(1_000, 10**9, 0.0, 0, 0.001, 3, 0, 100)
BLIND = Noise(None, None, None, None, None, 3, 0, 100, "no schedstat here")


def grade(*noises: Noise, timed_s: float | None = 1.0) -> Grade:
    result = grade_noise(noises, timed_s)
    assert result is not None
    return result


@pytest.mark.parametrize(
    ("waiting_of_1000", "letter"),
    [(0, "A"), (9, "A"), (10, "B"), (49, "B"), (50, "C"), (199, "C"), (200, "D"), (900, "D")],
)
def test_share_of_time_spent_waiting_sets_the_grade(waiting_of_1000: int, letter: str) -> None:
    noise = replace(QUIET, waiting_ns=waiting_of_1000, on_cpu_ns=1000 - waiting_of_1000)
    assert grade(noise).letter == letter
    assert grade(noise).waiting_share == pytest.approx(waiting_of_1000 / 1000)


def test_own_threads_that_wait_for_each_other_cost_no_grade() -> None:
    crowd = replace(QUIET, waiting_ns=10**9)
    assert grade(replace(crowd, others_ns=0)).letter == "A"
    assert grade(replace(crowd, others_ns=10**8)).waiting_share == pytest.approx(1 / 11)
    assert grade(replace(crowd, others_ns=5 * 10**9)) == grade(crowd)


def test_noise_of_executions_is_summed() -> None:
    busy = replace(QUIET, waiting_ns=10**9)
    assert grade(QUIET, QUIET, QUIET, busy).waiting_share == pytest.approx(0.2, abs=1e-3)


def test_grade_has_its_cause() -> None:
    noise = replace(QUIET, waiting_ns=650, on_cpu_ns=350)
    assert grade(noise).cause == because("waited_for_cpu", waited=0.65, has_quota=False)
    cause = grade(QUIET).cause
    assert cause is not None and (cause.code, list(cause.fields)) == ("quiet", ["waited"])


@pytest.mark.parametrize(
    ("noise", "fields"),
    [
        (replace(QUIET, steal_share=0.006), {"stolen": 0.006}),
        (replace(QUIET, throttled_us=1500), {"throttled_ms": 1.5}),
        (replace(QUIET, canary_drift=0.031), {"drift": 0.031}),
        (replace(QUIET, canary_drift=-0.031), {"drift": 0.031}),
    ],
)
def test_each_other_source_of_noise_lowers_the_grade_by_one(noise: Noise, fields: dict[str, float]) -> None:
    assert grade(noise).letter == "B"
    cause = grade(noise).cause
    assert cause is not None and cause.fields.items() >= fields.items()


def test_all_other_sources_together_lower_the_grade_by_one_down_to_d() -> None:
    worse = replace(QUIET, steal_share=0.1, throttled_us=9, canary_drift=0.5)
    assert grade(worse).letter == "B"
    assert grade(replace(worse, waiting_ns=10**9)).letter == "D"
    assert grade(worse).throttled is True
    assert grade(QUIET).throttled is False


def test_noise_below_its_limit_does_not_lower_the_grade() -> None:
    assert grade(replace(QUIET, steal_share=0.005, canary_drift=0.02)).letter == "A"


@pytest.mark.parametrize(("switches", "letter"), [(0, "B"), (12, "B"), (13, "C"), (49, "C"), (50, "D")])
def test_switches_set_the_grade_without_waiting_times_and_b_is_best(switches: int, letter: str) -> None:
    result = grade(replace(BLIND, involuntary_switches=switches), timed_s=1.0)
    assert result.letter == letter
    assert result.waiting_share is None
    assert result.throttled is None
    assert result.cause == because("preempted", per_s=switches, why=error_text("no schedstat here"))


def test_grade_without_readable_noise_is_c_with_the_reason() -> None:
    result = grade(replace(BLIND, involuntary_switches=None, reason="no"))
    assert result.letter == "C"
    assert result.cause == because("waiting_unknown", why=error_text("no"))
    assert grade(BLIND, timed_s=None).letter == "C"


def test_no_execution_has_no_grade() -> None:
    assert grade_noise([]) is None


def test_recorded_executions_on_a_loaded_machine_have_grade_d() -> None:
    path = Path(__file__).parent.parent / "fixtures" / "recorded" / "executions.json"
    for rows in json.loads(path.read_text()).values():
        noises = [
            Noise(round(r["run_delay"] * 1e9), round(r["oncpu"] * 1e9), r["steal"], 0, None, r["nivcsw"], 0, 100)
            for r in rows
        ]
        assert grade(*noises).letter == "D"
        blind = [replace(n, waiting_ns=None) for n in noises]
        assert grade(*blind, timed_s=0.8 * len(rows)).letter == "D"
