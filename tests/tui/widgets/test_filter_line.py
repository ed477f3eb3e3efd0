from __future__ import annotations

from tests.tui.idle import settle
from tests.tui.widgets.stage import press, seen, staged, told
from tuibench.present.table import Column
from tuibench.tui.widgets.field import FilterLine
from tuibench.tui.widgets.record_table import Line, RecordTable


async def test_filter_line_is_visible_in_use_and_posts_every_change() -> None:
    table, line = RecordTable(classes="rest"), FilterLine()
    table.show_lines([Column("a", "A", 8)], [Line("x", ("x",))])
    async with staged(table, line, size=(40, 6)) as (stage, pilot):
        table.focus()
        await settle(pilot)
        line.open_with("bert")
        await settle(pilot)
        assert seen(stage)[-1].startswith(">filter [bert")
        await press(pilot, "space", "q")
        assert told(stage, FilterLine.Typed)[-1].text == "bert q"
        await press(pilot, "enter")
        assert stage.focused is table
        assert "filter" not in seen(stage)[-1]
        assert told(stage, FilterLine.Typed)[-1].text == "bert q"
        line.open_with("bert q")
        await press(pilot, "escape")
        assert told(stage, FilterLine.Typed)[-1].text == ""
        assert stage.focused is table
        assert stage.floor.passed == []


async def test_filter_line_down_moves_to_list() -> None:
    table, line = RecordTable(classes="rest"), FilterLine()
    async with staged(table, line) as (stage, pilot):
        table.focus()
        await settle(pilot)
        line.open_with("")
        await press(pilot, "a", "down")
        assert stage.focused is table
        assert told(stage, FilterLine.Typed)[-1].text == "a"
