"""`tuibench undo` by several processes at once."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from tests.cli.shell import Shell, until
from tests.store.data import make_small
from tuibench.core.stored import Metadata
from tuibench.services.api import Services


def waits_for(pid: int, lock: Path) -> bool:
    """Return whether a process has opened the lock."""
    places = (os.path.join(f"/proc/{pid}/fd", name) for name in os.listdir(f"/proc/{pid}/fd"))
    return any(os.path.lexists(place) and os.path.realpath(place) == str(lock.resolve()) for place in places)


def test_three_concurrent_undos_restore_three_removals(keeper: Shell) -> None:
    store = Services().store
    for number in range(3):
        store.benchmarks.add(make_small(number), Metadata())
        store.trash.remove([make_small(number).id])
    (trash,) = Path(os.environ["TUIBENCH_HOME"]).glob("data/hosts/*/trash")
    lock = Path(store._context.own().lock)
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        undos = [keeper.start("undo") for _ in range(3)]
        until(lambda: all(waits_for(undo.pid, lock) for undo in undos), "three undos at the lock")
    answers = [undo.communicate(timeout=60)[1].decode() for undo in undos]
    assert [undo.returncode for undo in undos] == [0, 0, 0], answers
    assert len(set(answers)) == 3
    assert len(store.benchmarks.rows()) == 3 and not os.listdir(trash)
