from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tuibench.tui.widgets.record_table import Place

KEYS = st.lists(st.sampled_from("abcdefghijklmnop"), unique=True, max_size=16).map(tuple)


def place_on(keys: str, key: str, page: int = 4) -> Place:
    place = Place()
    place.take(tuple(keys), page)
    place.move(keys.index(key), page)
    return place


def test_cursor_of_empty_list_selects_nothing() -> None:
    place = Place()
    assert place.key is None
    place.move(3, 5)
    place.move(-3, 5)
    assert (place.key, place.cursor, place.top) == (None, 0, 0)


def test_cursor_stays_with_record_through_list_changes() -> None:
    place = place_on("abcdef", "d")
    for keys in ("xxabcdef"[2:], "zyabcdef", "fedcba", "d", "qrstd"):
        place.take(tuple(keys), 4)
        assert place.key == "d"


def test_cursor_of_removed_record_moves_to_next_or_previous() -> None:
    place = place_on("abcdef", "d")
    place.take(tuple("abcef"), 4)
    assert place.key == "e"
    place.take(tuple("abc"), 4)
    assert place.key == "c"
    place.take(tuple("xyz"), 4)
    assert place.key == "x"
    place.take((), 4)
    assert place.key is None


def test_records_above_scroll_first_page_only() -> None:
    place = place_on("abcdefgh", "b")
    place.take(tuple("12abcdefgh"), 4)
    assert (place.key, place.top) == ("b", 0)
    place = place_on("abcdefgh", "g")
    seen = place.cursor - place.top
    place.take(tuple("12abcdefgh"), 4)
    assert (place.key, place.cursor - place.top) == ("g", seen)


def test_cursor_step_out_of_view_scrolls_half_page() -> None:
    place = place_on("abcdefghijklmnop", "a", page=6)
    tops = []
    for _ in range(8):
        place.move(1, 6)
        tops.append(place.top)
    assert tops == [0, 0, 0, 0, 0, 3, 3, 3]
    for _ in range(6):
        place.move(-1, 6)
    assert (place.cursor, place.top) == (2, 0)


def test_cursor_jump_scrolls_by_same_distance() -> None:
    place = place_on("abcdefghijklmnop", "b", page=4)
    place.move(3, 4)
    assert (place.key, place.top) == ("e", 3)
    place.move(-16, 4)
    assert (place.key, place.top) == ("a", 0)
    place.move(16, 4)
    assert (place.key, place.top) == ("p", 12)


@given(KEYS, st.lists(st.one_of(st.integers(-20, 20), KEYS), max_size=12), st.integers(1, 8))
def test_cursor_is_always_visible(keys: tuple[str, ...], moves: list[int | tuple[str, ...]], page: int) -> None:
    place = Place()
    place.take(keys, page)
    held: set[str | None] = set()
    """Keys that had the cursor; one that was removed may get it again."""
    for move in moves:
        before = place.key
        held.add(before)
        if isinstance(move, int):
            place.move(move, page)
        else:
            place.take(move, page)
            assert place.key == before or before not in move or place.key in held
        count = len(place.keys)
        assert 0 <= place.cursor < max(count, 1)
        assert place.top <= place.cursor < place.top + page
        assert 0 <= place.top <= max(count - page, 0)


def test_cursor_returns_to_a_record_that_comes_back_before_the_next_move() -> None:
    place = place_on("abcdef", "c")
    for keys, key in (("abdef", "d"), ("abcdef", "c"), ("abdef", "d")):
        place.take(tuple(keys), 4)
        assert place.key == key
    place.move(1, 4)
    place.take(tuple("abcdef"), 4)
    assert place.key == "e"


def test_cursor_stays_where_a_filter_put_it() -> None:
    place = place_on("abcdef", "c")
    for keys in ("ef", "abcdef"):
        place.take(tuple(keys), 4)
        assert place.key == "e"
