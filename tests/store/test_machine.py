"""Compare the store's public API with a dictionary, for any order of operations in two sessions."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.refusal import refused
from tests.store.build import Clock, make_id, make_result, make_store
from tuibench.core.errors import StoreError, UnknownId
from tuibench.core.stored import Metadata
from tuibench.store.store import Store

TEXT = st.text(max_size=5)
NUMBER = st.integers(0, 5)
SESSION = st.integers(0, 1)


class StoreMachine(RuleBasedStateMachine):
    """Two sessions on one directory; `metadata` has what must be listed, `trash` what can be restored."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="tuibench-test-"))
        self.clock = Clock()
        self.metadata: dict[str, tuple[str, str]] = {}
        self.trash: list[dict[str, tuple[str, str]]] = []

    def teardown(self) -> None:
        shutil.rmtree(self.root)

    def _open(self) -> Store:
        return make_store(self.root / "data", clock=self.clock)

    @initialize()
    def start(self) -> None:
        self.sessions = [self._open(), self._open()]

    @rule(session=SESSION, number=NUMBER, name=TEXT)
    def add(self, session: int, number: int, name: str) -> None:
        one = make_id(number)
        if any(one in trashed for trashed in self.trash):
            with refused(StoreError, "in_trash", id=one):
                self.sessions[session].benchmarks.add(make_result(number), Metadata(name=name))
            return
        row = self.sessions[session].benchmarks.add(make_result(number), Metadata(name=name))
        self.metadata.setdefault(one, (name, ""))
        assert (row.name, row.note) == self.metadata[one]

    @rule(session=SESSION, number=NUMBER, name=st.none() | TEXT, note=st.none() | TEXT)
    def edit(self, session: int, number: int, name: str | None, note: str | None) -> None:
        one = make_id(number)
        benchmarks = self.sessions[session].benchmarks
        if one not in self.metadata:
            with pytest.raises(UnknownId):
                benchmarks.edit(one, name=name, note=note)
            return
        before = self.metadata[one]
        benchmarks.edit(one, name=name, note=note)
        self.metadata[one] = (before[0] if name is None else name, before[1] if note is None else note)

    @rule(session=SESSION, numbers=st.sets(NUMBER, min_size=1, max_size=3))
    def remove(self, session: int, numbers: set[int]) -> None:
        ids = [make_id(number) for number in numbers]
        trash = self.sessions[session].trash
        if not self.metadata.keys() >= set(ids):
            with pytest.raises(UnknownId):
                trash.remove(ids)
            return
        self.clock.now += 1
        trash.remove(ids)
        self.trash.append({one: self.metadata.pop(one) for one in ids})

    @precondition(lambda self: self.trash and not self.metadata.keys() & self.trash[-1].keys())
    @rule(session=SESSION)
    def undo(self, session: int) -> None:
        self.sessions[session].trash.restore()
        self.metadata |= self.trash.pop()

    @rule(session=SESSION)
    def empty(self, session: int) -> None:
        assert self.sessions[session].trash.empty()[0] == len(self.trash)
        self.trash.clear()

    @rule(session=SESSION)
    def reopen(self, session: int) -> None:
        self.sessions[session] = self._open()

    @rule()
    def lose_the_index(self) -> None:
        for path in self.root.glob("data/hosts/*/tuibench.json*"):
            if path.suffix != ".lock":
                path.unlink()

    @rule(session=SESSION)
    def check(self, session: int) -> None:
        report = self.sessions[session].check(read_data=True, repair=True)
        assert {problem.kind for problem in report.problems} <= {"missing"}

    @invariant()
    def both_sessions_see_what_is_there(self) -> None:
        for store in self.sessions:
            rows = store.benchmarks.rows()
            assert {row.id: (row.name, row.note) for row in rows} == self.metadata
            assert [row.id for row in rows] == sorted(self.metadata, reverse=True)
            assert [set(entry.benchmarks) for entry in store.trash.entries()] == [set(x) for x in self.trash[::-1]]

    @invariant()
    def every_record_can_be_read(self) -> None:
        for one, (name, note) in self.metadata.items():
            metadata = self.sessions[0].benchmarks.get(one).metadata
            assert (metadata.name, metadata.note) == (name, note)


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(max_examples=50, stateful_step_count=25, deadline=None)
