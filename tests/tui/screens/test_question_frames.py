"""Kept frames of the dialogs and the palette over a project's list."""

from __future__ import annotations

import pytest

from tests.tui.frame import check_frame, frame
from tests.tui.sample_data import make_going
from tests.tui.screens.stage import shown
from tuibench.tui.terminal import Display

DIALOGS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "palette": (("colon",), ("escape",)),
    "palette-typed": (("colon", "c", "o", "p"), ("escape",)),
    "export": (("x",), ("escape",)),
    "edit": (("e",), ("escape",)),
    "remove": (("d",), ("escape",)),
    "remove-marked": (("space", "space", "space", "d"), ("escape",)),
}
"""Frame name -> the keys that open the dialog, and those that close it."""
KEPT_IN_ASCII = ("palette",)


@pytest.mark.parametrize("ascii_only", [False, True], ids=["unicode", "ascii"])
async def test_dialogs_match_golden_frames(ascii_only: bool) -> None:
    async with shown(display=Display(ascii_only=ascii_only)) as seen:
        for name, (keys, leave) in DIALOGS.items():
            await seen.press(*keys)
            if not ascii_only:
                check_frame(seen.app, f"question-{name}-80x24")
            elif name in KEPT_IN_ASCII:
                check_frame(seen.app, f"question-{name}-ascii")
            assert not ascii_only or frame(seen.app).isascii(), name
            await seen.press(*leave)
        # the palette stays in ASCII while it scrolls
        await seen.press("colon")
        for _ in range(12 if ascii_only else 0):
            await seen.press("down")
            assert frame(seen.app).isascii()


async def test_removal_question_of_a_running_run_matches_golden_frame() -> None:
    async with shown(going=True) as seen:
        assert seen.keys[0] == make_going(seen.project)[0].info.id
        await seen.press("g", "d")
        check_frame(seen.app, "question-remove-going-80x24")
