from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from tuibench.core.spec import EFFORTS, Effort
from tuibench.present.reason import reason_words
from tuibench.stats.interval import half_width
from tuibench.stats.stopping import decide

DEFAULT = EFFORTS["default"]


def spread(count: int, deviation: float) -> list[float]:
    """Return logs of alternating sign with a standard deviation of about `deviation`."""
    return [deviation * (-1) ** i for i in range(count)]


def test_two_rounds_within_the_target_from_the_minimum_on_stop() -> None:
    quiet = spread(5, 0.001)
    assert not decide(quiet[:4], DEFAULT, 6.0, 1.4).stop
    decision = decide(quiet, DEFAULT, 7.0, 1.4)
    assert (decision.stop, decision.reason.code) == (True, "target")
    assert decision.half_width == pytest.approx(half_width(quiet))


def test_one_round_within_the_target_does_not_stop() -> None:
    logs = [0.0, 0.0, 0.03, -0.025, 0.0, 0.0, 0.0]
    assert [half_width(logs[:k]) <= 0.02 for k in (5, 6, 7)] == [False, True, True]
    assert not decide(logs[:6], DEFAULT, 9.0, 1.4).stop
    assert decide(logs, DEFAULT, 10.0, 1.4).reason.code == "target"


def test_maximum_number_of_executions_stops() -> None:
    logs = spread(15, 0.06)
    assert not decide(logs[:14], DEFAULT, 20.0, 1.0).stop
    decision = decide(logs, DEFAULT, 21.0, 1.0)
    assert (decision.stop, decision.reason.code) == (True, "maximum")
    assert decision.reason.fields["executions"] == 15 and decision.more


def test_limit_stops_if_another_execution_would_exceed_it() -> None:
    logs = spread(7, 0.03)
    assert not decide(logs, DEFAULT, 26.0, 3.9).stop
    decision = decide(logs, DEFAULT, 26.2, 3.9)
    assert (decision.stop, decision.reason.code) == (True, "limit")


def test_limit_never_prevents_the_three_executions_of_an_interval() -> None:
    assert not decide([0.0, 0.1], DEFAULT, 60.0, 30.0).stop
    assert decide([0.0, 0.1, 0.05], DEFAULT, 90.0, 30.0).reason.code == "limit"


def test_hopeless_prediction_stops_from_the_minimum_on() -> None:
    # The limit of 30 s allows 20 executions of 1.5 s: 80 are predicted or more.
    logs = spread(5, 1.0)
    t = 2.7764451052
    deviation = math.sqrt(sum((v - sum(logs) / 5) ** 2 for v in logs) / 4)
    just_possible = [v * 0.02 * math.sqrt(79.5) / (t * deviation) for v in logs]
    too_wide = [v * 0.02 * math.sqrt(80.5) / (t * deviation) for v in logs]
    assert not decide(just_possible, DEFAULT, 7.5, 1.5).stop
    decision = decide(too_wide, DEFAULT, 7.5, 1.5)
    assert (decision.stop, decision.reason.code, decision.more) == (True, "hopeless", 81 - 5)
    assert (decision.reason.fields["more"], decision.reason.fields["more_s"]) == (76, 76 * 1.5)
    assert not decide(too_wide[:4], DEFAULT, 6.0, 1.5).stop


def test_prediction_starts_in_the_round_before_the_minimum() -> None:
    logs = spread(5, 0.03)
    assert decide(logs[:3], DEFAULT, 4.5, 1.5).more is None
    deviation = math.sqrt(4 * 0.03**2 / 3)
    assert decide(logs[:4], DEFAULT, 6.0, 1.5).more == math.ceil((3.1824463053 * deviation / 0.02) ** 2) - 4


def test_one_execution_has_no_interval() -> None:
    decision = decide([0.0], DEFAULT, 1.0, 1.0)
    assert (decision.stop, decision.half_width, decision.more) == (False, None, None)


def test_only_the_maximum_stops_without_a_target() -> None:
    effort = Effort("time", 3, 4, 20.0, 2.0, None, 30.0)
    assert not decide(spread(3, 2.0), effort, 66.0, 22.0).stop
    assert decide(spread(4, 2.0), effort, 88.0, 22.0).reason.code == "maximum"
    assert decide([0.0], replace(effort, min_executions=1, max_executions=1), 10.0, 10.0).reason.code == "maximum"


def test_huge_spread_is_reported_without_a_count() -> None:
    sentence = reason_words(decide(spread(5, 50.0), DEFAULT, 7.0, 1.4).reason)
    assert sentence.endswith("±2.0 % is not reachable on this machine now")


@pytest.mark.parametrize("name", ["quick", "default", "precise"])
def test_interval_covers_the_truth_if_data_decide_when_to_stop(name: str) -> None:
    effort = EFFORTS[name]
    rng = random.Random(7)
    execution_s = effort.timed_s + 0.4
    for deviation in (0.005, 0.01, 0.02, 0.04, 0.08, 0.15):
        hits = sum(_covers(rng, deviation, effort, execution_s) for _ in range(1000))
        assert 0.92 <= hits / 1000 <= 0.98, f"{name}, sd {deviation}: {hits / 10} %"


def _covers(rng: random.Random, deviation: float, effort: Effort, execution_s: float) -> bool:
    logs: list[float] = []
    while not logs or not decide(logs, effort, len(logs) * execution_s, execution_s).stop:
        logs.append(rng.gauss(0, deviation))
    return abs(sum(logs) / len(logs)) <= half_width(logs)
