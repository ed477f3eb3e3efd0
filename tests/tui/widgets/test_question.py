from __future__ import annotations

from tests.tui.idle import settle
from tests.tui.widgets.stage import press, seen, staged
from tuibench.tui.widgets.status_line import Notice, StatusLine, ask


async def test_question_is_asked_in_status_line() -> None:
    answers: list[str] = []
    line = StatusLine()
    async with staged(line) as (stage, pilot):
        for key in ("d", "y", "n", "escape"):
            if not line.asking:
                ask(stage.screen, "Really?", {"y": "remove"}, answers.append)
                await settle(pilot)
                assert seen(stage)[0] == " Really?  y remove  n esc back"
            await press(pilot, key)
        assert answers == ["y", "", ""]
        assert stage.floor.passed == []


async def test_notice_is_shown_and_closed() -> None:
    async with staged(StatusLine(), size=(40, 12)) as (stage, pilot):
        stage.push_screen(Notice("Why it failed", [f"line {n}" for n in range(30)]))
        await settle(pilot)
        assert "Why it failed" in seen(stage)[3]
        assert seen(stage)[4] == "line 0"
        await press(pilot, "end")
        assert seen(stage)[-1] == "line 29"
        await press(pilot, "escape")
        assert stage.screen is stage.floor
        stage.push_screen(Notice("Short", ["one line"]))
        await settle(pilot)
        assert seen(stage)[-1] == "one line"
        await press(pilot, "q")
        assert stage.screen is stage.floor
