"""What one look a second finds of runs, and what it says of those that have ended since."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import FAKE, SCRIPT, detach
from tests.cli.shell import Shell, until
from tuibench.core import activity
from tuibench.workbench.hall import Workbench
from tuibench.workbench.presence import Presence


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path, save=True)
    yield shell
    until(lambda: not shell.processes(), "no process")


def look(presence: Presence, bench: Workbench) -> list[str]:
    return [row.info.state for row in presence.look(bench.store.mark())]


@pytest.mark.parametrize(("command", "state"), [("finish", activity.FINISHED), ("cancel", activity.CANCELLED)])
def test_how_a_run_ended_is_told_to_who_saw_it_go_on(shell: Shell, command: str, state: str) -> None:
    run = detach(shell, *FAKE, "--executions", "300", "-t", "0.05")
    bench = Workbench()
    presence, late = Presence(bench.runs, bench.store), Presence(bench.runs, bench.store)
    shell.wait_for("execution_done")
    assert look(presence, bench) == [activity.RUNNING] and not presence.ended
    assert shell.run(command, run, env=SCRIPT).code == 0
    until(lambda: look(presence, bench) == [], "that it is in the list of results alone")
    look(presence, bench)
    told = [(info.id[-4:].lower(), info.state) for info in presence.ended]
    assert told == [(run, state)], "once"
    assert look(late, bench) == [] and not late.ended, "no news for who comes later"
