"""Check the store while other sessions remove and restore benchmarks."""

from __future__ import annotations

import fcntl
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.store.build import make_id, make_result, make_store
from tests.store.disks.relay import Relay
from tuibench.core.stored import Metadata, Problem
from tuibench.store.store import Store


class Interrupting(Relay):
    """A disk that runs `work` before the `at`-th call that this session makes without holding a lock."""

    def __init__(self, at: int, work: Callable[[], object]) -> None:
        super().__init__()
        self.at, self.work = at, work
        self.seen = 0
        self.held = 0

    def touch(self, kind: str, arguments: tuple[Any, ...]) -> Any:
        """Make the call."""
        self.seen += not self.held and kind != "lock"
        if self.seen == self.at and not self.held:
            self.at = 0
            self.work()
        answer = super().touch(kind, arguments)
        if kind == "lock":
            self.held += -1 if arguments[1] & fcntl.LOCK_UN else 1
        return answer


def fill(root: Path) -> Store:
    store = make_store(root)
    for number in range(2):
        work = root.parent / f"work-{number}"
        work.mkdir()
        result = make_result(number)
        (work / Path(result.cells[0].executions[0].samples.file or "").name).write_bytes(zlib.compress(b"abcd" * 9))
        store.benchmarks.add(result, Metadata(name=f"n{number}"), work)
    return store


@pytest.mark.parametrize("read_data", [False, True])
def test_check_beside_removals_and_undos_finds_no_problem(light_path: Path, read_data: bool) -> None:
    store = fill(light_path / "data")
    store.trash.remove([make_id(0)])

    def change() -> None:
        if store.trash.entries():
            store.trash.restore()
        else:
            store.trash.remove([make_id(0)])

    at = 1
    found: list[Problem] = []
    while True:
        disk = Interrupting(at, change)
        found += make_store(light_path / "data", disk=disk).check(read_data=read_data).problems
        if disk.at:
            break
        at += 1
    assert at > 10 and found == []
