"""Test the disks that fail, forget and kill, on which other tests rely."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.store.disks.failing import FailingDisk, SyncingNothing
from tests.store.disks.powerloss import Machine, Tree, lay_out
from tests.store.disks.recording import RecordingDisk
from tests.store.disks.relay import CountingDisk, OpenFiles
from tuibench.store.disk import CREATE, DIRECTORY, Disk


def save(disk: Disk, path: Path, data: bytes, *, sync: bool = True, sync_folder: bool = True) -> None:
    """Replace a file as a careful program does, or as a careless one."""
    temporary = str(path.with_suffix(".tmp"))
    fd = disk.open(temporary, CREATE)
    left = memoryview(data)
    while left:
        left = left[disk.write(fd, left) :]
    if sync:
        disk.fsync(fd)
    disk.close(fd)
    disk.replace(temporary, str(path))
    if sync_folder:
        folder = disk.open(str(path.parent), DIRECTORY)
        disk.fsync(folder)
        disk.close(folder)


def states_after(root: Path, disk: RecordingDisk, **honesty: bool) -> list[Tree]:
    machine = Machine(root, **honesty)
    for step in disk.steps:
        machine.play(step)
    return list(machine.states(random.Random(0), 50))


@pytest.fixture
def world(tmp_path: Path) -> tuple[Path, Path]:
    """An empty initial directory and a working directory."""
    start, work = tmp_path / "start", tmp_path / "work"
    start.mkdir()
    work.mkdir()
    return start, work


def test_synced_file_is_found_in_every_state(world: tuple[Path, Path]) -> None:
    disk = RecordingDisk(str(world[1]))
    save(disk, world[1] / "a", b"old")
    save(disk, world[1] / "a", b"newer")
    assert states_after(world[0], disk) != []
    assert all(tree == {"a": b"newer"} for tree in states_after(world[0], disk))


def test_unsynced_file_may_lose_halve_or_zero_its_data(world: tuple[Path, Path]) -> None:
    disk = RecordingDisk(str(world[1]))
    save(disk, world[1] / "a", b"data", sync=False)
    assert {tree.get("a") for tree in states_after(world[0], disk)} == {b"data", b"", b"da", bytes(4)}
    honest = RecordingDisk(str(world[1]))
    save(honest, world[1] / "b", b"data")
    assert b"" in {tree.get("b") for tree in states_after(world[0], honest, syncs_files=False)}


def test_unsynced_directory_may_lack_the_name(world: tuple[Path, Path]) -> None:
    disk = RecordingDisk(str(world[1]))
    save(disk, world[1] / "a", b"data", sync_folder=False)
    assert {frozenset(tree) for tree in states_after(world[0], disk)} == {
        frozenset(),
        frozenset("a"),
        frozenset(["a.tmp"]),
    }
    honest = RecordingDisk(str(world[1]))
    save(honest, world[1] / "b", b"data")
    assert {} in states_after(world[0], honest, syncs_folders=False)


def test_move_between_directories_keeps_at_least_one_name(world: tuple[Path, Path]) -> None:
    start, work = world
    for root in world:
        (root / "from").mkdir()
        (root / "to").mkdir()
        (root / "from" / "x").write_bytes(b"kept")
    disk = RecordingDisk(str(work))
    disk.replace(str(work / "from" / "x"), str(work / "to" / "x"))
    found = {(("from/x" in tree), ("to/x" in tree)) for tree in states_after(start, disk)}
    assert found == {(True, False), (False, True), (True, True)}
    for folder, left in (("to", {(False, True), (True, True)}), ("from", {(False, True)})):
        fd = disk.open(str(work / folder), DIRECTORY)
        disk.fsync(fd)
        disk.close(fd)
        assert {(("from/x" in tree), ("to/x" in tree)) for tree in states_after(start, disk)} == left


def test_state_is_laid_out_as_computed(world: tuple[Path, Path], tmp_path: Path) -> None:
    disk = RecordingDisk(str(world[1]))
    disk.mkdir(str(world[1] / "d"))
    save(disk, world[1] / "d" / "a", b"data")
    whole = states_after(world[0], disk)[0]
    target = tmp_path / "laid"
    target.mkdir()
    lay_out(whole, target)
    assert (target / "d" / "a").read_bytes() == b"data"


@pytest.mark.parametrize("at", range(1, 5))
def test_failing_disk_fails_only_the_chosen_call(tmp_path: Path, at: int) -> None:
    disk = FailingDisk(at, errno.EIO)
    with pytest.raises(OSError, match="Input/output") as caught:
        save(disk, tmp_path / "a", b"data", sync_folder=False)
    assert caught.value.errno == errno.EIO and len(disk.failed) == 1
    disk.heal()
    save(disk, tmp_path / "b", b"data")


def test_full_disk_writes_half_and_stays_full_until_healed(tmp_path: Path) -> None:
    disk = FailingDisk(2, short=True, lasting=True)
    with pytest.raises(OSError, match="No space"):
        save(disk, tmp_path / "a", b"data")
    assert (tmp_path / "a.tmp").read_bytes() == b"da"
    with pytest.raises(OSError, match="No space"):
        disk.mkdir(str(tmp_path / "d"))
    disk.unlink(str(tmp_path / "a.tmp"))
    disk.heal()
    save(disk, tmp_path / "a", b"data")
    assert (tmp_path / "a").read_bytes() == b"data"


def test_write_cut_short_without_an_error_continues(tmp_path: Path) -> None:
    save(FailingDisk(2, errno.EINTR, short=True), tmp_path / "a", b"data")
    assert (tmp_path / "a").read_bytes() == b"data"


@pytest.mark.parametrize(("moment", "found"), [("before", b""), ("middle", b"da"), ("after", b"data")])
def test_killing_disk_kills_its_process_at_the_chosen_call(tmp_path: Path, moment: str, found: bytes) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom tests.store.test_disks import save\n"
        "from tests.store.disks.killing import KillingDisk\n"
        "save(KillingDisk(2, sys.argv[1]), Path(sys.argv[2]), b'data')\n"
    )
    done = subprocess.run([sys.executable, "-c", code, moment, str(tmp_path / "a")], check=False)
    assert done.returncode == -signal.SIGKILL
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"a.tmp": found}


def test_counting_disk_counts_calls_bytes_and_open_files(tmp_path: Path) -> None:
    disk = CountingDisk()
    save(disk, tmp_path / "a", b"data")
    assert disk.bytes_written == 4
    assert disk.calls == {"open": 2, "write": 1, "fsync": 2, "close": 2, "replace": 1}
    lazy = SyncingNothing()
    watched = OpenFiles(lazy)
    fd = watched.open(str(tmp_path / "a"), os.O_RDONLY)
    watched.fsync(fd)
    assert lazy.synced == 1 and watched.left() == [str(tmp_path / "a")] and watched.left(("/a",)) == []
    watched.close(fd)
    assert watched.left() == []
