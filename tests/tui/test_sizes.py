"""Layout of every screen and dialog at terminal sizes other than that of the kept frames."""

from __future__ import annotations

from typing import Any

from rich.cells import cell_len
from textual.app import App
from textual.widget import Widget

from tests.tui.frame import rows
from tests.tui.hostile import SAMPLE
from tests.tui.pilot import open_app
from tests.tui.sample_data import make_going, rich_project
from tests.tui.screens.stage import with_runs
from tests.tui.tour import visit_all
from tuibench.services.api import Services
from tuibench.tui.widgets.painted import Painted
from tuibench.tui.widgets.title_line import KeyLine, TitleLine

WIDE = (120, 36)


def outside(app: App[Any]) -> list[Widget]:
    """Return the title and key lines that are partly hidden, and the widgets beyond the right edge."""
    screen = app.screen
    fixed = [widget for kind in (TitleLine, KeyLine) for widget in screen.query(kind)]
    cut = [widget for widget in fixed if widget.display and not screen.region.contains_region(widget.region)]
    return cut + [widget for widget in screen.query(Widget) if widget.region.right > screen.region.right]


async def test_screens_fit_wider_terminals() -> None:
    services = Services()
    project, ids = rich_project(services)
    seen = []
    async with open_app(WIDE, services=with_runs(services, *make_going(project))) as (app, pilot):

        async def visit(name: str) -> None:
            seen.append(name)
            lines = rows(app)
            assert len(lines) == WIDE[1], name
            assert max(map(cell_len, lines)) <= WIDE[0], name
            assert outside(app) == [], name
            for widget in app.screen.query(Painted):
                painted = [strip.cell_length for strip in widget.render_lines(widget.size.region)]
                assert max(painted, default=0) <= widget.size.width, (name, widget)

        await visit_all(app, pilot, project, ids, str(SAMPLE), visit)
    assert len(seen) > 30
