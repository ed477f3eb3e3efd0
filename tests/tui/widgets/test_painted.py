from __future__ import annotations

import pytest

from tests.tui.counting import bytes_of, counter_of, sent_by
from tests.tui.idle import settle
from tests.tui.widgets.stage import press, resize, seen, staged
from tuibench.present.plots.drawing import Row
from tuibench.tui.widgets.painted import Painted, shown


class Lines(Painted, can_focus=True):
    """A widget that shows the given lines."""

    def __init__(self, *lines: str, style: str = "") -> None:
        super().__init__(classes="rest")
        self.lines = list(lines)
        self.style = style
        self.asked: list[int] = []

    def row(self, y: int) -> Row:
        self.asked.append(y)
        return shown((self.lines[y], self.style)) if y < len(self.lines) else ()


async def test_unchanged_lines_send_nothing() -> None:
    lines = Lines("one", "two")
    async with staged(lines) as (_, pilot):
        assert await bytes_of(pilot, lines.repaint) == 0
        assert await bytes_of(pilot, lines.refresh) == 0


async def test_changed_line_is_sent_up_to_last_difference() -> None:
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


async def test_widget_changed_while_hidden_is_correct_when_shown() -> None:
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


async def test_change_reverted_before_paint_leaves_screen_correct() -> None:
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


async def test_style_change_is_painted() -> None:
    lines = Lines("text")
    async with staged(lines) as (_, pilot):
        lines.style = "bad"
        assert await bytes_of(pilot, lines.repaint) > 0

        def tint() -> None:
            lines.styles.background = "blue"

        assert "text" in await sent_by(pilot, tint)


async def test_theme_change_repaints_everything() -> None:
    lines = Lines("text", style="ok")
    async with staged(lines, theme="textual-dark") as (stage, pilot):

        def change() -> None:
            stage.theme = "textual-light"

        assert "text" in await sent_by(pilot, change)


async def test_invisible_focus_change_sends_nothing() -> None:
    one, two = Lines("one"), Lines("two")
    async with staged(one, two) as (stage, pilot):
        one.focus()
        await settle(pilot)
        assert await bytes_of(pilot, lambda: press(pilot, "tab")) == 0
        assert stage.focused is two


async def test_lines_return_after_small_terminal() -> None:
    lines = Lines("a line of some length", "two", "three", "four", "five", "six")
    async with staged(lines) as (stage, pilot):
        await resize(pilot, 10, 2)
        assert seen(stage) == ["a line of…", "two"]
        await resize(pilot, 80, 24)
        assert seen(stage) == lines.lines


async def test_hidden_widget_shows_changes_when_shown() -> None:
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


async def test_no_colour_mode_sends_only_bold_dim_and_reverse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    lines = [Lines("x", style=style) for style in ("ok", "bad", "warn", "series-1", "accent")]
    async with staged(*lines) as (stage, _):
        codes = {part.split("m")[0] for part in counter_of(stage).take().split("\x1b[")[1:] if "m" in part}
        colours = {code for group in codes for code in group.split(";") if code.isdigit() and 30 <= int(code) < 108}
        assert colours <= {"39", "49"}
        assert "1" in {code for group in codes for code in group.split(";")}


async def test_pointer_movement_sends_nothing() -> None:
    lines = Lines("one", "two", "three")
    async with staged(lines) as (_, pilot):

        async def move() -> None:
            for x in range(5):
                await pilot.hover(lines, offset=(x, x % 3))

        assert await bytes_of(pilot, move) == 0
