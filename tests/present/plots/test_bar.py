from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tuibench.core.text import show, width_of
from tuibench.present.plots.depth import draw_bars, progress_bar
from tuibench.present.plots.drawing import text_of

BARS = [("Conv", 82.0, "82 %"), ("Relu", 41.0, "41 %"), ("Add", 0.0, "0 %")]


def test_greatest_bar_is_full_and_others_are_in_proportion() -> None:
    assert text_of(draw_bars(BARS, 30)).splitlines() == [
        "Conv ████████████████████ 82 %",
        "Relu ██████████           41 %",
        "Add                        0 %",
    ]
    assert text_of(draw_bars(BARS[:2], 18, ascii_only=True)) == "Conv ######## 82 %\nRelu ####     41 %"


def test_bar_ends_in_parts_of_a_character() -> None:
    assert "▌" in text_of(draw_bars([("a", 2, ""), ("b", 1, "")], 10))


@given(
    st.lists(st.tuples(st.text(max_size=20).map(show), st.floats(), st.text(max_size=20).map(show)), max_size=8),
    st.integers(1, 60),
    st.booleans(),
)
def test_bars_of_any_values_have_the_requested_width(
    bars: list[tuple[str, float, str]], width: int, ascii_only: bool
) -> None:
    rows = draw_bars(bars, width, ascii_only)
    assert len(rows) == len(bars)
    assert {sum(width_of(text) for text, _ in row) for row in rows} <= {width}


def test_progress_bar_is_full_only_when_all_is_done() -> None:
    assert progress_bar(9, 15, 10) == "██████░░░░"
    assert progress_bar(999, 1000, 10) == "█████████░" and progress_bar(1000, 1000, 10) == "█" * 10
    assert progress_bar(0, 0, 4) == "░░░░" and progress_bar(7, 5, 4, ascii_only=True) == "####"
    assert progress_bar(1, 2, 0) == ""
