"""Refuse each call to the disk in turn: the store reports the error, loses nothing, and the next operation works."""

from __future__ import annotations

import copy
import errno
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.store.data import make_id
from tests.store.disks.failing import FailingDisk, SyncingNothing
from tests.store.disks.powerloss import Tree, lay_out, read_tree
from tests.store.history import KEPT, MACHINE, added, described, do, prepare, restored, unsynced
from tests.store.ledger import Ledger, Op, carry_out, differences
from tuibench.core.errors import StoreError
from tuibench.store.store import Store

CODES = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS, errno.EINTR)
NOT_NEEDED = ("unlink", "rmdir", "utime", "chmod")
"""Calls whose refusal may be survived: they clean up. A lock needs no text that says whose it is."""

OPERATIONS: dict[str, Callable[[Ledger], Op]] = {
    "add": added,
    "add with samples": lambda ledger: added(ledger, 3 * KEPT),
    "name": lambda ledger: Op("name", (make_id(1),), "other"),
    "remove": lambda ledger: Op("remove", (make_id(1), make_id(3))),
    "restore": restored,
    "change a project": described,
    "empty": lambda ledger: Op("empty", tuple(ledger.of("trash"))),
}


@dataclass(slots=True)
class Trial:
    """One operation on a copy of a store, with one refused call."""

    root: Path
    ledger: Ledger
    disk: FailingDisk

    def run(self, op: Op, at: int) -> str:
        """Run the trial and return what was wrong, '' for nothing."""
        store = Store(self.root / "data", MACHINE, disk=self.disk)
        store.benchmarks.rows()
        self.disk.arm(at)
        self.ledger.begin(op)
        raised = ""
        try:
            done = carry_out(store, op, self.root / "scratch")
        except StoreError as error:
            raised = str(error)
        except OSError as error:
            return f"{self.disk.failed}: let through {error!r}"
        else:
            self.ledger.done(done)
        failed = list(self.disk.failed)
        needed = [
            call for call in self.disk.unaltered if not call.startswith(NOT_NEEDED) and not call.endswith(".lock")
        ]
        self.disk.heal()
        found = differences(store, self.ledger, settled=False)
        if failed and self.disk.code == errno.EINTR and raised:
            found.append(f"gave up where a signal came: {raised}")
        if not raised and self.disk.code != errno.EINTR and needed:
            found.append("said nothing of it")
        if unsynced(self.root).benchmarks.rows() != store.benchmarks.rows():
            found.append("memory differs from disk")
        found += [f"left open: {path}" for path in self.disk.left((".lock",))]
        found += self.go_on(store)
        return "; ".join(f"{failed}: {line}" for line in found)

    def go_on(self, store: Store) -> list[str]:
        """Use the same store again and repair what the failed operation left."""
        do(store, self.ledger, added(self.ledger, 1001), self.root)
        found = differences(store, self.ledger, settled=False)
        store.check(repair=True)
        fresh = unsynced(self.root)
        found += [str(problem) for problem in fresh.check(read_data=True).problems]
        return found + differences(fresh, self.ledger, settled=True)


@dataclass(frozen=True, slots=True)
class Base:
    """The store that every trial begins with."""

    tree: Tree
    ledger: Ledger

    def trial(self, scratch: Path, code: int = errno.ENOSPC, **refusal: bool) -> Trial:
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        lay_out(self.tree, scratch)
        return Trial(scratch, copy.deepcopy(self.ledger), FailingDisk(0, code, inner=SyncingNothing(), **refusal))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    root = tmp_path_factory.mktemp("base")
    ledger = prepare(root)
    return Base({path: content for path, content in read_tree(root).items() if "scratch" not in path}, ledger)


def count_calls(base: Base, scratch: Path, name: str, **refusal: bool) -> int:
    """Count the calls that can be refused."""
    trial = base.trial(scratch, **refusal)
    store = Store(scratch / "data", MACHINE, disk=trial.disk)
    store.benchmarks.rows()
    trial.disk.arm(0)
    carry_out(store, OPERATIONS[name](trial.ledger), scratch / "scratch")
    return trial.disk.seen


def refuse_each(base: Base, scratch: Path, name: str, codes: tuple[int, ...], **refusal: bool) -> list[str]:
    """Run one trial for each call, with one error code after the other."""
    calls = count_calls(base, scratch, name, reads=refusal.get("reads", False))
    assert calls > 5
    found = []
    for at in range(1, calls + 1):
        trial = base.trial(scratch, code=codes[at % len(codes)], **refusal)
        wrong = trial.run(OPERATIONS[name](trial.ledger), at)
        found += [f"call {at}, {errno.errorcode[trial.disk.code]}: {wrong}"] if wrong else []
    return found


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_survives_a_refusal_of_any_call(base: Base, light_path: Path, name: str) -> None:
    assert refuse_each(base, light_path / "copy", name, CODES, short=True, reads=True) == []


@pytest.mark.parametrize("name", OPERATIONS)
def test_disk_that_stays_full_or_read_only_keeps_its_data(base: Base, light_path: Path, name: str) -> None:
    codes = (errno.ENOSPC, errno.EROFS)
    assert refuse_each(base, light_path / "copy", name, codes, lasting=True, short=True) == []


def long_history(root: Path, steps: int, seed: int) -> int:
    """Run random operations, every third with a refusal, mostly in one session; return the number of refusals."""
    draw = random.Random(seed)
    disk = FailingDisk(inner=SyncingNothing(), short=True, reads=True)
    store, ledger, refused = Store(root / "data", MACHINE, disk=disk), Ledger(), 0
    for step in range(steps):
        op = ledger.choose(draw)
        disk.arm(draw.randint(1, 120) if step % 3 == 2 else 0)
        disk.code = draw.choice(CODES)
        disk.lasting = disk.code != errno.EINTR and draw.random() < 0.3
        ledger.begin(op)
        try:
            ledger.done(carry_out(store, op, root / f"scratch-{step}"))
        except StoreError:
            refused += 1
            disk.heal()
            assert differences(store, ledger, settled=False) == [], f"step {step}: {op}"
            unsynced(root).check(repair=True)
            if draw.random() < 0.3:
                store = Store(root / "data", MACHINE, disk=disk)
            assert differences(store, ledger, settled=True) == [], f"step {step}: {op}"
            ledger.settle(store)
        disk.heal()
    assert differences(unsynced(root), ledger, settled=True) == []
    assert unsynced(root).check(read_data=True).problems == ()
    return refused


@pytest.mark.parametrize("seed", [1, 2])
def test_history_with_refusals_keeps_what_was_acknowledged(light_path: Path, seed: int) -> None:
    assert long_history(light_path, 120, seed) > 8


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 9))
def test_longer_history_with_refusals_keeps_what_was_acknowledged(light_path: Path, seed: int) -> None:
    assert long_history(light_path, 600, seed) > 50


@pytest.mark.slow
@pytest.mark.parametrize("short", [False, True], ids=["refused", "half taken"])
@pytest.mark.parametrize("code", CODES, ids=lambda code: errno.errorcode[code])
@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_survives_every_refusal_of_every_call(
    base: Base, light_path: Path, name: str, code: int, short: bool
) -> None:
    assert refuse_each(base, light_path / "copy", name, (code,), short=short) == []
    assert refuse_each(base, light_path / "copy", name, (code,), short=short, lasting=code != errno.EINTR) == []
