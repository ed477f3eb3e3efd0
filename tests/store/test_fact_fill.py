from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.store.build import make_id, make_result, make_store
from tests.store.data import make_real
from tuibench.core.errors import StoreError
from tuibench.core.result import RunResult
from tuibench.core.schema import BENCHMARK, REASONS
from tuibench.core.stored import Metadata
from tuibench.present.listing import headline_words
from tuibench.store import benchmark_file as record_file
from tuibench.store import benchmarks
from tuibench.store.benchmark_file import RecordFiles, summarize
from tuibench.store.envelope import unseal

OLD = "1.00 ms ±1.0 % (sync, 1 core, batch 1) · grade A"


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store whose five records were written by a version that stored sentences."""

    def told(result: RunResult) -> dict[str, Any]:
        found = {name: value for name, value in summarize(result).items() if name != "facts"}
        return {**found, "headline": OLD}

    with monkeypatch.context() as patched:
        patched.setattr(record_file, "summarize", told)
        patched.setattr(record_file, "REASONS", BENCHMARK)
        for number in range(5):
            make_store(tmp_path).benchmarks.add(make_result(number), Metadata())
    return tmp_path


def schema_of(root: Path, number: int) -> int:
    (path,) = root.glob(f"hosts/*/records/*/{make_id(number)}.json")
    return unseal(path.read_bytes()).header.schema


def test_a_look_derives_a_bounded_number_newest_first(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmarks, "MOST", 2)
    store = make_store(old)
    store.benchmarks.search("model")
    store.benchmarks.draw_id(0)
    assert store.benchmarks.facts.reads == 0, "only a list derives facts"
    assert [bool(row.facts) for row in store.benchmarks.rows(derive=True)] == [True, True, False, False, False]
    assert headline_words(store.benchmarks.rows()[-1]) == OLD
    marks = {store.mark()}
    for _ in range(2):
        store.benchmarks.rows(derive=True)
        marks.add(store.mark())
    assert all(row.facts for row in store.benchmarks.rows(derive=True)) and len(marks) > 1
    store.benchmarks.rows(derive=True)
    assert store.benchmarks.facts.reads == 5, "no record is read twice"


def test_next_write_persists_derived_facts_and_leaves_results_alone(old: Path) -> None:
    (sealed,) = old.glob(f"hosts/*/records/*/{make_id(3)}.json")
    before = sealed.read_bytes()
    store = make_store(old)
    store.benchmarks.rows(derive=True)
    store.benchmarks.add(make_result(7), Metadata())
    fresh = make_store(old)
    assert all(row.facts for row in fresh.benchmarks.rows()) and fresh.benchmarks.facts.reads == 0
    assert sealed.read_bytes() == before
    assert fresh.check(read_data=True).problems == ()
    assert (schema_of(old, 3), schema_of(old, 7)) == (BENCHMARK, REASONS)


def test_edit_of_an_old_record_keeps_it_readable_for_its_version(old: Path) -> None:
    store = make_store(old)
    store.benchmarks.edit(make_id(2), name="kept")
    assert schema_of(old, 2) == BENCHMARK
    stored = make_store(old).benchmarks.get(make_id(2))
    assert stored.row.headline == OLD and stored.row.facts["numbers"][0]["value"] == 1.0


def test_record_without_facts_keeps_its_sentence(old: Path) -> None:
    (path,) = old.glob(f"hosts/*/records/*/{make_id(4)}.json")
    path.write_bytes(b"{")
    store = make_store(old)
    row = store.benchmarks.rows(derive=True)[0]
    assert (row.id, row.facts, headline_words(row)) == (make_id(4), {}, OLD)
    store.benchmarks.rows(derive=True)
    assert store.benchmarks.facts.reads == 5


def test_edit_of_an_old_record_keeps_its_facts_in_the_list(old: Path) -> None:
    store = make_store(old)
    store.benchmarks.rows(derive=True)
    store.benchmarks.add(make_result(7), Metadata())
    store.benchmarks.edit(make_id(2), name="renamed")
    (row,) = [row for row in make_store(old).benchmarks.rows() if row.id == make_id(2)]
    assert row.name == "renamed" and row.facts


def test_record_that_the_disk_refuses_once_is_read_again(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make_store(old)
    get, refused = RecordFiles.read_facts, [make_id(1)]

    def refuse_once(records: RecordFiles, path: str) -> Any:
        if any(ulid in path for ulid in refused):
            refused.clear()
            raise StoreError("too many open files")
        return get(records, path)

    monkeypatch.setattr(RecordFiles, "read_facts", refuse_once)
    assert not all(row.facts for row in store.benchmarks.rows(derive=True))
    assert all(row.facts for row in store.benchmarks.rows(derive=True))


def test_migration_derives_and_stores_the_facts_of_every_row(old: Path) -> None:
    told: list[tuple[int, int]] = []
    report = make_store(old).migrate(lambda done, total: told.append((done, total)))
    assert (report.derived, report.exit_code, told) == (5, 0, [(number, 5) for number in range(1, 6)])
    fresh = make_store(old)
    assert all(row.facts for row in fresh.benchmarks.rows()) and fresh.benchmarks.facts.reads == 0
    assert schema_of(old, 3) == BENCHMARK and fresh.check(read_data=True).problems == ()
    assert fresh.migrate().derived == 0


def test_migration_counts_no_row_without_facts(old: Path) -> None:
    (path,) = old.glob(f"hosts/*/records/*/{make_id(4)}.json")
    path.write_bytes(b"{")
    assert make_store(old).migrate().derived == 4


@pytest.mark.parametrize("cells", [1, 3])
def test_facts_from_an_old_record_equal_those_of_its_whole_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cells: int
) -> None:
    result = make_real(1, cells)
    with monkeypatch.context() as patched:
        patched.setattr(record_file, "summarize", lambda result: {**summarize(result), "facts": {}})
        make_store(tmp_path).benchmarks.add(result, Metadata())
    (row,) = make_store(tmp_path).benchmarks.rows(derive=True)
    assert row.facts == summarize(result)["facts"] == make_store(tmp_path).benchmarks.get(result.id).row.facts
