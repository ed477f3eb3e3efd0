from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.tui.frame import check_frame
from tests.tui.screens.profile_stage import profile_run
from tests.tui.screens.run_services import RUN, make_info, make_view
from tests.tui.screens.run_stage import watched
from tests.tui.screens.stage import offered
from tests.tui.stub_page import opened_page, stub_routes
from tuibench.core import activity
from tuibench.core.activity import Making, RunView
from tuibench.core.reason import Reason, because
from tuibench.present.reason import reason_words
from tuibench.tui.terminal import Display

PARTS = (
    ("costs", "done"), ("roofline", "failed"), ("zeros", "done"), ("layers 1", "done"), ("layers 2", "now"),
    ("layers 3", "ahead"),
)  # fmt: skip
STAGE = because("making_part", part="layers", done=1, of=3, stage="profiling")


def making(**changes: Any) -> RunView:
    """Return a performance profile whose second process is measuring."""
    result = profile_run(1, 0)
    info = replace(make_info(), kind="performance", cells=6, cells_done=4, executions=1)
    values: dict[str, Any] = {
        "info": info, "spec": result.spec, "making": Making(STAGE, "layers", 1, 3, PARTS), "eta_s": 9.0, "live": None,
    }  # fmt: skip
    return replace(make_view(()), **(values | changes))


def ended(**changes: Any) -> RunView:
    info = replace(making().info, state=activity.FINISHED, eta_s=None)
    return making(
        info=info,
        status="finished",
        saved=True,
        result=profile_run(1, 0),
        eta_s=None,
        making=Making(None, "", 0, 0, PARTS),
        **changes,
    )


async def test_profile_run_page_in_ascii_matches_golden_frame() -> None:
    async with watched(making(), display=Display(ascii_only=True)) as seen:
        check_frame(seen.app, "run-profile-ascii")


async def test_profile_run_shows_parts_and_is_finished_or_removed() -> None:
    async with watched(making()) as seen:
        # stage parts and remaining time are shown
        check_frame(seen.app, "run-profile-80x24")
        assert {"X", "p"} <= {*offered(seen.app)} and "+" not in offered(seen.app)
        # cancel asks and finish acts at once
        await seen.press("X")
        assert " 1 " in seen.news and seen.answers == ("y",)
        await seen.press("y", "p")
        assert ("cancel", RUN) in seen.services.asked and ("finish", RUN) in seen.services.asked
        # active profile run is cancelled before removal
        await seen.press("d")
        assert seen.answers == ("y",)
        await seen.press("y")
        assert ("remove", (RUN,), True, False) in seen.services.asked


async def test_ended_run_enter_opens_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "profile")
    async with watched(making(), ended()) as seen:
        await seen.look()
        assert "finished" in seen.text and "4.76 ms" in seen.text
        await seen.press("enter")
        assert opened_page(seen.app)[:2] == ("profile", (RUN,))


async def test_interrupted_profile_run_says_how_to_resume() -> None:
    info = replace(making().info, state=activity.INTERRUPTED, resumable=True)
    broken = making(
        info=info, status="interrupted", saved=False, reason=Reason("runner_died"), making=Making(None, "", 0, 0, PARTS)
    )
    async with watched(broken) as seen:
        assert reason_words(broken.reason) in seen.text and "o" in offered(seen.app)
        await seen.press("o")
        assert ("resume", RUN, False, False) in seen.services.asked
