from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.tui.widgets.stage import HOSTILE
from tuibench.core.text import cut, fit, skip, width_of
from tuibench.present.plots.drawing import Row, filled, row_width, spread, squeezed, wrapped
from tuibench.tui.widgets.painted import changed_end, safe, shown

TEXTS = st.text(max_size=30).map(safe)
ROWS = st.lists(st.tuples(TEXTS, st.sampled_from(["", "bad", "dim"])), max_size=5).map(tuple)
WIDTHS = st.integers(0, 60)


def text_of(row: Row) -> str:
    return "".join(text for text, _ in row)


@pytest.mark.parametrize("text", HOSTILE)
def test_row_text_contains_no_control_characters(text: str) -> None:
    for line in (text, (text, "bad"), [(text, "bad"), ("x", "")]):
        shown_text = text_of(shown(line))
        assert all(char.isprintable() or char == "\u200d" for char in shown_text)


def test_ambiguous_width_characters_are_separated() -> None:
    assert safe("👩\u200d👧 ✌\ufe0f \u200d") == "👩👧 ✌ "
    assert safe("x" * 30, 10) == "x" * 9 + "…"


def test_row_accepts_text_span_or_spans() -> None:
    assert shown("a") == (("a", ""),)
    assert shown(("a", "bad")) == (("a", "bad"),)
    assert shown((("a", "bad"), ("b", ""))) == (("a", "bad"), ("b", ""))
    assert shown([("a", "bad")]) == (("a", "bad"),)
    assert shown(()) == ()


def test_text_is_cut_with_ellipsis_and_padded_on_chosen_side() -> None:
    assert fit("abc", 5) == "abc  "
    assert fit("abc", 5, right=True) == "  abc"
    assert fit("abcdef", 4) == "abc…"
    assert fit("abcdef", 4, "~") == "abc~"
    assert fit("漢字漢", 4) == "漢… "
    assert cut("ab  cd", 4) == "ab…"
    assert cut("abc", 0) == ""
    assert cut("abc", 1) == "…"


def test_every_printable_character_is_as_wide_as_textual_counts_it() -> None:
    # Unicode assigns characters up to the third plane and some tags; the rest is sampled.
    codes = (*range(32, 0x32400), *range(0x32400, 0x110000, 101), *range(0xE0000, 0xE0200))
    texts = (safe(chr(code)) for code in codes)
    assert [text for text in texts if width_of(text) != cell_len(text)] == []


@given(ROWS, WIDTHS)
def test_rows_are_padded_and_squeezed_to_width(row: Row, width: int) -> None:
    assert row_width(filled(row, width)) == width
    assert row_width(squeezed(row, width)) <= width
    styles = [style for _, style in filled(row, width)]
    assert all(a != b for a, b in pairwise(styles))


@given(ROWS, ROWS, WIDTHS)
def test_line_parts_are_aligned_to_both_ends(left: Row, right: Row, width: int) -> None:
    row = spread(left, right, width)
    assert row_width(row) == width
    if row_width(left) + 1 + row_width(right) <= width:
        assert text_of(row).startswith(text_of(left))
        assert text_of(row).endswith(text_of(right))


def test_line_too_long_right_part_keeps_at_most_half() -> None:
    row = spread((("l" * 30, ""),), (("r" * 30, ""),), 21)
    assert text_of(row) == "l" * 9 + "… " + "r" * 9 + "…"
    row = spread((("l" * 30, ""),), (("r" * 5, ""),), 21)
    assert text_of(row) == "l" * 14 + "… " + "r" * 5


def test_changed_range_ends_after_last_difference() -> None:
    old, new = (("abc", ""), ("def", "bad")), (("aXc", ""), ("def", "bad"))
    assert changed_end(old, old, 6) == 0
    assert changed_end(old, new, 6) == 2
    assert changed_end(old, (("abcdef", ""),), 6) == 6
    assert changed_end((("e\u0301b", ""),), (("a\u0301b", ""),), 2) == 2


@given(ROWS, ROWS)
def test_partially_sent_line_equals_new_line(old: Row, new: Row) -> None:
    was, now = filled(old, 40), filled(new, 40)
    end = changed_end(was, now, 40)
    cells = [[(char, style) for text, style in row for char in text] for row in (was, now)]
    if end < 40:
        assert cells[0][end:] == cells[1][end:]
    if 0 < end < 40:
        assert cells[0][end - 1] != cells[1][end - 1]


@given(st.text(max_size=40).map(safe), st.integers(0, 50))
def test_skipped_columns_are_removed_exactly(text: str, columns: int) -> None:
    assert cell_len(skip(text, columns)) == max(cell_len(text) - columns, 0)


def test_half_of_wide_character_becomes_blank() -> None:
    assert skip("漢字", 1) == " 字"
    assert skip("漢字", 2) == "字"
    assert skip("ab", 5) == ""


def test_long_lines_wrap_at_blanks_and_are_indented() -> None:
    rows = wrapped((("  one two three", "bad"), (" four", "")), 10)
    assert [text_of(row) for row in rows] == ["  one two", "  three", "  four"]
    assert rows[0][0] == ("  one ", "bad")
    assert [text_of(row) for row in wrapped((("abcdefgh", ""),), 3)] == ["abc", "def", "gh"]
    assert wrapped((), 5) == [()]


@pytest.mark.parametrize("width", range(20, 60))
def test_line_of_exact_width_is_not_cut(width: int) -> None:
    row = (("19:14:39  ", "dim"), ("52 nodes (21 Conv, 19 Relu, 9 Add, 1 GlobalAveragePool) and more ", ""))
    painted = "".join(text_of(filled(part, width)) for part in wrapped(row, width))
    assert painted.replace(" ", "") == text_of(row).replace(" ", "")


@given(ROWS, st.integers(2, 60))
def test_wrapped_lines_fit_and_lose_only_blanks(row: Row, width: int) -> None:
    rows = wrapped(row, width)
    assert all(cell_len(text_of(part)) <= width for part in rows)
    assert "".join(map(text_of, rows)).replace(" ", "") == text_of(row).replace(" ", "")
