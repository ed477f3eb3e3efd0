"""`tuibench [PATH]`: the dashboard, or the newest results as plain text if the terminal cannot show it."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from tuibench.cli.output import emit, open_services, tell, tell_error, width
from tuibench.cli.terminal import Interruption
from tuibench.core.errors import ExitCode, PhaseTimeout, TuibenchError, UsageError
from tuibench.core.ids import short_id
from tuibench.core.model import is_remote
from tuibench.core.settings.model_token import SAMPLES, resolve_model
from tuibench.core.settings.request import DashboardRequest
from tuibench.present.listing import NEWEST, hidden_words, listing, profile_words
from tuibench.present.reason import reason_words
from tuibench.services.api import Services
from tuibench.services.detached_runner import sweep_temporary
from tuibench.services.models import inspect
from tuibench.tui.start import look_at_terminal, open_dashboard

if TYPE_CHECKING:
    from tuibench.tui.terminal import Display

_LOOK_SCALE = 0.05
"""Factor for the time limit of reading a model, so that the first screen appears soon."""


def run(request: DashboardRequest, interruption: Interruption) -> int:
    """Show the dashboard until the user leaves; return the exit code."""
    with open_services() as services:
        places = services.settings.places
        display, config = look_at_terminal(places, request.mouse, request.ascii)
        if display.refusal:
            return _without_screen(services, request, display)
        if request.path:
            # Report an unreadable model in the shell, where the user typed it.
            _look_at(services, request.path)
        interruption.check()
        # A thread, so that the first screen need not wait.
        threading.Thread(target=sweep_temporary, name="sweep", daemon=True).start()
        left = open_dashboard(services, places, display, config, request.path)
        if left.traceback_text:
            if request.debug:
                tell(left.traceback_text)
            raise TuibenchError("dashboard_failed")
        job = services.installing()
        ended = job.close() if job is not None else None
        if ended is not None:
            tell_error(ended)
        # The dashboard's last poll is up to a second old: a run may have ended since.
        going = services.runs.alive(left.going) if left.going and left.code == ExitCode.OK else ()
        if going:
            tell(_going_words(going))
        return left.code


def _going_words(ids: Sequence[str]) -> str:
    """Return the message for a user who leaves while runs are alive."""
    if len(ids) > 1:
        return f"{len(ids)} runs still running: tuibench ps lists them"
    run = short_id(ids[0])
    return f"run {run} still running: tuibench attach {run} follows it"


def _look_at(services: Services, path: str) -> None:
    """Raise ModelError if the file is not a model; skip a slow one, which the form checks again."""
    if is_remote(path) or path in SAMPLES:
        return
    with suppress(PhaseTimeout):
        inspect(resolve_model(path), services.settings.places, timeout_scale=_LOOK_SCALE)


def _without_screen(services: Services, request: DashboardRequest, display: Display) -> int:
    """Print the results without escape codes, for a pipe, cron or an unsuitable terminal."""
    if request.path:
        raise UsageError("dashboard_needs_terminal", path=request.path, why=display.refusal)
    tell(f"tuibench: the dashboard needs a terminal ({reason_words(display.refusal)}); this is the list of results")
    rows, profiles = services.library.list(), services.library.list_profiles()
    if not rows and not profiles:
        emit("Nothing is measured yet: tuibench benchmark sample measures the built-in model.\n")
        return int(ExitCode.OK)
    emit(listing(rows, now=time.time(), limit=NEWEST, width=width(), ascii_only=display.ascii_only))
    if words := hidden_words(len(rows), NEWEST):
        tell(words)
    if profiles:
        tell(profile_words(len(profiles)))
    return int(ExitCode.OK)
