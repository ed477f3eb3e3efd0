from __future__ import annotations

import json
import os
from pathlib import Path

from tests.store.build import make_store
from tests.store.data import make_id, make_small
from tuibench.core.errors import StoreError
from tuibench.core.reason import LEGACY_TEXT
from tuibench.core.stored import Metadata
from tuibench.runner import saved_test
from tuibench.runs.directory import RunDirectory, list_runs
from tuibench.runs.journal import NAME, Journal
from tuibench.runs.session import tidy
from tuibench.services.saving import remember_saved
from tuibench.store.store import Store


def test_stored_or_removed_result_is_saved(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    for number in (1, 2):
        store.benchmarks.add(make_small(number), Metadata())
    store.trash.remove([make_id(2)])
    opened: list[Store] = []

    def find() -> Store:
        opened.append(store)
        return store

    is_saved = remember_saved(find)
    assert opened == []
    assert [is_saved(make_id(number)) for number in (1, 2, 3)] == [True, True, False]
    assert len(opened) == 1, "a list of runs reads the store once"


def test_unreadable_store_leaves_the_saved_state_unknown() -> None:
    def find() -> Store:
        raise StoreError(LEGACY_TEXT, text="it is not there")

    assert remember_saved(find)(make_id(1)) is None


def test_runner_removes_old_runs_except_those_with_a_lost_record(tmp_path: Path) -> None:
    """The journal is then the only copy, and each further run would remove it."""
    home, root = tmp_path / "data", tmp_path / "runs"
    root.mkdir()
    make_store(home).benchmarks.add(make_small(1), Metadata())
    for number in (1, 2, 3):
        directory = RunDirectory(root / make_id(number))
        directory.make({"id": directory.id})
        journal = Journal(directory.path)
        journal.append("run_end", status="finished", saved=True)
        journal.close()
        if number < 3:
            os.utime(directory.path / NAME, (1e9, 1e9))
    tidy(RunDirectory(root / make_id(3)), saved_test({"store": str(home)}))
    assert {run.id for run in list_runs(root)} == {make_id(2), make_id(3)}
    assert json.loads((root / make_id(2) / "request.json").read_text()) == {"id": make_id(2)}
