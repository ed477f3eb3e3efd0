"""`tuibench remove` of a run that is cancelled for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.quick import QuickShell
from tests.workbench.script import ScriptedRun
from tuibench.tui.bridge import Bridge

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
    assert (done.code, done.err) == (0, f"{BUSY}\n")
    assert "unsaved" in quick.run("ps").out


def test_the_dashboard_says_the_same(run: ScriptedRun) -> None:
    removed = Bridge().remove([run.id], cancel=True)
    assert (removed.words, removed.entry, removed.unsaved) == (BUSY, None, frozenset((run.id,)))
