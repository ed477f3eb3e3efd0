"""Prints as JSON the bytes that a screen of widgets sends in one colour system; each has its own process.

Rich caches the first output of each style, so one process cannot measure two colour systems.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable

from textual.pilot import Pilot

from tests.tui.counting import bytes_of, counter_of
from tests.tui.idle import settle
from tests.tui.widgets.stage import Stage, press
from tuibench.present.plots.drawing import Row
from tuibench.present.table import Column
from tuibench.tui.widgets.painted import FigureView
from tuibench.tui.widgets.record_table import Line, RecordTable
from tuibench.tui.widgets.status_line import StatusLine
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.title_line import KeyLine, RuleLine, Selector, SelectorLine, TabLine, TitleLine

COLUMNS: tuple[Column[str], ...] = (
    Column("state", "", 1), Column("id", "ID", 4), Column("age", "AGE", 4, right=True, rank=2),
    Column("engine", "ENGINE", 8, rank=1), Column("version", "VERSION", 8, grow=True, rank=4),
    Column("shape", "CORES×BATCH", 12), Column("best", "BEST", 16), Column("width", "±%", 4, right=True, rank=3),
    Column("grade", "G", 1),
)  # fmt: skip
STYLES = ("", "ok", "warn", "bad", "dim")
Step = Callable[[], Awaitable[None] | object]


class Figure(FigureView, can_focus=True):
    """A figure that can have the focus."""


def line(key: str) -> Line:
    """Return one benchmark's line; every fifth has another style."""
    n = int(key)
    cells = ("✗", f"{n:04}", "3h", "ort|ov", "original", "1-16×1,8,32", f"{n % 97}.2 ms @16×1", "0.7", "A")
    return Line(key, cells, STYLES[n % 5])


def figure(cursor: int) -> tuple[Row, ...]:
    """Return a figure as dense as core scaling."""
    rows = []
    for y in range(14):
        data = "".join("⣿⣀⠤⠒"[(x * y) % 4] for x in range(40))
        mark = "●" if y == cursor else "·"
        rows.append(((f"{y:>5}┤", "axis"), (data, "series-1"), (mark, "mark"), ("   16   588  1.9 A", "")))
    return tuple(rows)


def steps(pilot: Pilot[None], table: RecordTable, plot: Figure, news: StatusLine) -> dict[str, Step]:
    """Return the measured steps in order."""
    keys = [str(n) for n in range(10_000)]

    def key(*names: str) -> Step:
        return lambda: press(pilot, *names)

    def swap() -> None:
        table.display = False
        plot.display = True
        plot.focus()

    def swap_back() -> None:
        table.display = True

    return {
        "first rows": lambda: table.show_rows(COLUMNS, keys, line),
        "same rows": lambda: table.show_rows(COLUMNS, keys, line),
        "cursor key": key("down"),
        "cursor key out of sight": key(*["down"] * 10),
        "page down": key("pagedown"),
        "mark": lambda: table.show_marks({table.cursor_key or ""}),
        "another page": swap,
        "figure": lambda: plot.show_figure(lambda *_: figure(3)),
        "same figure": lambda: plot.show_figure(lambda *_: figure(3)),
        "cursor of a figure": lambda: plot.show_figure(lambda *_: figure(4)),
        "both": swap_back,
        "focus": key("tab"),
        "focus back": key("tab"),
        "news": lambda: news.say("run m9q finished: 1.92 ms ±0.7 %"),
        "question": lambda: news.ask("Remove m9q?", {"y": "remove", "n": "keep"}, str),
        "answer": key("y"),
    }


async def measure(theme: str) -> dict[str, int]:
    """Return the bytes of each step at 80x24."""
    table, plot, news = RecordTable(classes="rest"), Figure(classes="rest"), StatusLine()
    stage = Stage(
        TitleLine("resnet50 › Benchmarks (14)", "16 cores"), TabLine(("Bench", "Perf", "Loss")), RuleLine(),
        table, plot, SelectorLine([Selector("batch", ("1", "8"), 0, "m", spread=True)]), TextBlock(["one"]),
        news, KeyLine([("enter", "open"), ("n", "new")], [("?", "help")]),
        theme=theme,
    )  # fmt: skip
    sent: dict[str, int] = {}
    async with stage.run_test(size=(80, 24), headless=False) as pilot:
        await settle(pilot)
        sent["start"] = len(counter_of(stage).take().encode())
        plot.display = False
        table.focus()
        for name, step in steps(pilot, table, plot, news).items():
            sent[name] = await bytes_of(pilot, step)
    return sent


if __name__ == "__main__":
    out = sys.__stdout__
    assert out is not None
    out.write(json.dumps(asyncio.run(measure(sys.argv[1]))) + "\n")
