"""`tuibench [PATH]`: the dashboard where the terminal can show it, the newest results as plain text where it cannot."""

from __future__ import annotations

import time

from tuibench.cli.interruption import Interruption
from tuibench.cli.output import emit
from tuibench.cli.session import opened, tell, width
from tuibench.core.errors import ExitCode, TuibenchError, UsageError
from tuibench.core.text import show
from tuibench.report.listing import hidden_words, listing
from tuibench.request.model_token import resolve_model
from tuibench.request.request import DashboardRequest
from tuibench.workbench.hall import Workbench

_NEWEST = 30


def run(request: DashboardRequest, interruption: Interruption) -> int:
    """Show it until the user leaves, and return the exit code."""
    from tuibench.tui.start import look_at_terminal, open_dashboard  # tomllib and the registry of keys: 8 ms

    with opened() as bench:
        places = bench.settings.places
        display, config = look_at_terminal(places, request.mouse, request.ascii)
        if display.refusal:
            return _without_screen(bench, request, display.refusal)
        if request.path:
            # What is no model is said in the shell, where it was typed.
            _look_at(request.path)
        from tuibench.tui.bridge import Bridge  # what only the dashboard needs

        interruption.check()
        code, last_words = open_dashboard(lambda: Bridge(bench), places, display, config, request.path)
        if last_words:
            if request.debug:
                tell(last_words)
            raise TuibenchError("internal error: the dashboard broke; runs go on", "--debug shows where")
        return code


def _look_at(path: str) -> None:
    from tuibench.core.remote import is_remote

    if not is_remote(path):
        resolve_model(path)


def _without_screen(bench: Workbench, request: DashboardRequest, refusal: str) -> int:
    """A pipe, cron or a terminal that cannot be drawn on: no escape codes, but what there is to say."""
    if request.path:
        hint = f"tuibench benchmark {show(request.path, 100)} measures from the shell"
        raise UsageError(f"the dashboard needs a terminal: {refusal}", hint)
    tell(f"tuibench: the dashboard needs a terminal ({refusal}); this is the list of results")
    rows = bench.library.list()
    if not rows:
        emit("Nothing is measured yet: tuibench benchmark sample measures the built-in model.\n")
        return int(ExitCode.OK)
    emit(listing(rows[:_NEWEST], now=time.time(), width=width()))
    if len(rows) > _NEWEST:
        tell(hidden_words(len(rows), _NEWEST))
    return int(ExitCode.OK)
