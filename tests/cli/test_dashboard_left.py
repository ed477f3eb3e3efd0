"""Messages about runs after the dashboard ends; its last snapshot is up to a second old."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.quick import QuickShell
from tests.services.script import ScriptedRun
from tuibench.tui.config import Config
from tuibench.tui.start import Left
from tuibench.tui.terminal import Display


@pytest.fixture
def runs(home: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[ScriptedRun, ...]:
    """Two runs that were active at the last snapshot of a dashboard that ends at once."""
    made = tuple(ScriptedRun(home / "tuibench" / "state" / "runs", number) for number in (1, 2))
    for run in made:
        run.hold()
        run.begin(host_id="")
    left = Left(0, "", tuple(run.id for run in made))
    monkeypatch.setattr("tuibench.cli.dashboard.look_at_terminal", lambda *_: (Display(), Config()))
    monkeypatch.setattr("tuibench.cli.dashboard.open_dashboard", lambda *_: left)
    return made


def test_only_runs_active_at_exit_are_reported_as_running(quick: QuickShell, runs: tuple[ScriptedRun, ...]) -> None:
    words = (
        "2 runs still running: tuibench ps lists them\n",
        "run 0002 still running: tuibench attach 0002 follows it\n",
        "",
    )
    for run, said in zip((None, *runs), words, strict=True):
        if run is not None:
            run.end("finished", saved=True)
            run.let_go()
        done = quick.call()
        assert (done.code, done.err) == (0, said)
