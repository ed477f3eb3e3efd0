"""`tuibench remove` and `tuibench cancel` of a run that cannot be saved."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.quick import QuickShell
from tests.services.script import ScriptedRun
from tests.store.data import make_small
from tuibench.core.errors import ExitCode
from tuibench.core.stored import Metadata
from tuibench.present.outcome import removal_words
from tuibench.services.api import Services

BUSY = "0001: ended, not saved: the store is busy; tuibench resume 0001 tries again"


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptedRun:
    """A run that ends on request and cannot be saved."""
    made = ScriptedRun(home / "tuibench" / "state" / "runs")
    made.hold()
    made.begin(pid=None, host_id="")
    made.plan()
    made.done(0, 1)
    end = {"saved": False, "why": "the store is busy"}
    monkeypatch.setattr("tuibench.services.control.cancel", lambda *_: made.end("cancelled", **end))
    return made


def test_unsaved_run_is_reported_and_not_removed(quick: QuickShell, run: ScriptedRun) -> None:
    done = quick.run("remove", run.id, "-y")
    assert (done.code, done.err) == (ExitCode.STORE, f"{BUSY}\n")
    assert "unsaved" in quick.run("ps").out


def test_confirmation_without_terminal_names_what_is_deleted(quick: QuickShell, home: Path) -> None:
    broken = ScriptedRun(home / "tuibench" / "state" / "runs")
    broken.begin(pid=None, host_id="")
    broken.plan()
    broken.done(0, 1)
    done = quick.run("remove", broken.id)
    assert done.code == ExitCode.USAGE
    assert "tuibench remove -y skips it and deletes the unsaved measurements permanently" in done.err


def test_partial_removal_is_not_reported_as_complete(quick: QuickShell, run: ScriptedRun) -> None:
    other = make_small(2)
    Services().store.benchmarks.add(other, Metadata())
    done = quick.run("remove", other.id, run.id, "-y")
    assert done.code == ExitCode.STORE and BUSY in done.err and "removed 0002" in done.err


def test_cancelled_run_that_cannot_be_saved_is_an_error(quick: QuickShell, run: ScriptedRun) -> None:
    done = quick.run("cancel", run.id)
    assert (done.code, done.out) == (ExitCode.STORE, f"{BUSY}\n")


def test_dashboard_reports_the_same(run: ScriptedRun) -> None:
    removed = Services().library.remove([run.id], cancel=True)
    assert (removed.entry, [one.id for one in removed.unsaved]) == (None, [run.id])
    assert removal_words(removed) == BUSY
