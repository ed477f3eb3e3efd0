"""Histories for fault tests: a store with every kind of content, and operations on it."""

from __future__ import annotations

from pathlib import Path

from tests.store.data import make_id
from tests.store.disks.failing import SyncingNothing
from tests.store.ledger import Ledger, Op, carry_out
from tuibench.store.store import Store

MACHINE = "machine without a battery"
KEPT = 5
"""Benchmarks that are there before; the last two are in the trash."""


def added(ledger: Ledger, number: int = 0) -> Op:
    number = number or len(ledger.numbers) + 1
    return Op("add", (make_id(number),), f"name {number}", number)


def described(ledger: Ledger) -> Op:
    return Op("describe", value="another text", projects=(next(iter(ledger.projects)),))


def restored(ledger: Ledger) -> Op:
    entry, ids = next(iter(ledger.entries.items()))
    return Op("restore", ids, entry=entry)


def prepare(work: Path) -> Ledger:
    """Prepare a store with every kind of content."""
    store, ledger = unsynced(work), Ledger()
    for _ in range(KEPT):
        do(store, ledger, added(ledger), work)
    do(store, ledger, Op("create", projects=("project 0",)), work)
    do(store, ledger, Op("remove", (make_id(KEPT - 1), make_id(KEPT))), work)
    return ledger


def do(store: Store, ledger: Ledger, op: Op, work: Path) -> None:
    ledger.begin(op)
    ledger.done(carry_out(store, op, work / "scratch"))


def unsynced(work: Path) -> Store:
    """Return a fresh session that does not sync."""
    return Store(work / "data", MACHINE, disk=SyncingNothing())
