"""The dashboard dies or loses its terminal at any point: its runs continue without loss."""

from __future__ import annotations

import json
import os
import random
import signal
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.running import FAKE, SCRIPT, run, stored
from tests.cli.shell import Shell, until
from tests.cli.terminal import Terminal
from tests.cli.test_dashboard_on_terminal import HERE
from tuibench.core.ids import short_id

POINTS = 50
FARTHEST = 7000
"""More characters than the terminal gets from the answer to the end of such a run."""
WITHOUT_HANGUP = (("env", "--ignore-signal=HUP"), ("setsid", "-w"))
"""Start by nohup, and a terminal of another session, whose loss sends no hangup."""


@pytest.fixture
def first(keeper: Shell) -> str:
    """A stored benchmark to rerun."""
    done = run(keeper, "benchmark", *FAKE, "--executions", "2", "-t", "0.1")
    assert done.code == 0, done.err
    return stored()[0]


def ask_for_it(keeper: Shell, first: str, **options: object) -> Terminal:
    """Open the benchmark's project in the dashboard and press `r` to show the rerun question."""
    terminal = Terminal(keeper, env={**HERE, **SCRIPT}, **options)  # type: ignore[arg-type]
    terminal.wait_for("sample:tiny")
    terminal.type("r")
    terminal.wait_for("Re-run")
    return terminal


def lose(terminal: Terminal, how: str) -> None:
    if how == "kill":
        terminal.process.send_signal(signal.SIGKILL)
    terminal.cut()
    assert terminal.wait() == (137 if how == "kill" else 129)


def began(known: set[str]) -> set[str]:
    """Return the runs that are new."""
    runs = Path(os.environ["TUIBENCH_HOME"], "state", "runs")
    return (
        {path.name for path in runs.iterdir() if (path / "journal.jsonl").exists()} - known if runs.is_dir() else set()
    )


def check_replay(keeper: Shell, one: str) -> None:
    """Require every event once, in order, up to the end."""
    done = run(keeper, "attach", short_id(one), "--json")
    events = [json.loads(line) for line in done.lines]
    assert [event["seq"] for event in events] == list(range(len(events)))
    assert (events[0]["ev"], events[-1]["ev"]) == ("run_start", "run_end")
    executions = Counter((event["cell"], event["n"]) for event in events if event["ev"] == "execution_done")
    assert len(executions) == 2 and set(executions.values()) == {1}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_run_survives_dashboard_death_at_fifty_points(keeper: Shell, first: str) -> None:
    draw = random.Random(POINTS)
    known = began(set())
    started = 0
    for number in range(POINTS):
        terminal = ask_for_it(keeper, first)
        terminal.type("y")
        terminal.take(draw.randrange(FARTHEST), lambda: began(known) and not keeper.pids("tuibench.runner"))
        lose(terminal, ("kill", "cut")[number % 2])
        until(lambda: not keeper.processes(), "the end of all")
        for one in began(known):
            started += 1
            known.add(one)
            assert one in stored()
            check_replay(keeper, one)
    assert started >= POINTS // 2, "a run that never began proves nothing"
    assert len(stored()) == 1 + started


@pytest.mark.parametrize("wrap", WITHOUT_HANGUP, ids=" ".join)
def test_dashboard_ends_when_its_terminal_is_gone_without_hangup(
    keeper: Shell, home: Path, wrap: tuple[str, ...]
) -> None:
    terminal = Terminal(keeper, env=HERE, wrap=wrap)
    terminal.wait_for("No project yet.")
    terminal.cut()
    assert terminal.wait() == 129
    until(lambda: not keeper.processes(), "the end of the dashboard, which reads an end of file for ever")
