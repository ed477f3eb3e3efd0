"""Stopped and idle dashboards block no other process and use little CPU."""

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
from tuibench.core.ids import short_id
from tuibench.services.api import Services

BRIEF = (*FAKE, "--executions", "1", "-t", "0.05")
WATCHED_S = 15.0
MOST = 0.01
"""Share of one core for each of three watching dashboards, on a processor with an empty call of CALL_NS."""
CALL_NS = 23.0
"""Duration on the idle machine that set the budget; slower machines get a larger budget."""


def test_stopped_dashboard_blocks_nobody_and_catches_up(keeper: Shell) -> None:
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
    assert not Services().store.check().problems


@pytest.mark.slow
def test_runner_and_three_watching_dashboards_use_little_cpu(keeper: Shell) -> None:
    """Use CPU time counted by the kernel, which depends less on other load than wall time."""
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
    # The runner's executions are a tenth of the usual length here, and starting each one costs most of its CPU.
    assert max(shares[1:]) <= MOST * slowness and shares[0] <= 2 * MOST * slowness, (shares, slowness)


def how_slow() -> float:
    """Return how many times longer an empty call takes now than on the reference machine; at least 1."""
    return max(1.0, calibrate(time.thread_time_ns)[0] / CALL_NS)


def watch(terminals: list[Terminal], pids: list[int]) -> list[float]:
    """Return each process's share of one core while its terminal was read."""
    before, begin = [cpu_s(pid) for pid in pids], time.monotonic()
    while time.monotonic() - begin < WATCHED_S:
        for terminal in terminals:
            terminal.read(WATCHED_S / 100)
    took = time.monotonic() - begin
    return [(cpu_s(pid) - was) / took for pid, was in zip(pids, before, strict=True)]


def cpu_s(pid: int) -> float:
    """Return the CPU time of all threads of a process."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9
