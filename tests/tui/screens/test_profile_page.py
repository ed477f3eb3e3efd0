"""Sentences on a profile's page after the terminal's width changes."""

from __future__ import annotations

from dataclasses import replace

from tests.tui.pilot import settle
from tests.tui.screens.profile_stage import Profiled, profile_run, profiled
from tuibench.tui import route
from tuibench.tui.widgets.text_block import TextBlock


async def test_profile_page_rewraps_sentences_when_narrowed() -> None:
    async with profiled((120, 36)) as seen:
        await seen.go(route.profile(seen.ids[0]))
        await seen.press("m")
        wide = words_of(seen, "#words")
        await seen.pilot.resize_terminal(80, 36)
        await settle(seen.pilot)
        narrow = words_of(seen, "#words")
        assert len(narrow) > len(wide) and max(map(len, wide)) > 80 >= max(map(len, narrow))
        assert " ".join(narrow).split() == " ".join(wide).split()


async def test_profile_page_rewraps_missing_profile_reason() -> None:
    async with profiled((120, 24), replace(profile_run(7, 60), profile=None, status="cancelled")) as seen:
        await seen.go(route.profile(seen.ids[0]))
        wide = words_of(seen, "#about")
        await seen.pilot.resize_terminal(40, 24)
        await settle(seen.pilot)
        assert len(words_of(seen, "#about")) > len(wide)
        assert " ".join(words_of(seen, "#about")).split() == " ".join(wide).split()


def words_of(seen: Profiled, block: str) -> list[str]:
    found = seen.app.screen.query_one(block, TextBlock)
    return ["".join(text for text, _ in found.row(y)) for y in range(found.get_content_height())]
