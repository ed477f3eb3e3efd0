from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest

from tuibench.core.reason import Reason, Verdict, because
from tuibench.core.scenario import THROUGHPUT
from tuibench.present.headline import verdict_sentence
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


def test_sentence_gives_verdict_change_and_ratio() -> None:
    zero = [0.0] * 5
    assert verdict_sentence(interleaved(zero, shifted(math.log(1.046)))) == (
        "new is slower than old: 4.6 % more p50 latency (+4.5 to +4.7 %); ratio 1.046 [1.045, 1.047]"
    )
    assert verdict_sentence(interleaved(zero, shifted(math.log(0.9), 4))) == (
        "new is faster than old: 10.0 % less p50 latency (−10.4 to −9.6 %); ratio 0.900 [0.896, 0.904]"
    )
    assert (
        verdict_sentence(interleaved(zero, shifted(0.019, 10))).partition(";")[0].endswith(", perhaps by less than 2 %")
    )
    assert verdict_sentence(interleaved(zero, WOBBLE)) == (
        "new and old are equivalent within 2 % in p50 latency (−0.1 to +0.1 %); ratio 1.000 [0.999, 1.001]"
    )
    assert verdict_sentence(interleaved(zero, shifted(math.log(0.25), 20))) == (
        "new is faster than old: 0.250 times the p50 latency (0.245 to 0.255 times); ratio 0.250 [0.245, 0.255]"
    )


def test_undecided_sentence_gives_the_number_of_pairs_needed() -> None:
    result = interleaved([0.0] * 5, shifted(0.0, 30), pair_s=3.0)
    deviation = 30 * math.sqrt(sum(w * w for w in WOBBLE) / 4)
    more = math.ceil((2.7764451052 * deviation / 0.02) ** 2) - 5
    assert verdict_sentence(result) == (
        "undecided: new may differ from old by −2.9 to +3.0 % in p50 latency"
        f"; about {more} more pairs ({more * 3.0:.0f} s) would settle it; ratio 1.000 [0.971, 1.030]"
    )


def test_pairs_needed_are_for_the_nearer_of_exclusion_and_equivalence() -> None:
    """A difference of 0.4 % is shown to be within ±2 % long before it is shown to exist."""
    deviation = 30 * math.sqrt(sum(w * w for w in WOBBLE) / 4)
    more = math.ceil((2.7764451052 * deviation / 0.016) ** 2) - 5
    assert f"about {more} more pairs would" in verdict_sentence(interleaved([0.0] * 5, shifted(0.004, 30)))


def test_delta_is_set_by_the_user() -> None:
    assert interleaved([0.0] * 5, shifted(0.05), delta=0.1).kind == "equivalent"


def test_operands_of_different_times_get_a_ratio_and_no_verdict() -> None:
    result = compare(operand("old", WOBBLE), operand("new", shifted(0.5)), interleaved=False).verdict
    assert (result.kind, result.reasons) == (None, (Reason("different_times"),))
    assert result.low is not None and result.low > 1.6
    assert verdict_sentence(result).startswith("new / old in p50 latency: 1.649 (")
    assert verdict_sentence(result).endswith("no verdict: measured at different times")


def test_operands_of_different_times_are_not_paired_by_round() -> None:
    drift = [0.0, 0.3, 0.7, 1.5, 0.2]
    result = compare(operand("old", drift), operand("new", [d + 0.5 for d in drift]), interleaved=False).verdict
    assert result.low is not None and result.low < 1
    apart = compare(operand("old", drift), operand("new", drift, start=90), interleaved=False).verdict
    assert apart.ratio == pytest.approx(1.0)
    assert apart.n == 5


def test_unequal_work_prevents_a_verdict_and_names_are_escaped() -> None:
    bars = (because("outputs_differ", engine="\x1b"), Reason("models_differ"))
    result = compare(
        Operand("a", "old", list(enumerate(WOBBLE))),
        Operand("b", "\x1b[2Jnew", list(enumerate(shifted(0.5)))),
        interleaved=True,
        bars=bars,
    ).verdict
    assert (result.kind, result.reasons) == (None, bars)
    assert "\x1b" not in verdict_sentence(result)
    assert "no verdict: outputs of \\e differ from the reference; the models differ" in verdict_sentence(result)


@pytest.mark.parametrize("count", [1, 2])
def test_fewer_than_three_pairs_have_no_interval(count: int) -> None:
    result = interleaved([0.0] * count, [0.5] * count)
    assert (result.low, result.high, result.kind) == (None, None, "undecided")
    assert (
        verdict_sentence(result)
        == f"new / old in p50 latency: 1.649, no interval; undecided: {count} of at least 3 pairs"
    )


def test_throughput_is_compared_as_time_per_item() -> None:
    per_second = [[100.0, 101.0, 99.0, 100.5, 99.5], [200.0, 201.0, 199.0, 200.5, 199.5]]
    slow, fast = ([-math.log(v) for v in values] for values in per_second)
    result = interleaved(slow, fast, metric=THROUGHPUT)
    assert (result.kind, result.metric) == ("faster", "items/s")
    assert result.ratio == pytest.approx(0.5, rel=0.01)
    assert "time per item" in verdict_sentence(result)


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
