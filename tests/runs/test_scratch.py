"""Temporary directories: kept while an owner lives, removed by the next start afterwards."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tuibench.runs.directory import draw_path, hold_scratch, make_scratch, sweep

OWNER = """
import sys
from pathlib import Path
from tuibench.runs.directory import make_scratch
held = make_scratch(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def own_elsewhere(path: Path) -> subprocess.Popen[str]:
    """Start a process that holds a new directory until it is killed."""
    command = [sys.executable, "-c", OWNER, str(path)]
    owner = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None and owner.stdout.readline() == "held\n"
    return owner


def kill(owner: subprocess.Popen[str]) -> None:
    owner.kill()
    owner.communicate()


def test_directory_is_removed_only_after_every_owner_is_dead(tmp_path: Path) -> None:
    path = draw_path(tmp_path)
    owner = own_elsewhere(path)
    (path / "inputs").mkdir()
    (path / "inputs" / "a.npz").write_bytes(b"a")
    mine = hold_scratch(path)
    assert mine is not None
    sweep(tmp_path)
    assert path.is_dir()
    kill(owner)
    sweep(tmp_path)
    assert path.is_dir(), "one owner is alive"
    os.close(mine)
    sweep(tmp_path)
    assert not path.exists()
    assert hold_scratch(path) is None


def test_sweep_leaves_foreign_directories(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    draw_path(tmp_path).symlink_to(target)
    draw_path(tmp_path).write_bytes(b"a file")
    for name in ("tuibench-0", "tuibench-tmp-short", "tuibench-0123456789ab", "tuibench-tmp-0123456789ab.kept"):
        (tmp_path / name).mkdir()
    if os.geteuid() == 0:
        other = draw_path(tmp_path)
        other.mkdir()
        os.chown(other, 12345, 12345)
    before = sorted(os.listdir(tmp_path))
    sweep(tmp_path)
    assert sorted(os.listdir(tmp_path)) == before
    sweep(tmp_path / "missing")


def test_directory_swept_before_its_lock_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, lock = draw_path(tmp_path), fcntl.flock
    swept: list[bool] = []

    def flock(descriptor: int, operation: int) -> None:
        if operation == fcntl.LOCK_SH and not swept:
            swept.append(True)
            sweep(tmp_path)
            assert not path.exists()
        lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    held = make_scratch(path)
    sweep(tmp_path)
    assert swept and path.is_dir()
    os.close(held)


def test_sweep_leaves_directories_on_a_network_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = draw_path(tmp_path)
    os.close(make_scratch(path))
    with monkeypatch.context() as patched:
        patched.setattr("tuibench.runs.directory.is_remote", lambda _: "nfs4")
        sweep(tmp_path)
    assert path.is_dir()
    sweep(tmp_path)
    assert not path.exists()


def test_sweep_leaves_directories_where_locks_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = draw_path(tmp_path)
    os.close(make_scratch(path))

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    with monkeypatch.context() as patched:
        patched.setattr(fcntl, "flock", refuse)
        sweep(tmp_path)
    assert path.is_dir()
