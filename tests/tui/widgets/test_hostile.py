from __future__ import annotations

import re

from rich.cells import cell_len
from textual.widget import Widget

from tests.tui.counting import counter_of
from tests.tui.idle import settle
from tests.tui.widgets.stage import HOSTILE, press, resize, seen, staged
from tuibench.present.plots.drawing import Row
from tuibench.present.table import Column
from tuibench.tui.widgets.choice_field import ButtonField, Choice, ChoiceField, ManyField
from tuibench.tui.widgets.field import TextField, TextQuestion
from tuibench.tui.widgets.painted import FigureView, Painted
from tuibench.tui.widgets.record_table import Line, RecordTable
from tuibench.tui.widgets.status_line import Notice, StatusLine
from tuibench.tui.widgets.text_block import ScrollBlock, TextBlock
from tuibench.tui.widgets.title_line import KeyLine, Selector, SelectorLine, TabLine, TitleLine

TEXTUAL_SEQUENCES = re.compile(r"\x1b\[[0-9;?]*[hlmpqtuHJKn]|\x1b\[[<>=?][0-9;]*[a-z]|\x1b\]22;[a-z]*\x07")
"""Control sequences that Textual sends: modes, styles, cursor positions, pointer shapes."""


def check(sent: str) -> None:
    """Assert that the bytes contain only Textual's own control sequences."""
    assert "99;99H" not in sent.replace("\\e[99;99H", "")
    assert "\x1b]0;" not in sent
    rest = TEXTUAL_SEQUENCES.sub("", sent)
    wrong = {char for char in rest if not char.isprintable() and char not in "\n\r\u200d"}
    assert not wrong


def widgets(text: str) -> list[Widget]:
    """Return one widget of each kind, with the text in every place it can show."""
    table = RecordTable(classes="rest")
    table.show_lines(
        [Column("a", text, 10, grow=True), Column("b", "B", 10)], [Line(text, (text, text)), Line("b", ())]
    )
    news = StatusLine()
    news.say(text, "warn")
    figure = FigureView()
    figure.show_figure(lambda *_: [((text, "series-1"), (text, "ideal"))])
    return [
        TitleLine([(text, "title"), (text, "")], text),
        TabLine([text, "b"], 0),
        table,
        RecordTable(empty=text),
        TextBlock([text, (text, "bad")]),
        ScrollBlock([text], wrap=True),
        figure,
        SelectorLine([Selector(text, (text, "b"), 0, text, spread=True)]),
        TextField("a", text, text, hint=text, placeholder=text),
        ChoiceField("b", text, [Choice(text, text), Choice("b", "b", text)], hint=text),
        ManyField("c", text, [Choice(text, text)], [text]),
        ButtonField("d", text),
        news,
        KeyLine([(text, text), ("a", "b")], [("?", "help")]),
    ]


def show_again(shown: list[Widget], text: str) -> None:
    """Show the text again through the methods that replace content."""
    for widget in shown:
        if isinstance(widget, TitleLine):
            widget.show(f"new {text}", f"new {text}")
        elif isinstance(widget, TabLine):
            widget.show(["a", text], 1, right=text)
        elif isinstance(widget, (TextBlock, ScrollBlock)):
            widget.show_lines(["new", text])
        elif isinstance(widget, FigureView):
            widget.show_figure(lambda *_: [((f"new {text}", "axis"),)])
        elif isinstance(widget, StatusLine):
            widget.say(f"new {text}", "bad")
        elif isinstance(widget, KeyLine):
            widget.show([("new", text), (text, "b")])
        elif isinstance(widget, TextField):
            widget.show_hint(text)
            widget.put(f"new {text}")


class Careless(Painted):
    """A widget that does not sanitize its text."""

    def row(self, y: int) -> Row:
        return (("".join(HOSTILE), "bad"),)


async def test_painted_widget_sanitizes_text_of_careless_subclass() -> None:
    async with staged(Careless(classes="rest")) as (stage, _):
        check(counter_of(stage).take())


async def test_hostile_names_are_plain_text_in_every_widget_and_size() -> None:
    for text in HOSTILE:
        shown = widgets(text)
        async with staged(*shown, size=(120, 50)) as (stage, pilot):
            for size in ((2, 1), (20, 5), (80, 24)):
                await resize(pilot, *size)
                assert all(cell_len(row) <= size[0] for row in seen(stage))
            show_again(shown, text)
            await settle(pilot)
            for widget in shown:
                if isinstance(widget, (TextField, ChoiceField)):
                    widget.show_error(text)
                if isinstance(widget, StatusLine):
                    widget.ask(text, {"y": text}, str)
                    await press(pilot, "y")
            await settle(pilot)
            check(counter_of(stage).take())


async def test_hostile_names_are_plain_text_in_every_question() -> None:
    async with staged(StatusLine()) as (stage, pilot):
        for text in HOSTILE:
            # The first is opened in a terminal that then shrinks, the second in one that grows.
            notice, question = Notice(text, [text]), TextQuestion(text, [(text, text)], hint=text)
            for dialog, size in ((notice, (20, 5)), (question, (80, 24))):
                stage.push_screen(dialog)
                await settle(pilot)
                await resize(pilot, *size)
                await press(pilot, "enter", "escape")
            check(counter_of(stage).take())


async def test_markup_is_plain_text() -> None:
    text = "[bold]b[/bold] [@click=app.bell]c[/]"
    async with staged(TitleLine(text), TextBlock([text])) as (stage, _):
        assert seen(stage) == [f" {text}", text]


async def test_wide_characters_keep_columns_aligned() -> None:
    table = RecordTable(classes="rest")
    columns: list[Column[str]] = [Column("a", "A", 9), Column("b", "B", 3)]
    names = ("plain", "漢字かな交じり文", "a漢字かな交", "👩‍👩‍👧‍👦 emoji", "e\u0301e\u0301", "✌️ vs", "🇩🇪 flag")
    table.show_lines(columns, [Line(name, (name, "end")) for name in names])
    async with staged(table) as (stage, _):
        for y in range(1, len(names) + 1):
            strip = stage.screen._compositor.render_strips()[y]
            text = strip.text
            assert strip.cell_length == 80
            assert strip.crop(12, 15).text == "end", text
