"""Foreign names are plain text on every screen, in every dialog, and in exports and lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.counting import CountingDriver, counter_of
from tests.tui.hostile import check_sent, fill_hostile
from tests.tui.pilot import open_app, press
from tests.tui.tour import visit_all
from tuibench.services.api import Services
from tuibench.tui import route
from tuibench.tui.app import Dashboard


def check_links(app: Dashboard, where: str) -> None:
    """Assert that no visible text is a link."""
    for strip in app.screen._compositor.render_strips():
        for segment in strip:
            style = segment.style
            meta = style.meta if style is not None else {}
            assert "quit_now" not in repr(meta) and (style is None or style.link is None), where


@pytest.mark.parametrize("size", [(80, 24), pytest.param((200, 60), marks=pytest.mark.slow)])
async def test_hostile_names_are_plain_text_on_every_screen_and_dialog(home: Path, size: tuple[int, int]) -> None:
    project, ids, model = fill_hostile(Services(), home / "models")
    everywhere = size != (80, 24)
    async with open_app(size, headless=False, driver=CountingDriver) as (app, pilot):

        async def visit(name: str) -> None:
            await press(pilot, "down")
            check_sent(counter_of(app).take(), name)
            check_links(app, name)

        await visit_all(app, pilot, project, ids, model, visit, everywhere=everywhere)
        for one in ids:
            app.go(route.detail(one))
            await press(pilot, "y")
            check_sent(counter_of(app).take(), "copied")
        assert app.is_running, "no action of a name was run"


@pytest.mark.parametrize(
    "sent",
    [
        "\x1b[6n",
        "\x1b]0;owned\x07",
        "\x1b]8;;http://x\x1b\\",
        "\x9b31m",
        "\x1b",
        "\x07",
        "\u202e",
        "\x1b[?47h",
        "\x1bPq",
        "\x7f",
    ],
)
def test_control_sequence_check_detects_control_sequences(sent: str) -> None:
    check_sent("\x1b[2;1H\x1b[1;39;49mname \x1b[0m\r\n", "fine")
    with pytest.raises(AssertionError):
        check_sent(f"\x1b[2;1H\x1b[1mname {sent}\x1b[0m", "odd")
