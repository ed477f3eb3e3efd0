from __future__ import annotations

from tests.tui.counting import bytes_of, sent_by
from tests.tui.rest import settle
from tests.tui.widgets.stage import resize, seen, staged, told
from tuibench.tui.widgets.painted import PlotView

FIGURE = tuple(((f"{n:>4}┤", "axis"), ("⣀⠤⠒⠉" * 10, "series-1"), (" ·", "ideal")) for n in range(10))


async def test_plot_view_posts_size_and_shows_rows() -> None:
    view = PlotView(classes="rest")
    async with staged(view, size=(60, 12)) as (stage, pilot):
        last = told(stage, PlotView.Resized)[-1]
        assert (last.width, last.height) == (60, 12)
        view.show_rows(FIGURE)
        await settle(pilot)
        assert seen(stage)[3] == "   3┤" + "⣀⠤⠒⠉" * 10 + " ·"
        await resize(pilot, 30, 6)
        last = told(stage, PlotView.Resized)[-1]
        assert (last.width, last.height) == (30, 6)
        assert all(len(row) <= 30 for row in seen(stage))


async def test_plot_view_sends_only_changed_rows() -> None:
    view = PlotView(FIGURE, classes="rest")
    async with staged(view) as (_, pilot):
        assert await bytes_of(pilot, lambda: view.show_rows(FIGURE)) == 0
        changed = (*FIGURE[:4], ((FIGURE[4][0]), ("⣀⠤●⠉" + "⣀⠤⠒⠉" * 9, "series-1"), (" ·", "ideal")), *FIGURE[5:])
        sent = await sent_by(pilot, lambda: view.show_rows(changed))
        assert "●" in sent
        assert "3┤" not in sent
        assert len(sent) < 150


async def test_plot_view_rows_cannot_control_terminal() -> None:
    view = PlotView(((("legend \x1b[2J", ""),),), classes="rest")
    async with staged(view) as (stage, _):
        assert seen(stage) == ["legend \\e[2J"]
