from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuibench.stats.interval import normal_quantile, t_quantile

# The two-sided 95 % and 99 % points of the usual tables, to more digits.
TABLE = [
    (1, 0.95, 12.7062047364),
    (2, 0.95, 4.3026527297),
    (3, 0.95, 3.1824463053),
    (4, 0.95, 2.7764451052),
    (5, 0.95, 2.5705818356),
    (10, 0.95, 2.2281388520),
    (14, 0.95, 2.1447866879),
    (29, 0.95, 2.0452296421),
    (120, 0.95, 1.9799304051),
    (1, 0.99, 63.6567411629),
    (7, 0.99, 3.4994832974),
    (30, 0.99, 2.7499956536),
    (2, 0.5, 0.8164965809),
]


@pytest.mark.parametrize(("df", "confidence", "expected"), TABLE)
def test_t_quantile_matches_the_tables(df: int, confidence: float, expected: float) -> None:
    assert t_quantile(df, confidence) == pytest.approx(expected, abs=1e-6)


def test_t_quantile_of_fractional_degrees_lies_between_its_neighbours() -> None:
    assert t_quantile(5) < t_quantile(4.5) < t_quantile(4)


def test_t_quantile_tends_to_the_normal_one() -> None:
    assert t_quantile(1e7) == pytest.approx(normal_quantile(0.975), abs=1e-6)


@given(st.floats(min_value=0.001, max_value=0.999))
def test_t_quantile_at_one_degree_is_that_of_cauchy(confidence: float) -> None:
    assert t_quantile(1, confidence) == pytest.approx(math.tan(math.pi * confidence / 2), rel=1e-7)


@pytest.mark.parametrize(
    ("p", "expected"), [(0.5, 0.0), (0.975, 1.959963984540), (0.025, -1.959963984540), (1e-10, -6.361340902404)]
)
def test_normal_quantile_matches_the_tables(p: float, expected: float) -> None:
    assert normal_quantile(p) == pytest.approx(expected, abs=1e-9)


def test_quantile_with_invalid_arguments_is_refused() -> None:
    with pytest.raises(ValueError, match="degree"):
        t_quantile(0)
    with pytest.raises(ValueError, match="confidence"):
        t_quantile(3, 1.0)
    with pytest.raises(ValueError, match="probability"):
        normal_quantile(0.0)
