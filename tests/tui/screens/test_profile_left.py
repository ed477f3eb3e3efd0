"""The list shown after leaving a profile's page."""

from __future__ import annotations

from tests.tui.pilot import until_seen
from tests.tui.screens.profile_stage import profiled
from tuibench.services.form_values import APPROXIMATED, FLOPS
from tuibench.tui import route


async def test_leaving_profile_opens_list_that_contains_it() -> None:
    """Leave a profile opened while its project shows the benchmarks, as after a run started elsewhere."""
    async with profiled() as seen:
        for place, tab in ((0, "2 Performance"), (2, "3 Loss")):
            for keys in (("escape",), ("q",), ("d", "y")):
                await seen.go(route.project(seen.project))
                assert "[1 Benchmarks" in seen.text
                await seen.go(route.profile(seen.ids[place]))
                await seen.press(*keys)
                await until_seen(seen.pilot, lambda tab=tab: f"[{tab}" in seen.text)  # type: ignore[misc]


async def test_leaving_theory_opens_list_above_it() -> None:
    async with profiled() as seen:
        await seen.go(route.project(seen.project))
        await seen.go(route.theory(seen.project, APPROXIMATED))
        await seen.press("escape")
        assert "[3 Loss" in seen.text
        await seen.go(route.project(seen.project, "settings"))
        await seen.go(route.theory(seen.project, FLOPS))
        await seen.press("escape")
        assert "[4 Settings" in seen.text
