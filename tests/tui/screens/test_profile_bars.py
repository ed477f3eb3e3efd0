"""Scrolled bars: cursor and scroll position when other bars are selected."""

from __future__ import annotations

from tests.tui.frame import rows
from tests.tui.idle import settle
from tests.tui.widgets.stage import staged
from tuibench.tui.screens.profile.pane import BarList

MANY = [(f"op{n}", float(40 - n), f"{n} ms") for n in range(40)]


async def test_bars_keep_cursor_and_room_after_new_choice() -> None:
    bars = BarList(id="bars")
    async with staged(bars, size=(60, 10)) as (stage, pilot):
        # bars unmoved cursor stays at top after new choice
        bars.show_bars(MANY)
        await settle(pilot)
        bars.show_bars(MANY[::-1])
        await settle(pilot)
        assert bars.label == "op39" and "op39" in rows(stage)[0]
        # bars moved cursor stays with bar after new choice
        bars.show_bars(MANY)
        bars.move(2)
        bars.show_bars(MANY[::-1])
        await settle(pilot)
        assert bars.label == "op2" and any("op2 " in row for row in rows(stage))
        # bars with room hide nothing above
        bars.show_bars(MANY)
        bars.move_to_end(True)
        bars.show_bars(MANY[-5:])
        await settle(pilot)
        assert bars.label == "op39" and "op35" in rows(stage)[0]
