from __future__ import annotations

from tests.tui.counting import bytes_of, sent_by
from tests.tui.widgets.stage import resize, seen, staged
from tuibench.tui.widgets.title_line import RuleLine, TitleLine


async def test_title_line_shows_both_ends_and_shortens_name_first() -> None:
    title = TitleLine((("a very long project name", "title"), (" › Runs", "")), "3 running")
    async with staged(title, RuleLine(), size=(50, 3)) as (stage, pilot):
        assert seen(stage)[0] == " a very long project name › Runs".ljust(41) + "3 running"
        assert seen(stage)[1] == "─" * 50
        await resize(pilot, 30, 3)
        assert seen(stage)[0].endswith("› Runs 3 running")
        assert len(seen(stage)[0]) == 30


async def test_title_line_sends_only_changes() -> None:
    title = TitleLine("left", "right")
    async with staged(title) as (_, pilot):
        assert await bytes_of(pilot, lambda: title.show("left", "right")) == 0
        assert len(await sent_by(pilot, lambda: title.show("Left", "right"))) < 40


async def test_title_line_ascii_replacements_stay_within_width() -> None:
    async with staged(TitleLine("±" * 50, "µs ±1 end"), size=(40, 2), ascii_only=True) as (stage, _):
        assert seen(stage)[0].endswith("us +-1 end")
        assert seen(stage)[0].isascii()
