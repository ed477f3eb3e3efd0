from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tuibench.core.text import width_of
from tuibench.present.table import Column, lay_out, table_lines

COLUMNS: tuple[Column[str], ...] = (
    Column("id", "ID", 4),
    Column("age", "AGE", 3, rank=2),
    Column("name", "NAME", 10, grow=True, wide=30),
    Column("size", "SIZE", 5, rank=2),
    Column("grade", "", 1, rank=1),
)


def shell(title: str, at: int, **more: Any) -> Column[tuple[str, ...]]:
    return Column(title, title, text=lambda row: row[at], **more)


def widths(room: int, wide: bool = False) -> dict[str, int]:
    return {COLUMNS[n].key: width for n, width in lay_out(COLUMNS, room, wide).shown}


def test_columns_fit_and_flexible_one_gets_spare_width() -> None:
    assert widths(27) == {"id": 4, "age": 3, "name": 10, "size": 5, "grade": 1}
    assert widths(40)["name"] == 23
    assert lay_out(COLUMNS, 27).dropped == ()


def test_columns_drop_highest_rank_then_rightmost() -> None:
    assert lay_out(COLUMNS, 26).dropped == ("SIZE",)
    assert lay_out(COLUMNS, 20).dropped == ("AGE", "SIZE")
    assert lay_out(COLUMNS, 16).dropped == ("AGE", "SIZE", "grade")
    assert lay_out(COLUMNS, 14).dropped == ("AGE", "NAME", "SIZE", "grade")


def test_columns_give_dropped_width_to_flexible_one() -> None:
    assert widths(26) == {"id": 4, "age": 3, "name": 15, "grade": 1}


def test_last_column_stays_and_is_cut() -> None:
    assert widths(2) == {"id": 2}
    assert widths(0) == {"id": 0}
    assert widths(-5) == {"id": 0}


def test_wide_mode_keeps_all_columns_at_wide_width() -> None:
    layout = lay_out(COLUMNS, 10, wide=True)
    assert layout.dropped == ()
    assert layout.width == 4 + 3 + 30 + 5 + 1 + 4


def test_wide_column_leaves_room_for_columns_behind_it() -> None:
    columns: tuple[Column[str], ...] = (
        Column("number", "#", 5, frozen=True),
        Column("op", "op", 12, wide=24, part=6, frozen=True),
        Column("weight", "weight", 14, wide=48, part=3),
        *(Column(str(n), str(n), 7) for n in range(8)),
    )
    assert [width for _, width in lay_out(columns, 78, wide=True).shown[:3]] == [5, 13, 26]
    assert [width for _, width in lay_out(columns, 200, wide=True).shown[:3]] == [5, 24, 48]
    layout = lay_out(columns, 78, wide=True)
    assert layout.frozen(columns, 78) == 2
    assert layout.frozen(columns, 38) == 0, "what is scrolled would have no room"


def test_empty_columns_have_no_width() -> None:
    assert lay_out((), 10).width == 0


@given(
    st.lists(
        st.builds(Column, st.just("k"), st.just("T"), st.integers(0, 30), grow=st.booleans(), rank=st.integers(0, 3))
    ),
    st.integers(0, 200),
)
def test_visible_columns_fit_width(columns: list[Column[str]], room: int) -> None:
    layout = lay_out(columns, room)
    assert layout.width <= room
    assert len(layout.shown) + len(layout.dropped) == len(columns)
    assert [n for n, _ in layout.shown] == sorted(n for n, _ in layout.shown)


EXTRA = (shell("extra", 3, rank=1), shell("more", 4, rank=2))
SHELL = (shell("id", 0), shell("n", 1, right=True), shell("name", 2, least=6), *EXTRA)


def test_shell_columns_are_aligned_without_trailing_blanks() -> None:
    rows = [("a", "1", "x", "p", "q"), ("bcd", "22", "yy", "", "")]
    assert table_lines(SHELL, rows, None) == ["id    n  name  extra  more", "a     1  x     p      q", "bcd  22  yy"]


def test_shell_drops_least_important_column_before_names_are_cut() -> None:
    rows = [("a", "1", "a long name it is", "eeeee", "mmmm")]
    assert table_lines(SHELL, rows, 34)[1] == "a   1  a long name i…  eeeee  mmmm"
    assert table_lines(SHELL, rows, 24)[1] == "a   1  a long na…  eeeee"
    assert table_lines(SHELL, rows, 14)[1] == "a   1  a long…"
    # A column that must not be cut stays, even if it is too wide.
    assert table_lines(SHELL, rows, 3)[1] == "a   1  a lon…"


def test_empty_shell_column_takes_no_space() -> None:
    assert table_lines(SHELL, [("a", "1", "x", "", "m")], None)[0] == "id  n  name  more"
    assert table_lines(SHELL[:1], [], 80) == ["id"]


WORDS = st.text(st.sampled_from("abc µ宽é"), max_size=30)


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=5), st.integers(20, 100))
def test_flexible_shell_columns_fit_the_requested_width(rows: list[tuple[str, ...]], width: int) -> None:
    columns = (shell("one", 0, least=4), shell("two", 1, right=True, least=4), shell("three", 2, rank=1))
    lines = table_lines(columns, rows, width)
    assert len(lines) == len(rows) + 1
    assert max(map(width_of, lines)) <= width


def test_name_with_distinct_ends_is_cut_in_the_middle() -> None:
    columns = (shell("name", 0, least=6, middle=True), shell("n", 1, right=True))
    assert table_lines(columns, [("layer.one.weight", "1")], 12) == ["name       n", "laye…ight  1"]
