"""Kept frames of the pages of profiles."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from textual.screen import Screen

from tests.build import SERVER_ISA
from tests.tui.frame import check_frame, frame
from tests.tui.screens.profile_stage import Profiled, profiled
from tuibench.core.machine import EngineChoice, Machine
from tuibench.services.form_values import APPROXIMATED, FLOPS
from tuibench.tui import route
from tuibench.tui.terminal import Display

PAGES: dict[str, Callable[[Profiled], Screen[None]]] = {
    "profiles": lambda seen: route.project(seen.project, "performance"),
    "losses": lambda seen: route.project(seen.project, "loss"),
    "profile-summary": lambda seen: route.profile(seen.ids[0]),
    "profile-layers": lambda seen: route.profile(seen.ids[0], "layers"),
    "profile-depth": lambda seen: route.profile(seen.ids[0], "depth"),
    "loss-summary": lambda seen: route.profile(seen.ids[2]),
    "loss-layers": lambda seen: route.profile(seen.ids[2], "layers"),
    "flops-summary": lambda seen: route.theory(seen.project, FLOPS),
    "flops-layers": lambda seen: route.theory(seen.project, FLOPS, "layers"),
    "approximated-summary": lambda seen: route.theory(seen.project, APPROXIMATED),
    "profile-form": lambda seen: route.profile_form(seen.project),
    "profile-comparison": lambda seen: route.profile_comparison(seen.ids[1], seen.ids[0]),
}
KEPT_IN_ASCII = ("profile-layers", "loss-summary", "profile-form")
ENGINES = (EngineChoice("onnxruntime", True, "1.31.1", "", (), True), EngineChoice("openvino", True, "2026.1", ""))
MACHINE = Machine(2, 2, 2, SERVER_ISA, ENGINES)


@pytest.mark.parametrize("ascii_only", [False, True], ids=["unicode", "ascii"])
async def test_pages_match_golden_frames(ascii_only: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    async with profiled(display=Display(ascii_only=ascii_only)) as seen:
        monkeypatch.setattr(seen.app.services.machine, "read", lambda: MACHINE)
        for page, way in PAGES.items():
            await seen.go(way(seen))
            if not ascii_only:
                check_frame(seen.app, f"{page}-80x24")
            elif page in KEPT_IN_ASCII:
                check_frame(seen.app, f"{page}-ascii")
            assert not ascii_only or frame(seen.app).isascii(), page
            seen.app.go_back()
            await seen.press()
