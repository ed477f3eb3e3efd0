"""A store of names with terminal control codes: the dashboard, the lists and the exports on a real terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.shell import Shell
from tests.cli.terminal import Terminal
from tests.cli.test_dashboard_on_terminal import HERE
from tests.tui.hostile import check_sent, fill_hostile
from tuibench.core.ids import short_id
from tuibench.services.api import Services

KEYS_ROW = "\x1b[23;1H"
"""The first of two key lines, which differs from page to page; an unchanged second line is not sent."""
WAY = (
    ("\r", "Benchmarks"),
    ("\r", "per CPU s"),
    ("7", "conclusions"),
    ("?", "Help"),
    ("\x1b", "7 Log"),
    ("x", ".csv"),
)
"""Keys, and a word on the screen that they open."""


@pytest.fixture
def ids(home: Path) -> tuple[str, ...]:
    """Return the stored ids."""
    return fill_hostile(Services(), home / "models")[1]


def test_dashboard_shows_control_codes_as_text(keeper: Shell, ids: tuple[str, ...]) -> None:
    terminal = Terminal(keeper, env=HERE)
    terminal.wait_for("[bold]b[/]")
    told = ""
    for keys, words in WAY:
        terminal.wait_for(KEYS_ROW)
        told += terminal.shown
        terminal.forget()
        terminal.type(keys)
        terminal.wait_for(words)
    terminal.type("\x11")
    assert terminal.end() == 0
    check_sent(told + terminal.shown, "the dashboard")


def test_lists_and_reports_show_control_codes_as_text(keeper: Shell, ids: tuple[str, ...]) -> None:
    commands = [("list",), ("list", "--all"), ("project", "list"), ("trash", "list")]
    commands += [("compare", *map(short_id, ids[:2])), *(("show", short_id(one)) for one in ids)]
    for command in commands:
        terminal = Terminal(keeper, *command, env=HERE)
        assert terminal.end() == 0, (command, terminal.shown)
        assert len(terminal.shown) > 100, command
        check_sent(terminal.shown, " ".join(command))
