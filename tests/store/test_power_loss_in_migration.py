"""Cut the power at every moment of a migration: the store opens, and the migration can run again."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from tests.store.build import MACHINE
from tests.store.disks.failing import SyncingNothing
from tests.store.disks.powerloss import Machine, Tree, lay_out
from tests.store.disks.recording import RecordingDisk
from tests.store.older import OLD, steps_from_schema_0
from tuibench.core.errors import TuibenchError
from tuibench.core.stored import BenchmarkRow
from tuibench.store.store import Store

__all__ = ["steps_from_schema_0"]


def after_migrating(light_path: Path, most: int = 10**9, **honesty: bool) -> tuple[int, list[str]]:
    """Migrate a store of an older form; return (states, what was wrong in any of them)."""
    work = light_path / "work"
    shutil.copytree(OLD, work / "data")
    shutil.copytree(work, light_path / "start")
    disk = RecordingDisk(str(work))
    rows = Store(work / "data", MACHINE).benchmarks.rows()
    assert Store(work / "data", MACHINE, disk=disk).migrate().migrated > 0
    machine, seen, found = Machine(light_path / "start", **honesty), set[int](), list[str]()
    for number, step in enumerate(disk.steps):
        machine.play(step)
        for tree in machine.states(random.Random(number), 5):
            if hash(frozenset(tree.items())) not in seen and len(found) < most:
                seen.add(hash(frozenset(tree.items())))
                found += [f"after step {number}: {line}" for line in look_at_old(tree, rows, light_path / "state")]
    return len(seen), found


def look_at_old(tree: Tree, rows: tuple[BenchmarkRow, ...], target: Path) -> list[str]:
    """Return what a fresh session sees of it, before and after it repairs and migrates once more."""
    target.mkdir()
    lay_out(tree, target)
    wanted = [(row.id, row.name, row.note) for row in rows]
    try:
        store = Store(target / "data", MACHINE, disk=SyncingNothing())
        found = [
            f"{row.id} has other metadata" for row in rows if store.benchmarks.get(row.id).metadata.name != row.name
        ]
        found += [] if [(row.id, row.name, row.note) for row in store.benchmarks.rows()] == wanted else ["another list"]
        store.check(repair=True)
        store.migrate()
        fresh = Store(target / "data", MACHINE, disk=SyncingNothing())
        found += [str(problem) for problem in fresh.check(read_data=True).problems]
        found += [] if [(row.id, row.name, row.note) for row in fresh.benchmarks.rows()] == wanted else ["lost"]
        return found
    except TuibenchError as error:
        return [f"cannot be opened: {error}"]
    finally:
        shutil.rmtree(target)


def test_migration_after_power_loss_can_run_again(light_path: Path) -> None:
    states, found = after_migrating(light_path)
    assert found == []
    assert states > 20


def test_migration_on_a_disk_without_syncs_is_detected_as_broken(light_path: Path) -> None:
    assert after_migrating(light_path, 1, syncs_files=False)[1]
