from __future__ import annotations

import pytest
from textual.screen import ModalScreen

from tests.tui.counting import bytes_of, sent_by
from tests.tui.idle import settle
from tests.tui.widgets.stage import Floor, QuietFloor, press, staged
from tuibench.present.table import Column
from tuibench.tui.widgets.record_table import Line, RecordTable


@pytest.mark.parametrize(("floor", "least", "most"), [(Floor, 2000, 9000), (QuietFloor, 100, 600)])
async def test_quiet_screen_focus_change_sends_two_lines(floor: type[Floor], least: int, most: int) -> None:
    tables = [RecordTable(classes="rest") for _ in range(2)]
    async with staged(*tables, floor=floor) as (stage, pilot):
        for table in tables:
            table.show_lines([Column("a", "A", 70)], [Line(str(n), ("text " * 14,)) for n in range(10)])
        tables[0].focus()
        await settle(pilot)
        assert least <= await bytes_of(pilot, lambda: press(pilot, "tab")) <= most
        assert stage.focused is tables[1]


class Veil(ModalScreen[None]):
    """A transparent modal screen."""

    CSS = "Veil { background: transparent; }"


async def test_quiet_screen_while_covered_sends_nothing() -> None:
    table = RecordTable(classes="rest")
    async with staged(table, floor=QuietFloor) as (stage, pilot):

        def change_below(text: str) -> None:
            table.show_lines([Column("a", "A", 70)], [Line(str(n), (text,)) for n in range(10)])
            below.refresh()
            for widget in (table, below):
                widget.check_idle()

        async def sent_below(text: str) -> int:
            change_below(text)
            await settle(pilot)
            return await bytes_of(pilot, below._on_timer_update)

        below = stage.screen
        await stage.push_screen(QuietFloor(()))
        await settle(pilot)
        assert await sent_below("covered") == 0
        assert "covered" in await sent_by(pilot, stage.pop_screen)
        await stage.push_screen(Veil())
        await settle(pilot)
        assert await sent_below("seen through") > 100
