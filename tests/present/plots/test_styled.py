from __future__ import annotations

from tuibench.core.text import width_of
from tuibench.present.plots.drawing import filled, joined, message_rows, text_of


def test_neighbours_of_one_style_are_joined() -> None:
    assert joined([("a", "dim"), ("", "mark"), ("b", "dim"), ("c", "mark")]) == (("ab", "dim"), ("c", "mark"))


def test_row_is_filled_or_cut_to_its_width() -> None:
    assert filled([("ab", "dim")], 4) == (("ab", "dim"), ("  ", ""))
    assert filled([("abc", "dim"), ("def", "mark"), ("g", "dim")], 5) == (("abc", "dim"), ("d…", "mark"))
    assert sum(width_of(text) for text, _ in filled([("日本語", "dim")], 4)) == 4


def test_message_takes_the_lines_it_needs() -> None:
    assert text_of(message_rows("no layer has a value", 8, 5)) == "\nno layer\n has a\n value\n"


def test_message_without_enough_room_ends_with_an_ellipsis() -> None:
    assert text_of(message_rows("no layer has a value", 8, 1)) == "no laye…"
    assert text_of(message_rows("no layer has a value", 8, 2)) == "no layer\nhas a v…"
    assert text_of(message_rows("no layer has a value", 8, 2, ascii_only=True)) == "no layer\nhas a v~"
    assert message_rows("no layer has a value", 8, 0) == ()


def test_message_of_wide_characters_is_wrapped_by_columns() -> None:
    rows = message_rows("層のどれにも値がありません。もう一度", 12, 3)
    assert text_of(rows) == "層のどれにも\n値がありませ\nん。もう一度"
    assert {sum(width_of(text) for text, _ in row) for row in message_rows("層のどれにも値が", 7, 2)} == {7}


def test_text_has_no_trailing_blanks() -> None:
    assert text_of(message_rows("none", 10, 3)) == "\n   none\n"
