"""Kept frames of the tabs of a benchmark's screen."""

from __future__ import annotations

import pytest

from tests.tui.frame import check_frame, frame
from tests.tui.pilot import settle
from tests.tui.sample_data import sweep
from tests.tui.screens.detail_stage import detail
from tests.tui.screens.test_detail_scaling import shape_run
from tuibench.tui import route
from tuibench.tui.terminal import Display

OLD = sweep(2, 7200, engines=("onnxruntime", "openvino"))
NEW = sweep(1, 3600, engines=("onnxruntime", "openvino"), faster=1.06)
DOWN = ("down", "down")
TABS: dict[str, tuple[str, tuple[str, ...]]] = {
    "baseline": ("baseline", ()),
    "cores": ("cores", DOWN),
    "batches": ("batches", DOWN),
    "comparison": ("comparison", DOWN),
    "log": ("log", DOWN),
    "environment": ("environment", DOWN),
    "histogram": ("", ("h",)),
    "samples": ("", ("h", "h")),
}
"""Frame name -> the tab, and the keys to press there."""
KEPT_IN_ASCII = ("histogram", "samples")


@pytest.mark.parametrize("ascii_only", [False, True], ids=["unicode", "ascii"])
async def test_tabs_match_golden_frames(ascii_only: bool) -> None:
    display = Display(ascii_only=ascii_only)
    async with detail(NEW, OLD, display=display, name="after AMX fix", note="new kernel", rerun_of=OLD.id) as seen:
        for name, (tab, keys) in TABS.items():
            seen.app.go_back()
            await settle(seen.pilot)
            seen.app.go(route.detail(seen.one, tab))
            await settle(seen.pilot)
            await seen.press(*keys)
            if not ascii_only:
                check_frame(seen.app, f"detail-{name}-80x24")
            elif name in KEPT_IN_ASCII:
                check_frame(seen.app, f"detail-{name}-ascii")
            assert not ascii_only or frame(seen.app).isascii(), name


@pytest.mark.parametrize(("ascii_only", "name"), [(False, "80x24"), (True, "ascii")])
async def test_shapes_tab_matches_golden_frame(ascii_only: bool, name: str) -> None:
    async with detail(shape_run(), tab="shapes", display=Display(ascii_only=ascii_only)) as seen:
        await seen.press("down")
        check_frame(seen.app, f"detail-shapes-{name}")
        assert not ascii_only or frame(seen.app).isascii()


async def test_single_series_matches_golden_frame() -> None:
    async with detail(sweep(4, 3600), tab="cores") as seen:
        await seen.press("right", "right", "G")
        check_frame(seen.app, "detail-one-side-80x24")
