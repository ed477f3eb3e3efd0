from __future__ import annotations

from tests.tui.idle import settle
from tests.tui.widgets.stage import press, seen, staged
from tuibench.tui.widgets.field import Answers, TextQuestion
from tuibench.tui.widgets.status_line import StatusLine


async def test_enter_moves_through_fields_and_submits_last() -> None:
    got: list[Answers | None] = []
    async with staged(StatusLine()) as (stage, pilot):
        stage.push_screen(TextQuestion("m9q", [("name", "old"), ("note", "kept \x1b[1m")], hint="2 lines"), got.append)
        await settle(pilot)
        assert seen(stage)[-3].split() == ["m9q", "2", "lines", "enter", "next,", "then", "done", "esc", "back"]
        assert seen(stage)[-2].startswith(">name       [old")
        assert seen(stage)[-1].startswith(" note       [kept \\e[1m")
        await press(pilot, "n", "e", "w", "down", "up", "q", "enter")
        assert got == []
        await press(pilot, "enter")
        assert got == [("q", "kept \x1b[1m")]
        assert stage.floor.passed == []


async def test_invalid_answer_shows_error_and_can_be_corrected() -> None:
    got: list[Answers | None] = []

    def check(answers: Answers) -> str:
        return "" if answers[0].endswith(".json") else "ends in none of .json .csv .md"

    async with staged(StatusLine()) as (stage, pilot):
        stage.push_screen(TextQuestion("Export", [("file", "out")], check=check), got.append)
        await settle(pilot)
        await press(pilot, "enter")
        assert got == []
        assert seen(stage)[-1] == "            ! ends in none of .json .csv .md"
        await press(pilot, "end", "full_stop", "j", "s", "o", "n", "enter")
        assert got == [("out.json",)]


async def test_escape_returns_none() -> None:
    got: list[Answers | None] = []
    async with staged(StatusLine()) as (stage, pilot):
        stage.push_screen(TextQuestion("m9q", [("name", "")]), got.append)
        await settle(pilot)
        await press(pilot, "a", "escape")
        assert got == [None]
