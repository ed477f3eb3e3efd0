from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest

from tuibench.core.reason import Reason, Verdict, because
from tuibench.core.scenario import THROUGHPUT
from tuibench.stats.comparison import Operand, compare, paired, unpaired


def operand(name: str, logs: Sequence[float], start: int = 1) -> Operand:
    return Operand(f"key-{name}", name, list(enumerate(logs, start)))


def interleaved(base: Sequence[float], new: Sequence[float], **more: float | str | None) -> Verdict:
    return compare(operand("old", base), operand("new", new), interleaved=True, **more).verdict  # type: ignore[arg-type]


WOBBLE = [0.0, 0.001, -0.001, 0.0005, -0.0005]


def shifted(by: float, scale: float = 1.0) -> list[float]:
    return [by + scale * w for w in WOBBLE]


def test_pairing_cancels_what_rounds_share() -> None:
    drift = [0.0, 0.3, 0.7, 1.5, 0.2]
    new = [d + w for d, w in zip(drift, shifted(0.05), strict=True)]
    result = interleaved(drift, new)
    half = 2.7764451052 * math.sqrt(sum(w * w for w in WOBBLE) / 4) / math.sqrt(5)
    assert result.ratio == pytest.approx(math.exp(0.05))
    assert result.low == pytest.approx(math.exp(0.05 - half))
    assert result.high == pytest.approx(math.exp(0.05 + half))
    assert (result.n, result.kind, result.base, result.new) == (5, "slower", "old", "new")


def test_only_shared_rounds_pair_and_repeats_count_once() -> None:
    base = [(1, 0.0), (1, 0.2), (2, 0.1), (3, 0.1), (4, 0.1)]
    new = [(1, 0.2), (2, 0.2), (3, 0.2), (9, 5.0)]
    difference = paired(base, new)
    assert difference.n == 3
    assert difference.center == pytest.approx(0.1)
    assert difference.half == pytest.approx(0.0, abs=1e-12)


def test_pairing_without_a_shared_round_is_an_error() -> None:
    with pytest.raises(ValueError, match="no round"):
        paired([(1, 0.0)], [(2, 0.0)])


def test_welch_interval_matches_hand_calculation() -> None:
    difference = unpaired([(0, 1.0), (1, 1.2), (2, 1.4)], [(0, 2.0), (1, 2.1), (2, 2.0), (3, 2.1)])
    share_a, share_b = 0.04 / 3, (0.01 / 3) / 4
    df = (share_a + share_b) ** 2 / (share_a**2 / 2 + share_b**2 / 3)
    assert df == pytest.approx(2.2519, abs=1e-3)
    assert difference.center == pytest.approx(0.85)
    assert difference.half is not None
    # Student's t at 2.2519 degrees of freedom lies between those at 2 and 3.
    assert 3.1824 < difference.half / math.sqrt(share_a + share_b) < 4.3027
    assert difference.n == 3


@pytest.mark.parametrize(
    ("by", "scale", "verdict"),
    [
        (0.05, 1, "slower"),
        (-0.05, 1, "faster"),
        (0.0, 1, "equivalent"),
        (0.015, 0.5, "equivalent"),
        (0.022, 4, "slower"),
        (0.0, 30, "undecided"),
        (0.019, 10, "slower"),
    ],
)
def test_verdict_follows_the_interval(by: float, scale: float, verdict: str) -> None:
    assert interleaved([0.0] * 5, shifted(by, scale)).kind == verdict


@pytest.mark.parametrize(("by", "missing"), [(0.0, 0.02), (0.004, 0.016)])
def test_pairs_needed_are_for_the_nearer_of_exclusion_and_equivalence(by: float, missing: float) -> None:
    """A difference of 0.4 % is shown to be within ±2 % long before it is shown to exist."""
    result = interleaved([0.0] * 5, shifted(by, 30), pair_s=3.0)
    deviation = 30 * math.sqrt(sum(w * w for w in WOBBLE) / 4)
    more = math.ceil((2.7764451052 * deviation / missing) ** 2) - 5
    assert (result.kind, result.more_pairs, result.more_s) == ("undecided", more, more * 3.0)


def test_delta_is_set_by_the_user() -> None:
    assert interleaved([0.0] * 5, shifted(0.05), delta=0.1).kind == "equivalent"


def test_operands_of_different_times_get_a_ratio_and_no_verdict() -> None:
    result = compare(operand("old", WOBBLE), operand("new", shifted(0.5)), interleaved=False).verdict
    assert (result.kind, result.reasons) == (None, (Reason("different_times"),))
    assert result.low is not None and result.low > 1.6
    assert result.ratio == pytest.approx(math.exp(0.5))


def test_operands_of_different_times_are_not_paired_by_round() -> None:
    drift = [0.0, 0.3, 0.7, 1.5, 0.2]
    result = compare(operand("old", drift), operand("new", [d + 0.5 for d in drift]), interleaved=False).verdict
    assert result.low is not None and result.low < 1
    apart = compare(operand("old", drift), operand("new", drift, start=90), interleaved=False).verdict
    assert apart.ratio == pytest.approx(1.0)
    assert apart.n == 5


def test_unequal_work_prevents_a_verdict() -> None:
    bars = (because("outputs_differ", engine="x"), Reason("models_differ"))
    result = compare(operand("old", WOBBLE), operand("new", shifted(0.5)), interleaved=True, bars=bars).verdict
    assert (result.kind, result.reasons) == (None, bars)


@pytest.mark.parametrize("count", [1, 2])
def test_fewer_than_three_pairs_have_no_interval(count: int) -> None:
    result = interleaved([0.0] * count, [0.5] * count)
    assert (result.low, result.high, result.kind, result.n) == (None, None, "undecided", count)


def test_throughput_is_compared_as_time_per_item() -> None:
    per_second = [[100.0, 101.0, 99.0, 100.5, 99.5], [200.0, 201.0, 199.0, 200.5, 199.5]]
    slow, fast = ([-math.log(v) for v in values] for values in per_second)
    result = interleaved(slow, fast, metric=THROUGHPUT)
    assert (result.kind, result.metric) == ("faster", "items/s")
    assert result.ratio == pytest.approx(0.5, rel=0.01)


def test_equal_operands_rarely_differ_and_a_true_difference_is_found() -> None:
    rng = random.Random(11)
    false = found = 0
    for _ in range(2000):
        rounds = [rng.gauss(0, 0.1) for _ in range(5)]
        base, new = ([r + rng.gauss(0, 0.005) for r in rounds] for _ in range(2))
        false += interleaved(base, new).kind in ("faster", "slower")
        found += interleaved(base, [v + 0.04 for v in new]).kind == "slower"
    assert false / 2000 <= 0.05
    assert found / 2000 >= 0.95
