"""The dashboard over a line of 20 kB/s: output never queues up, so quitting is quick."""

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
"""Longer than the line needs for the data buffered in the kernel: silence of this length means no more output."""


class SlowTerminal(Terminal):
    """Reads no faster than its line carries; the excess waits in the dashboard."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._carried_s = 0.0
        """Time until which the line is busy with earlier data."""
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


def test_quit_during_a_run_on_a_slow_line_takes_half_a_second(keeper: Shell) -> None:
    """Count the bytes from the key to the end, so that load on this machine does not matter."""
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
