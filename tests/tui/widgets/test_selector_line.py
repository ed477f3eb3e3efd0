from __future__ import annotations

from tests.tui.counting import bytes_of
from tests.tui.idle import settle
from tests.tui.widgets.stage import resize, seen, staged
from tuibench.tui.widgets.title_line import Selector, SelectorLine

BATCH = Selector("batch", ("1", "8", "32"), 2, "←→", spread=True)
METRIC = Selector("metric", ("items/s", "ms"), 0, "m")
SIDE = Selector("side", ("ort",), 0, "f")


async def test_each_selector_shows_choices_and_key() -> None:
    line = SelectorLine([BATCH, METRIC, SIDE])
    async with staged(line) as (stage, pilot):
        assert seen(stage) == [" batch ‹ 1 8 [32] › ←→   metric [items/s] m   side [ort]"]
        assert await bytes_of(pilot, lambda: line.show([BATCH, METRIC, SIDE])) == 0
        line.show([Selector("batch", ("1", "8", "32"), 0, "←→", spread=True)])
        await settle(pilot)
        assert seen(stage) == [" batch ‹ [1] 8 32 › ←→"]


async def test_choices_farthest_from_selection_are_dropped_first() -> None:
    many = Selector("batch", tuple(str(2**n) for n in range(12)), 6, "keys", spread=True)
    line = SelectorLine([many, METRIC])
    async with staged(line, size=(55, 4)) as (stage, pilot):
        assert seen(stage) == [" batch … 16 32 [64] 128 256 … keys   metric [items/s] m"]
        await resize(pilot, 30, 4)
        assert "[64]" in seen(stage)[0]
        await resize(pilot, 12, 4)
        assert seen(stage)[0].startswith(" batch")


async def test_long_choice_is_cut_before_text_on_its_right() -> None:
    line = SelectorLine([Selector("cell", ("openvino, async, 16 cores", ""), 0, "keys"), METRIC])
    async with staged(line, size=(60, 4)) as (stage, pilot):
        assert seen(stage) == [" cell [openvino, async, 16 cores] keys   metric [items/s] m"]
        await resize(pilot, 50, 4)
        assert seen(stage) == [" cell [openvino, async…] keys   metric [items/s] m"]
        await resize(pilot, 30, 4)
        assert seen(stage)[0].startswith(" cell [openvin…] keys   metri")
