"""`tuibench remove` of a run that is cancelled for it, and `tuibench cancel` of one that cannot be saved."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.quick import QuickShell
from tests.store.data import make_small
from tests.workbench.script import ScriptedRun
from tuibench.core.card import Card
from tuibench.core.errors import ExitCode
from tuibench.tui.bridge import Bridge
from tuibench.workbench.hall import Workbench

BUSY = "0001: ended, not saved: the store is busy; tuibench resume 0001 tries again"


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptedRun:
    """One that ends when it is asked to, and cannot be saved."""
    made = ScriptedRun(home / "tuibench" / "state" / "runs")
    made.hold()
    made.begin(pid=None, host_id="")
    made.plan()
    made.done(0, 1)
    end = {"saved": False, "why": "the store is busy"}
    monkeypatch.setattr("tuibench.workbench.intervention.cancel", lambda *_: made.end("cancelled", **end))
    return made


def test_what_could_not_be_saved_is_told_and_stays(quick: QuickShell, run: ScriptedRun) -> None:
    done = quick.run("remove", run.id, "-y")
    assert (done.code, done.err) == (ExitCode.STORE, f"{BUSY}\n")
    assert "unsaved" in quick.run("ps").out


def test_what_else_was_removed_is_no_reason_to_say_that_all_was(quick: QuickShell, run: ScriptedRun) -> None:
    other = make_small(2)
    Workbench().store.benchmarks.add(other, Card())
    done = quick.run("remove", other.id, run.id, "-y")
    assert done.code == ExitCode.STORE and BUSY in done.err and "removed 0002" in done.err


def test_a_run_that_is_cancelled_and_cannot_be_saved_is_no_success(quick: QuickShell, run: ScriptedRun) -> None:
    done = quick.run("cancel", run.id)
    assert (done.code, done.out) == (ExitCode.STORE, f"{BUSY}\n")


def test_the_dashboard_says_the_same(run: ScriptedRun) -> None:
    removed = Bridge().remove([run.id], cancel=True)
    assert (removed.words, removed.entry, removed.unsaved) == (BUSY, None, frozenset((run.id,)))
