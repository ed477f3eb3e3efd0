"""From a terminal to a running dashboard: what Textual reads at its import is set before that."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from tuibench.core.place import Places
from tuibench.tui.config import NAME, Config, read_config
from tuibench.tui.desk import Desk
from tuibench.tui.state import StateFile
from tuibench.tui.terminal import Display, DisplayWishes, plan_display

STATE = "dashboard.json"


def look_at_terminal(places: Places, mouse: bool | None, ascii_only: bool) -> tuple[Display, Config]:
    """Whether and how this terminal can show the dashboard, with what the config file says."""
    config = read_config(Path(places.config) / NAME)
    wishes = DisplayWishes(
        mouse=config.mouse if mouse is None else mouse,
        ascii_only=ascii_only or config.ascii,
        fps=config.fps,
        theme=config.theme,
    )
    ttys = (_is_tty(0), _is_tty(1), _is_tty(2))
    return plan_display(os.environ, ttys, wishes), config


def open_dashboard(
    make_desk: Callable[[], Desk], places: Places, display: Display, config: Config, path: str = ""
) -> tuple[int, str]:
    """Run the dashboard to its end: its exit code, and a traceback where it broke."""
    os.environ.update(display.environ)
    if display.colour:
        # An empty NO_COLOR asks for nothing, and Textual takes it for a wish.
        os.environ.pop("NO_COLOR", None)
    from tuibench.tui.app import Dashboard, Opening  # Textual reads the environment now: 130 ms

    state = StateFile(Path(places.state) / STATE)
    app = Dashboard(make_desk(), display, config, state, Opening(path))
    app.run(mouse=display.mouse)
    return app.return_code or 0, app.last_words


def _is_tty(number: int) -> bool:
    try:
        return os.isatty(number) and (number != 0 or not sys.stdin.closed)
    except (OSError, AttributeError):
        return False
