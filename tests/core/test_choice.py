from __future__ import annotations

import math

import pytest

from tests.runs.execution_data import result
from tuibench.core.cell import MAIN_NUMBERS, CellResult, headlined
from tuibench.core.result_headline import cells_headline

SLOW, FAST = result(p50=4.0, cores=1), result(p50=2.0, cores=2)
STREAMS, MORE = (result(per_second=rate, scenario="async", cores=4) for rate in (900.0, 1500.0))
NOISY = result(p50=1.0, cores=8, letter="D")


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        ((SLOW, FAST), FAST),
        ((STREAMS, MORE, SLOW, FAST), FAST),
        ((STREAMS, MORE), MORE),
        ((NOISY, SLOW), SLOW),
        ((NOISY,), NOISY),
        ((), None),
    ],
)
def test_headlined_cell_is_the_first_in_the_headline(cells: tuple[CellResult, ...], wanted: CellResult | None) -> None:
    assert headlined(cells) is wanted
    numbers = cells_headline(cells, {}).numbers
    value = None if wanted is None else 1500.0 if wanted is MORE else wanted.latency_ms["p50"].value
    assert (numbers[0].value if numbers else None) == value


@pytest.mark.parametrize("metric", MAIN_NUMBERS)
def test_values_without_a_logarithm_are_not_compared(metric: str) -> None:
    main = MAIN_NUMBERS[metric]
    assert [main.ln_time(value) for value in (None, 0.0, -1.0, math.nan)] == [None] * 4
    less, more = main.ln_time(2.0), main.ln_time(3.0)
    assert less is not None and more is not None and (less < more) is main.is_time
