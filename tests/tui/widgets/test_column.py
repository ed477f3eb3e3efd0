from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tuibench.tui.widgets.column import Column, lay_out

COLUMNS = (
    Column("id", "ID", 4),
    Column("age", "AGE", 3, rank=2),
    Column("name", "NAME", 10, grow=True, wide=30),
    Column("size", "SIZE", 5, rank=2),
    Column("grade", "", 1, rank=1),
)


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
    columns = (
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
    st.lists(st.builds(Column, st.just("k"), st.just("T"), st.integers(0, 30), st.booleans(), rank=st.integers(0, 3))),
    st.integers(0, 200),
)
def test_visible_columns_fit_width(columns: list[Column], room: int) -> None:
    layout = lay_out(columns, room)
    assert layout.width <= room
    assert len(layout.shown) + len(layout.dropped) == len(columns)
    assert [n for n, _ in layout.shown] == sorted(n for n, _ in layout.shown)
