"""At a terminal: what Ctrl-C asks and each answer to it, and a line that is cut in the middle of a run."""

from __future__ import annotations

import os
import signal

import pytest

from tests.cli import running
from tests.cli.running import SCRIPT
from tests.cli.shell import Shell, until
from tests.cli.terminal import Terminal
from tuibench.workbench.hall import Workbench

FAKE = ("benchmark", *running.FAKE)
LONG = ("benchmark", *running.LONG)
QUESTION = "again: cancel (1 cell kept) · d: detach · any other key: go on"


@pytest.fixture
def terminal(keeper: Shell) -> Terminal:
    """A run that has measured something, at a terminal."""
    terminal = Terminal(keeper, *LONG, env=SCRIPT)
    keeper.wait_for("execution_done", n=2)
    return terminal


def state() -> str:
    return Workbench().runs.info("last").state


def cancel(keeper: Shell) -> None:
    assert keeper.run("cancel", "last", env=SCRIPT).code == 0
    until(lambda: not keeper.processes(), "no process")


def test_ctrl_c_twice_cancels_and_keeps_what_was_measured(keeper: Shell, terminal: Terminal) -> None:
    terminal.type("\x03")
    terminal.wait_for(QUESTION)
    assert state() == "running"
    terminal.type("\x03")
    assert terminal.end() == 130
    until(lambda: not keeper.processes(), "no process", 2.0)
    (row,) = Workbench().store.benchmarks.rows()
    assert (row.status, row.measured) == ("cancelled", 1)
    assert f"saved as {row.id[-4:].lower()}" in terminal.shown


def test_d_lets_the_run_go(keeper: Shell, terminal: Terminal) -> None:
    terminal.type("\x03")
    terminal.wait_for(QUESTION)
    terminal.type("d")
    assert terminal.end() == 0
    assert "goes on alone: tuibench attach" in terminal.shown
    done = len([e for e in keeper.events() if e["ev"] == "execution_done"])
    until(lambda: len([e for e in keeper.events() if e["ev"] == "execution_done"]) > done, "it goes on")
    cancel(keeper)


@pytest.mark.slow
def test_any_other_key_goes_on_and_the_question_comes_back(keeper: Shell, terminal: Terminal) -> None:
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


def test_the_question_goes_away_when_the_run_ends_meanwhile(keeper: Shell) -> None:
    terminal = Terminal(keeper, *FAKE, "--executions", "3", "-t", "0.75", env=SCRIPT)
    keeper.wait_for("execution_done")
    terminal.type("\x03")
    assert terminal.end() == 0
    assert "saved as" in terminal.shown


def test_a_line_that_is_cut_leaves_the_run_going(keeper: Shell, terminal: Terminal) -> None:
    terminal.cut()
    assert terminal.wait() == 129
    assert state() == "running"
    done = len([e for e in keeper.events() if e["ev"] == "execution_done"])
    until(lambda: len([e for e in keeper.events() if e["ev"] == "execution_done"]) > done, "it goes on")
    cancel(keeper)


def test_a_hang_up_signal_from_somebody_at_a_living_terminal_cancels(keeper: Shell, terminal: Terminal) -> None:
    terminal.process.send_signal(signal.SIGHUP)
    assert terminal.end() == 129
    until(lambda: not keeper.processes(), "no process", 2.0)
    assert Workbench().store.benchmarks.rows()[0].status == "cancelled"


def test_a_killed_client_takes_its_run_along_even_at_a_terminal(keeper: Shell, terminal: Terminal) -> None:
    os.kill(terminal.process.pid, signal.SIGKILL)
    assert terminal.end() == 137
    until(lambda: not keeper.processes(), "no process", 2.0)
    assert Workbench().store.benchmarks.rows()[0].status == "cancelled"


def test_a_run_that_nobody_wants_kept_cannot_be_let_go(shell: Shell) -> None:
    terminal = Terminal(shell, *LONG, "--no-save", env=SCRIPT)
    shell.wait_for("execution_done")
    terminal.type("\x03")
    terminal.wait_for("again: cancel (1 cell printed) · any other key: go on")
    terminal.type("d")
    shell.wait_for("execution_done", n=len([e for e in shell.events() if e["ev"] == "execution_done"]) + 2)
    terminal.forget()
    terminal.type("\x03")
    terminal.wait_for("again: cancel")
    terminal.type("\x03")
    assert terminal.end() == 130
    until(lambda: not shell.processes() and not shell.leftovers(), "nothing is left", 2.0)


def test_an_export_that_was_asked_for_is_not_forgotten_in_silence(keeper: Shell) -> None:
    terminal = Terminal(keeper, *LONG, "-x", "/tmp/never.json", env=SCRIPT)
    keeper.wait_for("execution_done", n=2)
    terminal.type("\x03")
    terminal.wait_for(QUESTION)
    terminal.type("d")
    assert terminal.end() == 0
    assert "never.json is not written: tuibench export" in terminal.shown
    cancel(keeper)
