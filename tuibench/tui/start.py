"""From a terminal to a running dashboard: what Textual reads at its import is set before that."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tuibench.core.activity import ALIVE
from tuibench.core.place import Places
from tuibench.core.text import show
from tuibench.tui.config import NAME, Config, read_config
from tuibench.tui.desk import Desk
from tuibench.tui.setting import wishes_of
from tuibench.tui.state import StateFile
from tuibench.tui.terminal import Display, plan_display

if TYPE_CHECKING:
    from tuibench.tui.app import Dashboard

STATE = "dashboard.json"


def look_at_terminal(places: Places, mouse: bool | None, ascii_only: bool) -> tuple[Display, Config]:
    """Whether and how this terminal can show the dashboard, with what the config file says."""
    config = read_config(config_path(places))
    ttys = (_is_tty(0), _is_tty(1), _is_tty(2))
    return plan_display(os.environ, ttys, wishes_of(config, mouse, ascii_only)), config


def config_path(places: Places) -> Path:
    """Where the config file lies, or would lie."""
    return places.config / NAME


def check_theme(config: Config, path: Path) -> Config:
    """The config, with a word about a theme that Textual does not have."""
    if not config.theme:
        return config
    from textual.theme import BUILTIN_THEMES  # only what is named must be looked up: 130 ms

    if config.theme in BUILTIN_THEMES:
        return config
    known = ", ".join(sorted(BUILTIN_THEMES))
    problem = f"{show(str(path))}: there is no theme {show(config.theme, 40)}; there are {known}"
    return replace(config, problems=(*config.problems, problem))


@dataclass(frozen=True, slots=True)
class Left:
    """How a dashboard was left."""

    code: int
    """To exit with."""
    last_words: str
    """A traceback where it broke, else ''."""
    going: tuple[str, ...]
    """Ids of the runs that went on at its last look."""


def open_dashboard(
    make_desk: Callable[[], Desk], places: Places, display: Display, config: Config, path: str = ""
) -> Left:
    """Run the dashboard to its end."""
    app = make_dashboard(make_desk, places, display, config, path)
    app.run(mouse=display.mouse)
    # What was chosen right before the end may not be written yet.
    app.remembered.keep()
    runs = app.pulse.runs if app.pulse is not None else ()
    going = tuple(row.info.id for row in runs if row.info.state in ALIVE)
    return Left(app.return_code or 0, app.last_words, going)


def make_dashboard(
    make_desk: Callable[[], Desk], places: Places, display: Display, config: Config, path: str = ""
) -> Dashboard:
    """The app, ready to run; from now on until its first rows are there no garbage is looked for."""
    # There is none in what is imported and read for them, and looking for it would take a sixth of that time.
    gc.disable()
    os.environ.update(display.environ)
    if display.colour:
        # An empty NO_COLOR asks for nothing, and Textual takes it for a wish.
        os.environ.pop("NO_COLOR", None)
    from tuibench.tui.app import Dashboard, Opening  # Textual reads the environment now: 130 ms

    state = StateFile(places.state / STATE)
    return Dashboard(make_desk(), display, check_theme(config, config_path(places)), state, Opening(path))


def _is_tty(number: int) -> bool:
    try:
        return os.isatty(number) and (number != 0 or not sys.stdin.closed)
    except (OSError, AttributeError):
        return False
