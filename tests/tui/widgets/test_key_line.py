from __future__ import annotations

from tests.tui.counting import bytes_of
from tests.tui.idle import settle
from tests.tui.widgets.stage import resize, seen, staged
from tuibench.tui.widgets.title_line import KeyLine, fill_rows

PAIRS = [("enter", "open"), ("n", "new"), ("r", "re-run"), ("R", "re-run+edit"), ("c", "compare"), ("d", "remove")]


async def test_key_line_fills_two_rows_by_priority() -> None:
    line = KeyLine(PAIRS, [("?", "help")])
    async with staged(line, size=(40, 4)) as (stage, pilot):
        assert seen(stage) == [" enter open  n new  r re-run", " R re-run+edit  c compare  ? help"]
        await resize(pilot, 200, 4)
        assert seen(stage)[0].endswith("d remove  ? help")
        assert await bytes_of(pilot, lambda: line.show(PAIRS, [("?", "help")])) == 0
        line.show(PAIRS[:1])
        await settle(pilot)
        assert seen(stage) == [" enter open"]


def test_key_line_keeps_last_pairs_when_narrow() -> None:
    rows = fill_rows(PAIRS, [("?", "help")], 9, 1)
    assert rows == [((" ?", "key"), (" help ", "dim"))]
    assert fill_rows(PAIRS, [], 80, 0) == []
    assert fill_rows([], [], 80, 2) == [(), ()]


def test_key_line_with_one_row_of_pairs_leaves_second_empty() -> None:
    first, second = fill_rows(PAIRS[:2], [("?", "help")], 80, 2)
    assert first[-2:] == ((" ?", "key"), (" help ", "dim")) and second == ()


def test_key_line_never_splits_pair() -> None:
    for width in range(10, 90):
        rows = fill_rows(PAIRS, [("?", "help")], width, 2)
        words = {text.strip() for row in rows for text, _ in row}
        assert all((key in words) == (word in words) for key, word in [*PAIRS, ("?", "help")])
        assert all(sum(len(text) for text, _ in row) <= width for row in rows)
