"""The sentence of a verdict: change and interval in one unit, and what an undecided one still needs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tuibench.core.reason import Drift, Reason, Verdict, because
from tuibench.core.scenario import THROUGHPUT
from tuibench.present.verdict import drift_words, verdict_sentence, verdict_words

BARS = (because("outputs_differ", engine="\x1b"), Reason("different_times"))


@pytest.mark.parametrize(
    ("kind", "numbers", "more", "said"),
    [
        ("slower", (1.046, 1.045, 1.047), {}, "new is slower than old: 4.6 % more time [4.5, 4.7]"),
        ("faster", (0.9, 0.896, 0.904), {}, "new is faster than old: 10.0 % less time [9.6, 10.4]"),
        ("faster", (0.87, 0.86, 0.885), {}, "new is faster than old: 13 % less time [12, 14]"),
        ("faster", (0.926, 0.909, 0.943), {"metric": THROUGHPUT}, "new is faster than old: 8 % more items/s [6, 10]"),
        ("slower", (1.25, 1.2, 1.3), {"metric": THROUGHPUT}, "new is slower than old: 20 % fewer items/s [17, 23]"),
        (
            *("slower", (1.019, 1.009, 1.029), {}),
            "new is slower than old: 2 % more time [1, 3], perhaps by less than 2 %",
        ),
        (
            "equivalent",
            (1.0, 0.999, 1.001),
            {},
            "new and old are equivalent within 2 % (0.1 % less to 0.1 % more time)",
        ),
        ("faster", (0.25, 0.245, 0.255), {}, "new is 4.00× as fast as old [3.92, 4.08]"),
        ("faster", (0.476, 0.46, 0.49), {"metric": THROUGHPUT}, "new is 2.10× as fast as old [2.04, 2.17]"),
        ("slower", (12.0, 10.0, 14.0), {}, "new is 12× as slow as old [10, 14]"),
        (
            *("undecided", (1.0, 0.971, 1.03), {"more_pairs": 12, "more_s": 36.0}),
            "undecided: new takes 2.9 % less to 3.0 % more time than old; about 12 more pairs (36 s) would settle it",
        ),
        (
            *("undecided", (1.0, 0.9, 1.1), {"metric": THROUGHPUT}),
            (
                "undecided: new has 9.1 % fewer to 11.1 % more items/s than old"
                "; the spread is too large for more pairs to settle it"
            ),
        ),
        (
            *("undecided", (1.649, None, None), {"n": 2}),
            "new takes 65 % more time than old; undecided: 2 of at least 3 pairs",
        ),
        (
            *(None, (1.649, 1.64, 1.66), {"reasons": (Reason("different_times"),)}),
            "new takes 64.9 % more time than old [64.0, 66.0]; no verdict: measured at different times",
        ),
        (
            *(None, (1.649, 1.64, 1.66), {"reasons": BARS, "new": "\x1b[2Jnew", "metric": THROUGHPUT}),
            (
                "\\e[2Jnew has 39.4 % fewer items/s than old [39.0, 39.8]"
                "; no verdict: outputs of \\e differ from the reference; measured at different times"
            ),
        ),
    ],
)
def test_sentence_gives_verdict_and_change_with_its_interval(
    kind: str | None, numbers: tuple[float, float | None, float | None], more: dict[str, Any], said: str
) -> None:
    assert verdict_sentence(Verdict(kind, *numbers, **{"n": 5, "base": "old", "new": "new", **more})) == said


@pytest.mark.parametrize(
    ("kind", "ratio", "said"),
    [
        ("faster", 0.87, "faster: 13 % less time"),
        ("slower", 3.0, "3.00× as slow"),
        ("equivalent", 1.0, "equivalent within 2 %"),
        ("undecided", 1.0, "undecided"),
        (None, 1.0, "no verdict"),
    ],
)
def test_words_of_a_column_have_no_names(kind: str | None, ratio: float, said: str) -> None:
    assert verdict_words(Verdict(kind, ratio, ratio - 0.02, ratio + 0.02, 5, "old", "new")) == said


def test_exchanged_operands_have_the_opposite_verdict() -> None:
    found = Verdict("faster", 0.5, 0.25, 0.8, 5, "old", "new")
    turned = found.turned()
    assert (turned.kind, turned.base, turned.new, turned.ratio) == ("slower", "new", "old", 2.0)
    assert (turned.low, turned.high) == (1.25, 4.0)
    assert turned.turned() == found


DRIFT = Drift("a", "b", 1, {}, 8, True, sqnr_db=31.4, max_abs=0.5)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "outputs drift: SQNR 31 dB on 8 generated samples, which is no accuracy check: give --inputs"),
        ({"max_abs": 0.0, "sqnr_db": None}, "outputs are equal on 8 generated samples"),
        (
            {"max_abs": 0.0, "sqnr_db": None, "differing": 2, "is_generated": False},
            "outputs drift: 2 values not comparable as numbers on 8 samples",
        ),
        ({"sqnr_db": None, "is_generated": False}, "outputs drift: at most 0.500 apart on 8 samples"),
        (
            {"is_generated": False, "same_top": 99, "rows": 100},
            "outputs drift: SQNR 31 dB, same top class in 99 of 100 rows (at least 94.5 %) on 8 samples",
        ),
        ({"reason": Reason("models_unread")}, "outputs not compared: one of the models could not be read"),
    ],
)
def test_drift_is_told_with_its_samples(changes: dict[str, Any], said: str) -> None:
    assert drift_words(replace(DRIFT, **changes)) == said


def test_sentence_of_two_models_ends_with_their_drift() -> None:
    found = Verdict("faster", 0.5, 0.49, 0.51, 5, "fp32.onnx", "int8.onnx", drift=DRIFT)
    assert verdict_sentence(found) == (
        "int8.onnx is 2.00× as fast as fp32.onnx [1.96, 2.04]"
        "; outputs drift: SQNR 31 dB on 8 generated samples, which is no accuracy check: give --inputs"
    )
    assert verdict_sentence(found, brief=True) == "int8.onnx is 2.00× as fast as fp32.onnx"
    barred = replace(found, kind=None, drift=replace(DRIFT, reason=BARS[1]), reasons=(BARS[1],))
    assert verdict_sentence(barred).endswith("no verdict: measured at different times")
