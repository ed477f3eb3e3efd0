"""Dashboards that stand still or only watch: they are in nobody's way, and cost next to nothing."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.benchmarks.calibration import calibrate
from tests.cli.running import FAKE, SCRIPT, detach, run, runner_of, stored
from tests.cli.shell import Shell
from tests.cli.terminal import Terminal
from tests.cli.test_dashboard_on_terminal import HERE
from tuibench.core.short_id import short_id
from tuibench.workbench.hall import Workbench

BRIEF = (*FAKE, "--executions", "1", "-t", "0.05")
WATCHED_S = 15.0
MOST = 0.01
"""Of one core, for each of three dashboards that watch a run, on a processor that makes an empty call in CALL_NS."""
CALL_NS = 23.0
"""Of the machine that the budget was set on, while nothing else ran on it; others are given what they are slower."""


def test_a_stopped_dashboard_stops_nobody_and_sees_it_all_later(keeper: Shell) -> None:
    assert run(keeper, "benchmark", *BRIEF).code == 0
    terminal = Terminal(keeper, env={**HERE, **SCRIPT})
    terminal.wait_for("sample:tiny")
    terminal.type("\r")
    terminal.wait_for(short_id(stored()[0]))
    terminal.process.send_signal(signal.SIGSTOP)
    assert run(keeper, "benchmark", *BRIEF).code == 0
    newest = stored()[0]
    assert len(stored()) == 2
    assert short_id(newest) in run(keeper, "list").out
    assert run(keeper, "edit", short_id(newest), "--name", "meanwhile").code == 0
    terminal.forget()
    terminal.process.send_signal(signal.SIGCONT)
    terminal.wait_for("\x1b[?1049h")
    terminal.wait_for("CORES×BATCH")
    terminal.wait_for(short_id(newest))
    terminal.type("\x11")
    assert terminal.end() == 0
    assert not Workbench().store.check().problems


@pytest.mark.slow
def test_a_runner_and_three_dashboards_that_watch_it_take_little(keeper: Shell) -> None:
    """As processor time that the kernel counted, which other work on this machine changes less than the clock's."""
    assert run(keeper, "benchmark", *BRIEF).code == 0
    token = detach(keeper)
    terminals = [Terminal(keeper, env={**HERE, **SCRIPT}) for _ in range(3)]
    for terminal in terminals:
        terminal.wait_for("sample:tiny")
        terminal.type("\r")
        terminal.wait_for(token)
        terminal.type("\r")
        terminal.wait_for("execution")
    pids = [runner_of(keeper), *(terminal.process.pid for terminal in terminals)]
    slowness = how_slow()
    shares = watch(terminals, pids)
    slowness = max(slowness, how_slow())
    assert run(keeper, "cancel", token).code == 0
    for terminal in terminals:
        terminal.type("\x11")
        assert terminal.end() == 0
    # The runner's executions are a tenth as long here as usual, and starting each is what it does.
    assert max(shares[1:]) <= MOST * slowness and shares[0] <= 2 * MOST * slowness, (shares, slowness)


def how_slow() -> float:
    """How much longer than there an empty call takes here, now, with as much going on as there is; at least 1."""
    return max(1.0, calibrate(time.thread_time_ns)[0] / CALL_NS)


def watch(terminals: list[Terminal], pids: list[int]) -> list[float]:
    """Of each process, the share of one core that it took while its terminal was read."""
    before, begin = [cpu_s(pid) for pid in pids], time.monotonic()
    while time.monotonic() - begin < WATCHED_S:
        for terminal in terminals:
            terminal.read(WATCHED_S / 100)
    took = time.monotonic() - begin
    return [(cpu_s(pid) - was) / took for pid, was in zip(pids, before, strict=True)]


def cpu_s(pid: int) -> float:
    """Time on a processor of all threads of a process."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9
