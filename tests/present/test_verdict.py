"""The sentence of a verdict: change, interval, ratio, and what an undecided one still needs."""

from __future__ import annotations

from typing import Any

import pytest

from tuibench.core.reason import Reason, Verdict, because
from tuibench.core.scenario import THROUGHPUT
from tuibench.present.headline import verdict_sentence

BARS = (because("outputs_differ", engine="\x1b"), Reason("different_times"))


@pytest.mark.parametrize(
    ("kind", "numbers", "more", "said"),
    [
        (
            *("slower", (1.046, 1.045, 1.047), {}),
            "new is slower than old: 4.6 % more p50 latency (+4.5 to +4.7 %); ratio 1.046 [1.045, 1.047]",
        ),
        (
            *("faster", (0.9, 0.896, 0.904), {}),
            "new is faster than old: 10.0 % less p50 latency (−10.4 to −9.6 %); ratio 0.900 [0.896, 0.904]",
        ),
        (
            *("slower", (1.019, 1.009, 1.029), {}),
            (
                "new is slower than old: 1.9 % more p50 latency (+0.9 to +2.9 %), perhaps by less than 2 %"
                "; ratio 1.019 [1.009, 1.029]"
            ),
        ),
        (
            *("equivalent", (1.0, 0.999, 1.001), {}),
            "new and old are equivalent within 2 % in p50 latency (−0.1 to +0.1 %); ratio 1.000 [0.999, 1.001]",
        ),
        (
            *("faster", (0.25, 0.245, 0.255), {}),
            "new is faster than old: 0.250 times the p50 latency (0.245 to 0.255 times); ratio 0.250 [0.245, 0.255]",
        ),
        (
            *("undecided", (1.0, 0.971, 1.03), {"more_pairs": 12, "more_s": 36.0}),
            (
                "undecided: new may differ from old by −2.9 to +3.0 % in p50 latency"
                "; about 12 more pairs (36 s) would settle it; ratio 1.000 [0.971, 1.030]"
            ),
        ),
        (
            *("undecided", (1.649, None, None), {"n": 2}),
            "new / old in p50 latency: 1.649, no interval; undecided: 2 of at least 3 pairs",
        ),
        (
            *(None, (1.649, 1.64, 1.66), {"reasons": (Reason("different_times"),)}),
            "new / old in p50 latency: 1.649 (1.640 to 1.660); no verdict: measured at different times",
        ),
        (
            *(None, (1.649, 1.64, 1.66), {"reasons": BARS, "new": "\x1b[2Jnew", "metric": THROUGHPUT}),
            (
                "\\e[2Jnew / old in time per item: 1.649 (1.640 to 1.660)"
                "; no verdict: outputs of \\e differ from the reference; measured at different times"
            ),
        ),
    ],
)
def test_sentence_gives_verdict_change_and_ratio(
    kind: str | None, numbers: tuple[float, float | None, float | None], more: dict[str, Any], said: str
) -> None:
    assert verdict_sentence(Verdict(kind, *numbers, **{"n": 5, "base": "old", "new": "new", **more})) == said
