"""The tabs of a benchmark as somebody has looked at them."""

from __future__ import annotations

import pytest

from tests.tui.frame import check_frame, frame
from tests.tui.screens.detail_stage import detail
from tests.tui.screens.test_detail_scaling import shape_run
from tests.tui.stock import sweep
from tuibench.tui.terminal import Display

OLD = sweep(2, 7200, engines=("onnxruntime", "openvino"))
NEW = sweep(1, 3600, engines=("onnxruntime", "openvino"), faster=1.06)
TABS = ("baseline", "cores", "batches", "comparison", "log", "environment")
WAYS = (((80, 24), False, "80x24"), ((120, 36), False, "120x36"), ((80, 24), True, "ascii"))
MOVES: dict[str, tuple[str, ...]] = {"baseline": ()}
"""Keys before one looks, where it is not two lines down."""
NAME, NOTE = "after AMX fix", "new kernel"


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_tab_is_as_it_was_looked_at(tab: str, size: tuple[int, int]) -> None:
    async with detail(NEW, OLD, size=size, tab=tab, name=NAME, note=NOTE, rerun_of=OLD.id) as seen:
        await seen.press(*MOVES.get(tab, ("down", "down")))
        check_frame(seen.app, f"detail-{tab}-{size[0]}x{size[1]}")


@pytest.mark.parametrize("tab", TABS)
async def test_a_tab_in_ascii(tab: str) -> None:
    async with detail(
        NEW, OLD, tab=tab, display=Display(ascii_only=True), name=NAME, note=NOTE, rerun_of=OLD.id
    ) as seen:
        await seen.press(*MOVES.get(tab, ("down", "down")))
        check_frame(seen.app, f"detail-{tab}-ascii")
        assert frame(seen.app).isascii()


@pytest.mark.parametrize("tab", ["histogram", "samples"])
@pytest.mark.parametrize(("size", "ascii_only", "name"), WAYS)
async def test_a_figure_of_base(tab: str, size: tuple[int, int], ascii_only: bool, name: str) -> None:
    async with detail(NEW, OLD, size=size, display=Display(ascii_only=ascii_only), name=NAME, note=NOTE) as seen:
        await seen.press(*["h"] * (1 if tab == "histogram" else 2))
        check_frame(seen.app, f"detail-{tab}-{name}")
        assert not ascii_only or frame(seen.app).isascii()


@pytest.mark.parametrize(("size", "ascii_only", "name"), WAYS)
async def test_the_tab_of_shapes(size: tuple[int, int], ascii_only: bool, name: str) -> None:
    async with detail(shape_run(), size=size, tab="shapes", display=Display(ascii_only=ascii_only)) as seen:
        await seen.press("down")
        check_frame(seen.app, f"detail-shapes-{name}")
        assert not ascii_only or frame(seen.app).isascii()


async def test_one_side_with_the_law_it_follows() -> None:
    async with detail(sweep(4, 3600), tab="cores") as seen:
        await seen.press("right", "right", "G")
        check_frame(seen.app, "detail-one-side-80x24")
