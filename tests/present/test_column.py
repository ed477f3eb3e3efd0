from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tuibench.present.table import Column, lay_out, width_of

EXTRA = (Column("extra", rank=1), Column("more", rank=2))
COLUMNS = (Column("id"), Column("n", right=True), Column("name", least=6), *EXTRA)


def test_columns_are_aligned_without_trailing_blanks() -> None:
    rows = [("a", "1", "x", "p", "q"), ("bcd", "22", "yy", "", "")]
    assert lay_out(COLUMNS, rows, None) == [
        "id    n  name  extra  more",
        "a     1  x     p      q",
        "bcd  22  yy",
    ]


def test_least_important_column_is_dropped_before_names_are_cut() -> None:
    rows = [("a", "1", "a long name it is", "eeeee", "mmmm")]
    assert lay_out(COLUMNS, rows, 34)[1] == "a   1  a long name i…  eeeee  mmmm"
    assert lay_out(COLUMNS, rows, 24)[1] == "a   1  a long na…  eeeee"
    assert lay_out(COLUMNS, rows, 14)[1] == "a   1  a long…"
    # A column that must not be cut stays, even if it is too wide.
    assert lay_out(COLUMNS, rows, 3)[1] == "a   1  a lon…"


def test_empty_column_takes_no_space() -> None:
    assert lay_out(COLUMNS, [("a", "1", "x", "", "m")], None)[0] == "id  n  name  more"
    assert lay_out((Column("id"),), [], 80) == ["id"]


WORDS = st.text(st.sampled_from("abc µ宽é"), max_size=30)


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=5), st.integers(20, 100))
def test_flexible_columns_fit_the_requested_width(rows: list[tuple[str, ...]], width: int) -> None:
    columns = (Column("one", least=4), Column("two", right=True, least=4), Column("three", rank=1))
    lines = lay_out(columns, rows, width)
    assert len(lines) == len(rows) + 1
    assert max(map(width_of, lines)) <= width


def test_name_with_distinct_ends_is_cut_in_the_middle() -> None:
    columns = (Column("name", least=6, middle=True), Column("n", right=True))
    assert lay_out(columns, [("layer.one.weight", "1")], 12) == ["name       n", "laye…ight  1"]
