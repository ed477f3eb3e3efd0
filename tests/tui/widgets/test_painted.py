from __future__ import annotations

import pytest

from tests.tui.counting import bytes_of, counter_of, sent_by
from tests.tui.rest import settle
from tests.tui.widgets.stage import press, resize, seen, staged
from tuibench.tui.widgets.painted import Painted
from tuibench.tui.widgets.row import Row, shown


class Lines(Painted, can_focus=True):
    """Shows what it is given."""

    def __init__(self, *lines: str, style: str = "") -> None:
        super().__init__(classes="rest")
        self.lines = list(lines)
        self.style = style
        self.asked: list[int] = []

    def row(self, y: int) -> Row:
        self.asked.append(y)
        return shown((self.lines[y], self.style)) if y < len(self.lines) else ()


async def test_what_did_not_change_sends_nothing() -> None:
    lines = Lines("one", "two")
    async with staged(lines) as (_, pilot):
        assert await bytes_of(pilot, lines.repaint) == 0
        assert await bytes_of(pilot, lines.refresh) == 0


async def test_a_changed_line_is_sent_up_to_its_last_difference_and_no_other() -> None:
    lines = Lines("first line", "second line " * 6, "third line")
    async with staged(lines) as (stage, pilot):
        lines.lines[1] = "Second line " * 6
        sent = await sent_by(pilot, lines.repaint)
        assert "Second" in sent
        assert "first" not in sent
        assert "third" not in sent
        assert len(sent) < 100
        lines.lines[1] = "S" + lines.lines[1][1:]
        assert await bytes_of(pilot, lines.repaint) == 0
        assert seen(stage)[1] == ("Second line " * 6).rstrip()


async def test_a_change_that_is_taken_back_before_it_is_painted_leaves_the_screen_right() -> None:
    lines = Lines("old")
    async with staged(lines) as (stage, pilot):
        lines.lines[0] = "something new"
        lines.repaint()
        lines.lines[0] = "old"
        lines.repaint()
        await settle(pilot)
        assert seen(stage)[0] == "old"
        lines.lines[0] = "newer"
        assert "newer" in await sent_by(pilot, lines.repaint)


async def test_what_changed_while_it_was_hidden_is_right_when_it_is_shown_again() -> None:
    lines, other = Lines("old"), Lines("other")
    async with staged(lines, other) as (stage, pilot):
        lines.display = False
        await settle(pilot)
        lines.lines[0] = "new"
        lines.repaint()
        await settle(pilot)
        lines.display = True
        await settle(pilot)
        assert seen(stage)[0] == "new"


async def test_a_style_that_changes_is_a_change() -> None:
    lines = Lines("text")
    async with staged(lines) as (_, pilot):
        lines.style = "bad"
        assert await bytes_of(pilot, lines.repaint) > 0

        def tint() -> None:
            lines.styles.background = "blue"

        assert "text" in await sent_by(pilot, tint)


async def test_another_theme_paints_everything_again() -> None:
    lines = Lines("text", style="ok")
    async with staged(lines, theme="textual-dark") as (stage, pilot):

        def change() -> None:
            stage.theme = "textual-light"

        assert "text" in await sent_by(pilot, change)


async def test_the_focus_goes_from_one_to_the_other_for_nothing_where_neither_shows_it() -> None:
    one, two = Lines("one"), Lines("two")
    async with staged(one, two) as (stage, pilot):
        one.focus()
        await settle(pilot)
        assert await bytes_of(pilot, lambda: press(pilot, "tab")) == 0
        assert stage.focused is two


async def test_lines_come_back_after_the_terminal_was_small() -> None:
    lines = Lines("a line of some length", "two", "three", "four", "five", "six")
    async with staged(lines) as (stage, pilot):
        await resize(pilot, 10, 2)
        assert seen(stage) == ["a line of…", "two"]
        await resize(pilot, 80, 24)
        assert seen(stage) == lines.lines


async def test_a_hidden_widget_shows_what_changed_meanwhile() -> None:
    lines = Lines("old")
    async with staged(lines) as (stage, pilot):
        lines.display = False
        await settle(pilot)
        lines.lines[0] = "new"
        lines.repaint()
        await settle(pilot)
        lines.display = True
        await settle(pilot)
        assert seen(stage) == ["new"]


async def test_without_colour_nothing_but_bold_dim_and_reverse_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    lines = [Lines("x", style=style) for style in ("ok", "bad", "warn", "series-1", "accent")]
    async with staged(*lines) as (stage, _):
        codes = {part.split("m")[0] for part in counter_of(stage).take().split("\x1b[")[1:] if "m" in part}
        colours = {code for group in codes for code in group.split(";") if code.isdigit() and 30 <= int(code) < 108}
        assert colours <= {"39", "49"}
        assert "1" in {code for group in codes for code in group.split(";")}


async def test_moving_the_pointer_sends_nothing() -> None:
    lines = Lines("one", "two", "three")
    async with staged(lines) as (_, pilot):

        async def move() -> None:
            for x in range(5):
                await pilot.hover(lines, offset=(x, x % 3))

        assert await bytes_of(pilot, move) == 0
