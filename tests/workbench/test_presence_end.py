"""One snapshot of runs per second, and its reports of runs that ended since."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import FAKE, SCRIPT, detach
from tests.cli.shell import Shell, until
from tests.store.data import make_small
from tests.workbench.script import ScriptedRun
from tuibench.core import activity
from tuibench.core.card import Card
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
def test_end_of_a_run_is_reported_to_its_observer(shell: Shell, command: str, state: str) -> None:
    run = detach(shell, *FAKE, "--executions", "300", "-t", "0.05")
    bench = Workbench()
    presence, late = Presence(bench.runs, bench.store), Presence(bench.runs, bench.store)
    shell.wait_for("execution_done")
    assert look(presence, bench) == [activity.RUNNING] and not presence.ended
    assert shell.run(command, run, env=SCRIPT).code == 0
    until(lambda: look(presence, bench) == [], "that it is in the list of results alone")
    look(presence, bench)
    told = [(info.id[-4:].lower(), info.state, info.detail) for info in presence.ended]
    assert told == [(run, state, f"{command}{'l' * (command == 'cancel')}ed on request")], "once"
    assert look(late, bench) == [] and not late.ended, "no news for who comes later"


def test_starting_run_is_not_taken_for_interrupted(home: Path) -> None:
    bench = Workbench()
    begun, never = (ScriptedRun(home / "tuibench" / "state" / "runs", number) for number in (1, 2))
    presence = Presence(bench.runs, bench.store)
    assert look(presence, bench) == []
    begun.hold()
    begun.begin(pid=None)
    never_begun, goes_on = presence.look(bench.store.mark())
    assert (never_begun.info.id, never_begun.info.state) == (never.id, activity.INTERRUPTED), (
        "what has not begun by now never will"
    )
    assert (goes_on.info.id, goes_on.info.state) == (begun.id, activity.RUNNING)
    begun.let_go()


def test_run_saved_between_marker_and_snapshot_ended_well(home: Path) -> None:
    bench = Workbench()
    run, done = (ScriptedRun(home / "tuibench" / "state" / "runs", number) for number in (1, 2))
    for one in (run, done):
        one.hold()
        one.begin(pid=None, host_id="")
        one.plan()
    done.end("interrupted", reason="x")
    presence = Presence(bench.runs, bench.store)
    mark = bench.store.mark()
    assert [row.info.state for row in presence.look(mark)] == [activity.INTERRUPTED, activity.RUNNING]
    bench.store.benchmarks.add(make_small(1), Card())
    run.end(saved=True)
    assert [row.info.id for row in presence.look(mark)] == [done.id]
    assert [(info.id, info.state) for info in presence.ended] == [(run.id, activity.FINISHED)]
    assert look(presence, bench) == [activity.INTERRUPTED]
    assert [(info.id, info.state) for info in presence.ended] == [(run.id, activity.FINISHED)]
