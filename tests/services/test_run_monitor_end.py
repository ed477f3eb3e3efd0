"""One snapshot of runs per second, and its reports of runs that ended since."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import FAKE, SCRIPT, detach
from tests.cli.shell import Shell, until
from tests.services.script import ScriptedRun
from tests.store.data import make_small
from tuibench.core import activity
from tuibench.core.reason import Reason
from tuibench.core.stored import Metadata
from tuibench.services.api import Services
from tuibench.services.monitor import Monitor


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path, save=True)
    yield shell
    until(lambda: not shell.processes(), "no process")


def look(monitor: Monitor, services: Services) -> list[str]:
    return [row.info.state for row in monitor.look().runs]


@pytest.mark.parametrize(("command", "state"), [("finish", activity.FINISHED), ("cancel", activity.CANCELLED)])
def test_end_of_a_run_is_reported_to_its_observer(shell: Shell, command: str, state: str) -> None:
    run = detach(shell, *FAKE, "--executions", "300", "-t", "0.05")
    services = Services()
    monitor, late = Monitor(services.runs, services.store), Monitor(services.runs, services.store)
    shell.wait_for("execution_done")
    assert look(monitor, services) == [activity.RUNNING] and not monitor.look().ended
    assert shell.run(command, run, env=SCRIPT).code == 0
    until(lambda: look(monitor, services) == [], "that it is in the list of results alone")
    look(monitor, services)
    told = [(info.id[-4:].lower(), info.state, info.detail) for info in monitor.look().ended]
    assert told == [(run, state, Reason(f"{command}{'l' * (command == 'cancel')}ed_on_request"))], "once"
    assert look(late, services) == [] and not late.look().ended, "no news for who comes later"


def test_starting_run_is_not_taken_for_interrupted(home: Path) -> None:
    services = Services()
    begun, never = (ScriptedRun(home / "tuibench" / "state" / "runs", number) for number in (1, 2))
    monitor = Monitor(services.runs, services.store)
    assert look(monitor, services) == []
    begun.hold()
    begun.begin(pid=None)
    never_begun, goes_on = monitor.look().runs
    assert (never_begun.info.id, never_begun.info.state) == (never.id, activity.INTERRUPTED), (
        "what has not begun by now never will"
    )
    assert (goes_on.info.id, goes_on.info.state) == (begun.id, activity.RUNNING)
    begun.let_go()


def test_run_saved_between_marker_and_snapshot_ended_well(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    services = Services()
    run, done = (ScriptedRun(home / "tuibench" / "state" / "runs", number) for number in (1, 2))
    for one in (run, done):
        one.hold()
        one.begin(pid=None, host_id="")
        one.plan()
    done.end("interrupted", reason="x")
    monitor = Monitor(services.runs, services.store)
    mark = services.store.mark()
    with monkeypatch.context() as before:
        before.setattr(services.store, "mark", lambda: mark)
        assert [row.info.state for row in monitor.look().runs] == [activity.INTERRUPTED, activity.RUNNING]
        services.store.benchmarks.add(make_small(1), Metadata())
        run.end(saved=True)
        seen = monitor.look()
    assert [row.info.id for row in seen.runs] == [done.id]
    assert [(info.id, info.state) for info in seen.ended] == [(run.id, activity.FINISHED)]
    assert look(monitor, services) == [activity.INTERRUPTED]
    assert [(info.id, info.state) for info in monitor.look().ended] == [(run.id, activity.FINISHED)]
