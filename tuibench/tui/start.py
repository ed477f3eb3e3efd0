"""Starts the dashboard: sets the environment before importing Textual, which reads it at import."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tuibench.core.activity import ALIVE
from tuibench.core.machine import Places
from tuibench.core.text import show
from tuibench.services.api import Services
from tuibench.services.state_file import StateFile
from tuibench.tui.config import NAME, Config, display_options, read_config
from tuibench.tui.terminal import Display, plan_display

if TYPE_CHECKING:
    from tuibench.tui.app import Dashboard


STATE = "dashboard.json"


def look_at_terminal(places: Places, mouse: bool | None, ascii_only: bool) -> tuple[Display, Config]:
    """Return how this terminal can show the dashboard, or why it cannot, and the config file's content."""
    config = read_config(config_path(places))
    ttys = (_is_tty(0), _is_tty(1), _is_tty(2))
    return plan_display(os.environ, ttys, display_options(config, mouse, ascii_only)), config


def config_path(places: Places) -> Path:
    """Return the path of the config file, which may not exist."""
    return places.config / NAME


def check_theme(config: Config) -> Config:
    """Return the config, with a problem added if Textual has no such theme."""
    if not config.theme:
        return config
    from textual.theme import BUILTIN_THEMES  # deferred: only a named theme needs the list (130 ms)

    if config.theme in BUILTIN_THEMES:
        return config
    known = ", ".join(sorted(BUILTIN_THEMES))
    problem = f"there is no theme {show(config.theme, 40)}; there are {known}"
    return replace(config, problems=(*config.problems, problem))


@dataclass(frozen=True, slots=True)
class Left:
    """Result of a dashboard session."""

    code: int
    """Exit code."""
    traceback_text: str
    """A traceback after a crash, else ''."""
    going: tuple[str, ...]
    """Ids of the runs still alive at the last poll."""


def open_dashboard(services: Services, places: Places, display: Display, config: Config, path: str = "") -> Left:
    """Run the dashboard until it exits."""
    app = make_dashboard(services, places, display, config, path)
    app.run(mouse=display.mouse)
    # A choice made right before the exit may not be written yet.
    app.remembered.keep()
    runs = app.snapshot.runs if app.snapshot is not None else ()
    going = tuple(row.info.id for row in runs if row.info.state in ALIVE)
    return Left(app.return_code or 0, app.traceback_text, going)


def make_dashboard(services: Services, places: Places, display: Display, config: Config, path: str = "") -> Dashboard:
    """Return the app, ready to run; the garbage collector stays off until the first rows are shown."""
    # The imports and the first read create no garbage; searching for some would take a sixth of their time.
    gc.disable()
    os.environ.update(display.environ)
    if display.colour:
        # An empty NO_COLOR requests nothing, but Textual treats it as set.
        os.environ.pop("NO_COLOR", None)
    from tuibench.tui.app import Dashboard, Opening  # deferred: Textual reads the environment at import (130 ms)

    state = StateFile(places.state / STATE)
    return Dashboard(services, display, check_theme(config), state, Opening(path))


def _is_tty(number: int) -> bool:
    try:
        return os.isatty(number) and (number != 0 or not sys.stdin.closed)
    except (OSError, AttributeError):
        return False


T = TypeVar("T")


class DaemonThreads(ThreadPoolExecutor):
    """One thread per call (50 µs), ended with the process; a ThreadPoolExecutor because asyncio accepts no other.

    Ending them is safe: runs are other processes, and the store survives a kill at any instant.
    """

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Start `fn` at once."""
        future: Future[T] = Future()

        def carry_out() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                value = fn(*args, **kwargs)
            except BaseException as error:  # the caller gets it from the future
                future.set_exception(error)
            else:
                future.set_result(value)

        threading.Thread(target=carry_out, name="services", daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Return without waiting."""
