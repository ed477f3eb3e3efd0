"""TMPDIR after processes end or are killed: empty, at the latest after the next start."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.cli.bad_model import endless_loop
from tests.cli.running import BRIEF, LONG, SCRIPT, run, runner_of
from tests.cli.shell import Shell, until
from tests.cli.terminal import Terminal
from tests.cli.test_dashboard_on_terminal import HERE


def kill_both(shell: Shell, *flags: str) -> list[str]:
    """Kill the client and the runner of an unsaved run; return what they leave in TMPDIR."""
    client = shell.start("benchmark", *LONG, *flags, env=SCRIPT)
    shell.wait_for("execution_start")
    runner = runner_of(shell)
    # A stopped runner cannot clean up after its client.
    os.kill(runner, signal.SIGSTOP)
    client.kill()
    client.communicate()
    os.kill(runner, signal.SIGKILL)
    until(lambda: not shell.processes(), "no process")
    return shell.leftovers()


def test_next_start_removes_leftovers_of_killed_processes(shell: Shell) -> None:
    (left,) = kill_both(shell)
    going = shell.start("benchmark", *LONG, "--share-host", env=SCRIPT)
    (mine,) = until(lambda: [name for name in shell.leftovers() if name != left], "its directory")
    until(lambda: left not in shell.leftovers(), "the sweep")
    assert run(shell, "benchmark", *BRIEF, "--share-host").code == 0
    assert shell.leftovers() == [mine], "its owners are alive"
    going.send_signal(signal.SIGTERM)
    assert going.communicate()[0] is not None and going.returncode == 143
    assert shell.leftovers() == []


def test_results_of_a_killed_runner_survive_the_next_start(shell: Shell) -> None:
    client = shell.start("benchmark", *LONG, "--share-host", env=SCRIPT)
    shell.wait_for("execution_start")
    (mine,) = shell.leftovers()
    held = f"/proc/{client.pid}/fd"
    until(lambda: any(os.path.realpath(f"{held}/{fd}").endswith(mine) for fd in os.listdir(held)), "the client's lock")
    os.kill(client.pid, signal.SIGSTOP)
    os.kill(runner_of(shell), signal.SIGKILL)
    assert run(shell, "benchmark", *BRIEF, "--share-host").code == 0
    assert shell.leftovers() == [mine]
    os.kill(client.pid, signal.SIGCONT)
    _, said = client.communicate()
    assert b"died by SIGKILL" in said and client.returncode == 1, said
    assert shell.leftovers() == []


def count_in_dashboard(keeper: Shell, folder: Path) -> Terminal:
    """A dashboard that counts the cost of an endless model in a child."""
    model = endless_loop(folder)
    assert keeper.run("project", "new", str(model)).code == 0
    terminal = Terminal(keeper, env=HERE)
    terminal.wait_for(model.stem)
    terminal.type("\r")
    terminal.wait_for("Performance")
    terminal.type("2")
    terminal.wait_for("theoretical")
    terminal.type("\r")
    until(lambda: keeper.pids("tuibench.child cost"), "a counting child")
    until(keeper.leftovers, "its directory")
    return terminal


@pytest.mark.parametrize("end", ["q", "SIGTERM", "SIGHUP"])
def test_dashboard_that_ends_while_counting_leaves_nothing(keeper: Shell, folder: Path, end: str) -> None:
    terminal = count_in_dashboard(keeper, folder)
    if end == "q":
        terminal.type("\x11")
    else:
        terminal.process.send_signal(signal.Signals[end])
    terminal.end()
    assert keeper.leftovers() == []


def test_dashboard_removes_leftovers_of_a_killed_dashboard(keeper: Shell, folder: Path) -> None:
    terminal = count_in_dashboard(keeper, folder)
    terminal.process.kill()
    terminal.end()
    until(lambda: not keeper.processes(), "no process")
    assert len(keeper.leftovers()) == 1
    terminal = Terminal(keeper, env=HERE)
    until(lambda: not keeper.leftovers(), "the sweep")
    terminal.wait_for("bad.onnx")
    terminal.type("\x11")
    assert terminal.end() == 0
