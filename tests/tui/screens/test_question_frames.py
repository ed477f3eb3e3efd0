"""Questions and the palette over a project's list, as they were looked at in each size and in ASCII."""

from __future__ import annotations

import pytest

from tests.tui.frame import check_frame, frame
from tests.tui.screens.stage import shown
from tests.tui.stock import make_going
from tuibench.tui.terminal import Display

WAYS = (((80, 24), False, "80x24"), ((120, 36), False, "120x36"), ((80, 24), True, "ascii"))
QUESTIONS = {
    "palette": ("colon",),
    "palette-typed": ("colon", "c", "o", "p"),
    "export": ("x",),
    "edit": ("e",),
    "remove": ("d",),
    "remove-marked": ("space", "space", "space", "d"),
}


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize(("size", "ascii_only", "way"), WAYS)
async def test_a_question_is_as_it_was_looked_at(name: str, size: tuple[int, int], ascii_only: bool, way: str) -> None:
    async with shown(size, display=Display(ascii_only=ascii_only)) as seen:
        await seen.press(*QUESTIONS[name])
        check_frame(seen.app, f"question-{name}-{way}")
        assert not ascii_only or frame(seen.app).isascii()


async def test_the_palette_has_signs_of_ascii_alone_wherever_it_is_scrolled_to() -> None:
    async with shown(display=Display(ascii_only=True)) as seen:
        await seen.press("colon")
        for _ in range(12):
            await seen.press("down")
            assert frame(seen.app).isascii()


async def test_what_is_asked_before_a_run_that_goes_on_is_removed() -> None:
    async with shown(going=True) as seen:
        assert seen.keys[0] == make_going(seen.project)[0].info.id
        await seen.press("g", "d")
        check_frame(seen.app, "question-remove-going-80x24")
