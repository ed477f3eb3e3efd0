from __future__ import annotations

import pytest

from tests.tui.counting import bytes_of
from tests.tui.idle import settle
from tests.tui.widgets.stage import resize, seen, staged
from tuibench.tui.widgets.title_line import TabLine

NAMES = ("Base", "Cores", "Batch", "Shape", "Compare", "Env", "Log")


async def test_active_tab_is_in_brackets() -> None:
    tabs = TabLine(NAMES, 1)
    async with staged(tabs) as (stage, pilot):
        assert seen(stage) == [" 1 Base [2 Cores] 3 Batch  4 Shape  5 Compare  6 Env  7 Log".replace("  ", " ")]
        tabs.show(NAMES, 0, disabled=(3,), right="newest first")
        await settle(pilot)
        assert seen(stage)[0].startswith("[1 Base] 2 Cores 3 Batch")
        assert seen(stage)[0].endswith("newest first")
        assert await bytes_of(pilot, lambda: tabs.show(NAMES, 0, disabled=(3,), right="newest first")) == 0


@pytest.mark.parametrize("active", range(len(NAMES)))
async def test_narrow_tab_line_keeps_active_tab(active: int) -> None:
    async with staged(TabLine(NAMES, active)) as (stage, pilot):
        await resize(pilot, 20, 5)
        assert f"[{active + 1} {NAMES[active]}]" in seen(stage)[0]
