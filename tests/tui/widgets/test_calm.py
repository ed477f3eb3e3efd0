from __future__ import annotations

import pytest

from tests.tui.counting import bytes_of
from tests.tui.rest import settle
from tests.tui.widgets.stage import CalmFloor, Floor, press, staged
from tuibench.tui.widgets.record_table import Column, Line, RecordTable


@pytest.mark.parametrize(("floor", "least", "most"), [(Floor, 2000, 9000), (CalmFloor, 100, 600)])
async def test_a_calm_screen_gives_the_focus_away_for_the_bytes_of_two_lines(
    floor: type[Floor], least: int, most: int
) -> None:
    tables = [RecordTable(classes="rest") for _ in range(2)]
    async with staged(*tables, floor=floor) as (stage, pilot):
        for table in tables:
            table.show_lines([Column("a", "A", 70)], [Line(str(n), ("text " * 14,)) for n in range(10)])
        tables[0].focus()
        await settle(pilot)
        assert least <= await bytes_of(pilot, lambda: press(pilot, "tab")) <= most
        assert stage.focused is tables[1]
