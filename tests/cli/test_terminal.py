"""At a terminal: the Ctrl-C question, each answer to it, and a hangup during a run."""

from __future__ import annotations

import os
import signal

import pytest

from tests.cli import running
from tests.cli.running import SCRIPT
from tests.cli.shell import Shell, until
from tests.cli.terminal import Terminal
from tuibench.services.api import Services

FAKE = ("benchmark", *running.FAKE)
LONG = ("benchmark", *running.LONG)
QUESTION = "again: cancel (1 cell kept) · d: detach · any other key: continue"


@pytest.fixture
def terminal(keeper: Shell) -> Terminal:
    """A run at a terminal that has measured something."""
    terminal = Terminal(keeper, *LONG, env=SCRIPT)
    keeper.wait_for("execution_done", n=2)
    return terminal


def state() -> str:
    return Services().runs.info("last").state


def cancel(keeper: Shell) -> None:
    assert keeper.run("cancel", "last", env=SCRIPT).code == 0
    until(lambda: not keeper.processes(), "no process")


def test_benchmark_breaks_lines_between_words(keeper: Shell) -> None:
    command = Terminal(keeper, "benchmark", *running.BRIEF, env=SCRIPT, size=(60, 24))
    assert command.end() == 0
    lines = [line.rpartition("\r")[2] for line in command.shown.replace("\r\n", "\n").split("\n")]
    assert [line.split()[0] for line in lines if len(line) > 60] == ["Again:"]
    assert any(line.startswith("  ") for line in lines)
    refused = Terminal(keeper, "benchmark", "sample:tiny", "-e", "onnxruntime@1.2", env=SCRIPT, size=(40, 24))
    assert refused.end() == 2 and max(map(len, refused.shown.splitlines())) <= 40


def test_second_ctrl_c_cancels_and_keeps_measurements(keeper: Shell, terminal: Terminal) -> None:
    terminal.type("\x03")
    terminal.wait_for(QUESTION)
    assert state() == "running"
    terminal.type("\x03")
    assert terminal.end() == 130
    until(lambda: not keeper.processes(), "no process", 2.0)
    (row,) = Services().store.benchmarks.rows()
    assert (row.status, row.measured) == ("cancelled", 1)
    assert f"saved as {row.id[-4:].lower()}" in terminal.shown


def test_d_detaches_the_run(keeper: Shell, terminal: Terminal) -> None:
    terminal.type("\x03")
    terminal.wait_for(QUESTION)
    terminal.type("d")
    assert terminal.end() == 0
    assert "detached: tuibench attach" in terminal.shown
    done = len([e for e in keeper.events() if e["ev"] == "execution_done"])
    until(lambda: len([e for e in keeper.events() if e["ev"] == "execution_done"]) > done, "it goes on")
    cancel(keeper)


@pytest.mark.slow
def test_other_keys_continue_and_the_next_ctrl_c_asks_again(keeper: Shell, terminal: Terminal) -> None:
    terminal.type("\x03")
    terminal.wait_for(QUESTION)
    for key in (" ", "\x1b[A", "x", "\r"):
        terminal.forget()
        terminal.type(key)
        keeper.wait_for("execution_done", n=len([e for e in keeper.events() if e["ev"] == "execution_done"]) + 2)
        assert terminal.process.poll() is None, key
        terminal.type("\x03")
        terminal.wait_for(QUESTION)
    terminal.type("\x03")
    assert terminal.end() == 130


def test_question_disappears_when_the_run_ends(keeper: Shell) -> None:
    terminal = Terminal(keeper, *FAKE, "--executions", "3", "-t", "0.75", env=SCRIPT)
    keeper.wait_for("execution_done")
    terminal.type("\x03")
    assert terminal.end() == 0
    assert "saved as" in terminal.shown


def test_lost_line_leaves_the_run_active(keeper: Shell, terminal: Terminal) -> None:
    terminal.cut()
    assert terminal.wait() == 129
    assert state() == "running"
    done = len([e for e in keeper.events() if e["ev"] == "execution_done"])
    until(lambda: len([e for e in keeper.events() if e["ev"] == "execution_done"]) > done, "it goes on")
    cancel(keeper)


def test_hangup_signal_at_a_live_terminal_cancels(keeper: Shell, terminal: Terminal) -> None:
    terminal.process.send_signal(signal.SIGHUP)
    assert terminal.end() == 129
    until(lambda: not keeper.processes(), "no process", 2.0)
    assert Services().store.benchmarks.rows()[0].status == "cancelled"


def test_killed_client_ends_its_run_at_a_terminal(keeper: Shell, terminal: Terminal) -> None:
    os.kill(terminal.process.pid, signal.SIGKILL)
    assert terminal.end() == 137
    until(lambda: not keeper.processes(), "no process", 2.0)
    assert Services().store.benchmarks.rows()[0].status == "cancelled"


def test_unsaved_run_cannot_be_detached(shell: Shell) -> None:
    terminal = Terminal(shell, *LONG, "--no-save", env=SCRIPT)
    shell.wait_for("execution_done")
    terminal.type("\x03")
    terminal.wait_for("again: cancel (1 cell printed) · any other key: continue")
    terminal.type("d")
    shell.wait_for("execution_done", n=len([e for e in shell.events() if e["ev"] == "execution_done"]) + 2)
    terminal.forget()
    terminal.type("\x03")
    terminal.wait_for("again: cancel")
    terminal.type("\x03")
    assert terminal.end() == 130
    until(lambda: not shell.processes() and not shell.leftovers(), "nothing is left", 2.0)


def test_dropped_export_is_reported_on_detach(keeper: Shell) -> None:
    terminal = Terminal(keeper, *LONG, "-x", "/tmp/never.json", env=SCRIPT)
    keeper.wait_for("execution_done", n=2)
    terminal.type("\x03")
    terminal.wait_for(QUESTION)
    terminal.type("d")
    assert terminal.end() == 0
    assert "never.json is not written: tuibench export" in terminal.shown
    cancel(keeper)
