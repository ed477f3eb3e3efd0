from __future__ import annotations

from tuibench.core.units import count_of, ms, percent, scaled, short, size, table_ms


def test_noun_agrees_with_its_number() -> None:
    assert [count_of(n, "core") for n in (0, 1, 2)] == ["0 cores", "1 core", "2 cores"]


def test_shares_have_a_decimal_below_ten_percent() -> None:
    assert [percent(f) for f in (0, 0.007, 0.25)] == ["0.0 %", "0.7 %", "25 %"]


def test_rounding_up_adds_no_digit() -> None:
    assert [short(v) for v in (0.99999, 9.999, 0.0123456, 1234.5)] == ["1.00", "10.0", "0.0123", "1234"]
    assert [ms(v) for v in (0.9999999, 0.05, 20_000)] == ["1.00 ms", "50.0 µs", "20.0 s"]


def test_large_counts_are_scaled_and_small_ones_are_not() -> None:
    counts = (0, 212, 61_100, 999_499, 999_600, 4_000_000, 1_200_000_000, 5e12)
    assert [scaled(n) for n in counts] == ["0", "212", "61.1 k", "999 k", "1.00 M", "4.00 M", "1.20 G", "5.00 T"]


def test_time_in_a_column_fits_into_it() -> None:
    values = (12345.6, 1.234, 0.0353, 0.003234, 0.001, 0.00032351, 0.0000004, 0.0)
    assert [table_ms(v) for v in values] == [
        "12346", "1.23", "0.0353", "0.00323", "0.00100", "0.00032", "0.00000", "0"
    ]  # fmt: skip
    assert max(len(table_ms(v)) for v in values) == 7


def test_units_extend_to_the_largest_sizes() -> None:
    assert [scaled(36893488147e9), scaled(1e25)] == ["36.9 E", "10000000 E"]
    assert [size(5e12), size(461168602e12)] == ["5.00 TB", "461 EB"]
