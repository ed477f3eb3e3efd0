"""The dashboard over a line of 20 kB/s, as a poor connection is one: it never lags behind, so quitting is quick."""

from __future__ import annotations

import select
import time
from typing import Any

from tests.cli.running import SCRIPT, detach, end, state
from tests.cli.shell import PATIENCE_S, Shell
from tests.cli.terminal import Terminal
from tests.cli.test_dashboard_on_terminal import HERE, NORMAL

LINE = 20_000
"""Bytes per second."""
QUIT_S = 0.5
_PART_S = 0.02
_QUIET_S = 0.3
"""Longer than the line needs for what the kernel holds back of it: who is silent as long has nothing more to say."""


class SlowTerminal(Terminal):
    """Takes no more than its line carries; what comes faster waits in the dashboard."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._carried_s = 0.0
        """Until when the line is busy with what it took."""
        self.waits = 0

    def allowance(self) -> int:
        now = time.monotonic()
        if self._carried_s > now:
            self.waits += 1
            select.select([], [], [], self._carried_s - now)
        self._carried_s = max(self._carried_s, now) + _PART_S
        return int(LINE * _PART_S)

    def come_to_rest(self) -> None:
        """Read until the line has been silent for a while."""
        deadline = time.monotonic() + PATIENCE_S
        self.shown = " "
        while self.shown:
            assert time.monotonic() < deadline, "the line never came to rest"
            self.forget()
            self.read(_QUIET_S)


def test_quitting_from_a_run_that_goes_on_takes_half_a_second(keeper: Shell) -> None:
    """By the bytes that are to be carried from the key to the end: other work on this machine does not matter."""
    token = detach(keeper)
    terminal = SlowTerminal(keeper, env={**HERE, **SCRIPT})
    terminal.wait_for("sample:tiny")
    terminal.type("\r")
    terminal.wait_for(token)
    terminal.type("\r")
    terminal.wait_for("execution")
    terminal.come_to_rest()
    assert terminal.waits, "all of it was sent no faster than the line carries it, which proves nothing"
    terminal.type("\x11")
    assert terminal.end() == 0
    assert NORMAL in terminal.shown
    assert len(terminal.shown.encode()) / LINE <= QUIT_S, terminal.shown
    assert state(token) == "running"
    end(keeper, token)
