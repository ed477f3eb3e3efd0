"""Interval and comparison on 36 recorded executions of one cell on a loaded machine, with a known truth."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import NamedTuple

import pytest

from tuibench.stats.comparison import Operand, compare
from tuibench.stats.interval import log_interval

DRAWS = 2000
PATH = Path(__file__).parent.parent / "fixtures" / "recorded" / "executions.json"


class Shares(NamedTuple):
    """Share of intervals that cover the truth, and of identical operands that seem to differ."""

    coverage: float
    paired_false: float
    welch_false: float


def recorded(statistic: str) -> dict[str, list[float]]:
    """Return the values of one statistic, in ns, per batch of executions and over all."""
    batches = {name: [row[statistic] for row in rows] for name, rows in json.loads(PATH.read_text()).items()}
    return {"all": [v for values in batches.values() for v in values], **batches}


def try_draws(values: list[float], k: int) -> Shares:
    """Draw k executions to estimate the mean of all, and k others to compare with them."""
    truth = math.exp(math.fsum(math.log(v) for v in values) / len(values))
    rng = random.Random(0)
    covered = paired = welch = 0
    for _ in range(DRAWS):
        drawn = rng.sample(values, 2 * k)
        estimate = log_interval(drawn[:k])
        assert estimate.low is not None and estimate.high is not None
        covered += estimate.low <= truth <= estimate.high
        logs = [math.log(v) for v in drawn]
        one, other = (Operand(name, name, list(enumerate(part))) for name, part in (("a", logs[:k]), ("b", logs[k:])))
        paired += seems_to_differ(one, other, interleaved=True)
        welch += seems_to_differ(one, other, interleaved=False)
    return Shares(covered / DRAWS, paired / DRAWS, welch / DRAWS)


def seems_to_differ(one: Operand, other: Operand, *, interleaved: bool) -> bool:
    """Return True if the interval of the ratio excludes 1, which is stricter than a verdict with delta."""
    result = compare(one, other, interleaved=interleaved).verdict
    assert result.low is not None and result.high is not None
    return result.low > 1 or result.high < 1


@pytest.mark.parametrize("statistic", ["p50_ns", "floor_ns"])
@pytest.mark.parametrize("k", [3, 5, 8])
def test_intervals_cover_and_identical_operands_do_not_differ(statistic: str, k: int) -> None:
    values = recorded(statistic)
    assert [len(values[name]) for name in ("all", "aa", "aq")] == [36, 24, 12]
    shares = try_draws(values["all"], k)
    print(f"all 36, {statistic}, k={k}: {shares}")
    assert shares.coverage >= 0.93
    assert shares.paired_false <= 0.07
    assert shares.welch_false <= 0.07
