from __future__ import annotations

from tests.tui.counting import bytes_of
from tests.tui.idle import settle
from tests.tui.widgets.stage import press, resize, seen, staged
from tuibench.present.table import Column
from tuibench.tui.widgets.record_table import Line, RecordTable
from tuibench.tui.widgets.status_line import StatusLine


async def test_news_and_long_questions_are_shown_and_cleared() -> None:
    line = StatusLine()
    async with staged(line) as (stage, pilot):
        # news are shown and cleared
        line.say("run m9q finished")
        await settle(pilot)
        assert seen(stage) == [" run m9q finished"]
        line.say("could not save", "bad")
        await settle(pilot)
        assert seen(stage) == [" ! could not save"]
        assert line.said == "! could not save"
        line.say("")
        await settle(pilot)
        assert seen(stage) == [""]
        assert line.said == ""
        # long question keeps answers visible
        line.ask("Remove " + "x" * 1000 + "?", {"y": "remove", "n": "keep"}, lambda _: None)
        await settle(pilot)
        assert seen(stage)[0].endswith("…  y remove  n esc keep")
        await resize(pilot, 30, 5)
        assert seen(stage)[0].endswith("…  y remove  n esc keep")


async def test_answer_is_pressed_key_and_other_keys_are_ignored() -> None:
    table = RecordTable(classes="rest")
    table.show_lines([Column("a", "A", 8)], [Line(str(n), (str(n),)) for n in range(5)])
    line = StatusLine()
    answers: list[str] = []
    async with staged(table, line) as (stage, pilot):
        table.focus()
        await settle(pilot)
        line.ask("Remove m9q?", {"y": "remove", "n": "keep"}, answers.append)
        await settle(pilot)
        assert seen(stage)[-1] == " Remove m9q?  y remove  n esc keep"
        assert line.asking
        await press(pilot, "down", "q", "d", "Y", "enter", "space", "tab")
        assert (answers, table.cursor_key, stage.floor.passed) == ([], "0", [])
        await press(pilot, "y")
        assert answers == ["y"]
        assert stage.focused is table
        assert not line.can_focus
        assert seen(stage)[-1] == "  4"
        await press(pilot, "down", "y")
        assert (answers, table.cursor_key, stage.floor.passed) == (["y"], "1", ["y"])


async def test_escape_cancels_question_and_shows_latest_news() -> None:
    line = StatusLine()
    answers: list[str] = []
    async with staged(line) as (stage, pilot):
        line.say("older")
        line.ask("Cancel?", {"X": "cancel the run"}, answers.append)
        line.say("newer")
        await settle(pilot)
        assert seen(stage) == [" Cancel?  X cancel the run  n esc back"]
        await press(pilot, "n")
        assert answers == [""], "who is asked yes or no may say no"
        assert seen(stage) == [" newer"]
        assert stage.focused is None
        line.ask("Cancel?", {"X": "cancel the run"}, answers.append)
        await press(pilot, "escape")
        assert seen(stage) == [""], "what was said before the question is long known"


async def test_question_is_cancelled_by_second_question_or_navigation() -> None:
    table, line = RecordTable(classes="rest"), StatusLine()
    answers: list[str] = []
    async with staged(table, line) as (_, pilot):
        table.focus()
        await settle(pilot)
        line.ask("One?", {"y": "yes"}, lambda answer: answers.append(f"one {answer}"))
        line.ask("Two?", {"y": "yes"}, lambda answer: answers.append(f"two {answer}"))
        await settle(pilot)
        assert answers == ["one "]
        table.focus()
        await settle(pilot)
        assert answers == ["one ", "two "]


async def test_answer_can_ask_next_question() -> None:
    line = StatusLine()
    answers: list[str] = []
    async with staged(line) as (stage, pilot):
        line.ask("One?", {"y": "yes"}, lambda _: line.ask("Two?", {"z": "yes"}, answers.append))
        await press(pilot, "y")
        assert seen(stage) == [" Two?  z yes  n esc back"]
        await press(pilot, "z")
        assert answers == ["z"]


async def test_question_sends_hundreds_of_bytes() -> None:
    table, line = RecordTable(classes="rest"), StatusLine()
    table.show_lines([Column("a", "A", 70)], [Line(str(n), ("text " * 14,)) for n in range(30)])
    async with staged(table, line) as (_, pilot):
        table.focus()
        asked = await bytes_of(pilot, lambda: line.ask("Remove?", {"y": "remove", "n": "keep"}, lambda _: None))
        answered = await bytes_of(pilot, lambda: press(pilot, "y"))
        assert 0 < asked < 500
        assert 0 < answered < 500
