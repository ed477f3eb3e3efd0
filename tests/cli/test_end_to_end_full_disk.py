"""Disks that are full or read-only, before and during a run: no measurement is lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import BRIEF, LONG, SCRIPT, run
from tests.cli.shell import Shell, until
from tuibench.runs.journal import read_history
from tuibench.services.api import Services


def mount(place: Path, *options: str) -> None:
    place.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["mount", *options, str(place)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")


@pytest.fixture
def small(keeper: Shell) -> Iterator[Path]:
    """Mount a separate 24 MB disk for everything that is stored."""
    home = Path(os.environ["TUIBENCH_HOME"])
    mount(home, "-t", "tmpfs", "-o", "size=24m", "none")
    yield home
    until(lambda: not keeper.processes(), "no process")
    subprocess.run(["umount", str(home)], check=True)


def fill(home: Path, leave_bytes: int) -> Path:
    """Fill the disk except for that much."""
    filler = home / "filler"
    room = os.statvfs(home)
    free = room.f_bavail * room.f_frsize
    # An active run may take some of the space meanwhile.
    with suppress(OSError), filler.open("ab") as handle:
        handle.write(b"x" * max(0, free - leave_bytes))
    return filler


def stored() -> tuple[Any, ...]:
    return Services().store.benchmarks.rows()


def test_disk_full_during_a_run_interrupts_it_without_loss(keeper: Shell, small: Path) -> None:
    process = keeper.start("benchmark", *LONG, env=SCRIPT)
    keeper.wait_for("execution_done", n=2)
    filler = fill(small, 0)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 6, err
    assert b"the disk is full" in err
    assert b"tuibench resume" in err
    assert b"Traceback" not in err
    (directory,) = keeper.run_root.iterdir()
    history = read_history(directory)
    assert (history.damaged, history.lost) == ((), 0)
    measured = sum(e["ev"] == "execution_done" for e in history.events)
    assert measured >= 2
    info = Services().runs.info("last")
    assert (info.state, info.executions, info.resumable) == ("interrupted", measured, True)
    filler.unlink()
    done = run(keeper, "resume", "last", "--finish")
    assert done.code in (0, 1), done.err
    (row,) = stored()
    assert sum(len(cell.executions) for cell in Services().store.benchmarks.get(row.id).result.cells) == measured


def test_disk_full_before_a_run_is_reported_and_run_kept_elsewhere(
    keeper: Shell, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(keeper.tmp))
    filler = fill(small, 0)
    done = run(keeper, "benchmark", *BRIEF)
    assert done.code == 6, done.err
    assert "the disk is full" in done.err
    assert "ms" in done.lines[-1], "the result is printed all the same"
    (info,) = Services().runs.every()
    assert (info.state, info.executions) == ("unsaved", 1)
    exported = small.parent / "saved.json"
    elsewhere = run(keeper, "export", info.id, "-x", str(exported))
    assert elsewhere.code == 0, elsewhere.err
    assert json.loads(exported.read_text(encoding="ascii"))["tuibench"]["id"] == info.id
    filler.unlink()
    again = run(keeper, "resume", "last")
    assert again.code == 0, again.err
    assert [row.id for row in stored()] == [info.id]
    assert Services().runs.info("last").state == "finished"
    shutil.rmtree(keeper.tmp / f"tuibench-{os.getuid()}")


def test_read_only_store_is_browsable_and_run_ends_unsaved(keeper: Shell) -> None:
    home = Path(os.environ["TUIBENCH_HOME"])
    assert run(keeper, "benchmark", *BRIEF, "--name", "before").code == 0
    mount(home, "--bind", str(home))
    subprocess.run(["mount", "-o", "remount,bind,ro", str(home)], check=True)
    try:
        listed = run(keeper, "list")
        assert (listed.code, "before" in listed.out) == (0, True), listed.err
        assert run(keeper, "show", "last").code == 0
        removed = run(keeper, "remove", "last", "-y")
        assert (removed.code, "Traceback" in removed.err) == (6, False)
        done = run(keeper, "benchmark", *BRIEF)
        assert done.code == 6, done.err
        assert "read-only" in done.err.lower()
        assert "ms" in done.lines[-1]
    finally:
        subprocess.run(["umount", str(home)], check=True)
    again = run(keeper, "resume", "last")
    assert again.code == 0, again.err
    assert len(stored()) == 2
    shutil.rmtree(keeper.tmp / f"tuibench-{os.getuid()}")
