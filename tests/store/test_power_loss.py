"""Cut the power at every moment of every operation, with every state that a file system may leave."""

from __future__ import annotations

import copy
import random
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.present.build import asked
from tests.store.data import make_id, make_small, sample_bytes
from tests.store.disks.powerloss import Machine, Tree, lay_out
from tests.store.disks.recording import RecordingDisk
from tests.store.history import KEPT, MACHINE, added, described, do, prepare, restored, unsynced
from tests.store.ledger import Ledger, Op, carry_out, differences, is_sampled
from tuibench.core.errors import TuibenchError
from tuibench.core.stored import Metadata
from tuibench.store.disk import CREATE
from tuibench.store.store import Store

Scenario = Callable[[Ledger], Iterable[Op]]
"""The operations to do, one after the other."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recorded history: the initial store, what was known then, and the calls to the disk."""

    start: Path
    known: Ledger
    disk: RecordingDisk


def mixed(seed: int, count: int) -> Scenario:
    def choose(ledger: Ledger) -> Iterable[Op]:
        draw = random.Random(seed)
        for _ in range(count):
            yield ledger.choose(draw)

    return choose


SCENARIOS: dict[str, Scenario] = {
    "add": lambda ledger: [added(ledger)],
    "add with samples": lambda ledger: [added(ledger, 3 * KEPT)],
    "edit": lambda ledger: [Op("name", (make_id(1),), "other"), Op("note", (make_id(2),), "a note")],
    "remove": lambda ledger: [Op("remove", (make_id(1),)), Op("remove", (make_id(2), make_id(3)))],
    "restore": lambda ledger: [restored(ledger)],
    "empty": lambda ledger: [Op("empty", tuple(ledger.of("trash")))],
    "create a project": lambda ledger: [Op("create", projects=("project 1",))],
    "change a project": lambda ledger: [described(ledger)],
    "remove a project": lambda ledger: [Op("discard", projects=("project 0",))],
    "mixed": mixed(5, 3),
}


def record(light_path: Path, scenario: Scenario) -> Recorded:
    """Run a scenario once on a disk that records its calls."""
    work, start = light_path / "work", light_path / "start"
    work.mkdir()
    ledger = prepare(work)
    shutil.copytree(work, start)
    known, disk = copy.deepcopy(ledger), RecordingDisk(str(work))
    store = Store(work / "data", MACHINE, disk=disk)
    for op in scenario(ledger):
        disk.mark(("begin", op))
        ledger.begin(op)
        done = carry_out_recorded(store, op, work, disk)
        disk.mark(("done", done))
        ledger.done(done)
    return Recorded(start, known, disk)


def carry_out_recorded(store: Store, op: Op, work: Path, disk: RecordingDisk) -> Op:
    """Run as `carry_out` does and record the runner's sample files too, unsynced."""
    if op.kind != "add" or not is_sampled(op.number):
        return carry_out(store, op, work / "scratch")
    directory = work / f"run-{op.number}"
    disk.mkdir(str(directory))
    fd = disk.open(str(directory / f"{asked().key}-0.z"), CREATE)
    disk.write(fd, sample_bytes(op.number))
    disk.close(fd)
    store.benchmarks.add(make_small(op.number, sampled=True), Metadata(name=op.value), directory)
    return op


def look(tree: Tree, ledger: Ledger, target: Path, *, go_on: bool) -> list[str]:
    """Return what is wrong when a fresh store opens one state, repairs it and, if asked, adds to it."""
    target.mkdir()
    lay_out(tree, target)
    try:
        store = unsynced(target)
        found = differences(store, ledger, settled=False)
        report = store.check(read_data=True, repair=True)
        found += [str(problem) for problem in report.problems if problem.kind == "damaged" or not problem.repaired]
        fresh = unsynced(target)
        found += [str(problem) for problem in fresh.check(read_data=True).problems]
        found += differences(fresh, ledger, settled=True)
        if go_on and not found:
            ledger = copy.deepcopy(ledger)
            ledger.settle(fresh)
            do(fresh, ledger, added(ledger, 1001), target)
            found += differences(unsynced(target), ledger, settled=True)
        return found
    except TuibenchError as error:
        return [f"cannot be opened: {error}"]
    finally:
        shutil.rmtree(target)


def lose_power(light_path: Path, recorded: Recorded, most: int = 10**9, **honesty: bool) -> tuple[int, list[str]]:
    """Cut the power at every step of the history; return (states checked, what was wrong in any of them)."""
    machine, ledger, draw = Machine(recorded.start, **honesty), copy.deepcopy(recorded.known), random.Random(0)
    seen: set[int] = set()
    found: list[str] = []
    for number, step in enumerate(recorded.disk.steps):
        if step.kind == "mark":
            ledger.take(*step.mark)
        else:
            machine.play(step)
        for tree in machine.states(draw, 2):
            state = hash((frozenset(tree.items()), ledger.acknowledged, len(ledger.unconfirmed)))
            if len(found) >= most:
                return len(seen), found
            if state not in seen:
                seen.add(state)
                wrong = look(tree, ledger, light_path / "state", go_on=len(seen) % 5 == 0)
                found += [f"after step {number} ({step.kind} {step.path}): {line}" for line in wrong]
    return len(seen), found


@pytest.mark.parametrize("name", SCENARIOS)
def test_power_loss_in_an_operation_loses_nothing_acknowledged(light_path: Path, name: str) -> None:
    states, found = lose_power(light_path, record(light_path, SCENARIOS[name]), most=20)
    assert found == []
    assert states >= 8


@pytest.mark.parametrize("forgotten", ["syncs_files", "syncs_folders"])
@pytest.mark.parametrize(
    "name",
    ["add with samples", "remove", *(pytest.param(name, marks=pytest.mark.slow) for name in ("edit", "restore"))],
)
def test_power_loss_on_a_disk_without_syncs_is_detected(light_path: Path, name: str, forgotten: str) -> None:
    _, found = lose_power(light_path, record(light_path, SCENARIOS[name]), most=1, **{forgotten: False})
    assert found


@pytest.mark.slow
@pytest.mark.parametrize("seed", [6, 8])
def test_power_loss_in_a_long_history_loses_nothing_acknowledged(light_path: Path, seed: int) -> None:
    states, found = lose_power(light_path, record(light_path, mixed(seed, 12)), most=20)
    print(f"{states} states")
    assert found == []
    assert states > 300


def test_power_loss_in_an_import_loses_nothing_acknowledged(light_path: Path) -> None:
    work, start = light_path / "work", light_path / "start"
    work.mkdir()
    prepare(work)
    shutil.copytree(work, start)
    disk = RecordingDisk(str(work))
    foreign = replace(make_small(50), foreign="deepsparse.benchmark 1.8")
    Store(work / "data", MACHINE, disk=disk).benchmarks.add(foreign, Metadata(name="theirs"))
    machine = Machine(start)
    for step in disk.steps:
        machine.play(step)
    for number, tree in enumerate(machine.states(random.Random(1), 20)):
        target = light_path / f"state-{number}"
        target.mkdir()
        lay_out(tree, target)
        found = Store(target / "data", MACHINE).benchmarks.get(make_id(50))
        assert found.result.foreign == "deepsparse.benchmark 1.8" and found.metadata.name == "theirs"
