"""The summary of a performance profile with numbers of any size and uncertain values."""

from __future__ import annotations

from dataclasses import replace

from tests.present.profile.stock import make_profile
from tests.tui.pilot import until_seen
from tests.tui.screens.profile_stage import profile_run, profiled
from tuibench.core.cell import Estimate
from tuibench.tui import route


async def test_measurement_is_not_called_bound_and_small_values_show() -> None:
    base = make_profile()
    assert base.performance is not None
    two = replace(base.performance, processes=2, ms=Estimate(4.76, reason="2 of at least 3"), load_ms=5.0)
    async with profiled((120, 36), profile_run(1, 60, replace(base, performance=two)), profile_run(2, 90)) as seen:
        await seen.go(route.profile(seen.ids[0]))
        assert "estimated    2.79 ms/batch, 1.71× (measured INT8)" in seen.text
        assert "estimated    at best 0.620 ms/batch, 7.68× (Amdahl bound)" in seen.text
        assert "load 5.00 ms · peak 182 MB · at least 837 M FLOPs" in seen.text
        await seen.go(route.profile(seen.ids[1]))
        await until_seen(seen.pilot, lambda: "2.79 ms/batch ±3.0 %, 1.71× (measured INT8)" in seen.text)
