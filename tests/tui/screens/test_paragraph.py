from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tuibench.tui.screens.paragraph import Paragraph, lay_out
from tuibench.tui.widgets.row import shown

WORDS = st.lists(st.text("abcdefgh", min_size=1, max_size=9), max_size=20).map(" ".join)


def texts(paragraphs: list[Paragraph], width: int) -> list[str]:
    return ["".join(text for text, _ in shown(line)).rstrip() for line in lay_out(paragraphs, width)]


def test_paragraph_continuation_lines_are_indented() -> None:
    assert texts([Paragraph("one two three four five six", "Label", 8)], 30) == [
        "Label   one two three four",
        "        five six",
    ]


def test_paragraph_long_label_is_above_text() -> None:
    assert texts([Paragraph("one two three four five", "A long label", 8)], 28) == [
        "A long label",
        "        one two three four",
        "        five",
    ]
    assert texts([Paragraph("one two three four", "Label", 8)], 20) == ["Label", "  one two three four"]


def test_paragraph_without_text_is_empty_line() -> None:
    assert texts([Paragraph("a"), Paragraph(), Paragraph("b")], 40) == ["a", "", "b"]


@given(WORDS, st.sampled_from(["", "x", "Label"]), st.integers(0, 12), st.integers(1, 90))
def test_paragraph_keeps_all_words_within_width(text: str, label: str, indent: int, width: int) -> None:
    lines = texts([Paragraph(text, label, indent)], width)
    assert "".join("".join(lines).split()) == label + "".join(text.split())
    if width >= 12 + 2:
        assert max(map(len, lines)) <= width
