"""Rows of profiles, and rows written before profiles existed."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.refusal import refused
from tests.runs.profile_script import make_profile_result
from tests.store.data import make_small
from tuibench.core.errors import StoreNewer
from tuibench.core.profile import LOSS, ProfileSpec
from tuibench.core.reason import because
from tuibench.core.schema import BENCHMARK, PROFILE, REASONS
from tuibench.core.stored import BenchmarkRow, Metadata
from tuibench.services.opening import open_store
from tuibench.store.benchmark_file import InvalidRow, RecordFiles, damaged_row, summarize, to_document, to_row
from tuibench.store.disk import Disk
from tuibench.store.envelope import encode_table, seal, unseal
from tuibench.store.files import Files
from tuibench.store.sealed import Sealing


def row(**changes: Any) -> BenchmarkRow:
    return replace(damaged_row("01J0000000000000000000000A"), **changes)


def test_row_without_a_kind_is_that_of_a_benchmark() -> None:
    document = to_document(row(name="old"))
    del document["kind"]
    assert to_row(document) == row(name="old")
    assert to_row(document).kind == ""


@pytest.mark.parametrize("name", sorted({*asdict(row())} - {"kind", "facts", "headline"}))
def test_row_without_another_field_is_refused(name: str) -> None:
    document = to_document(row())
    del document[name]
    with pytest.raises(InvalidRow) as caught:
        to_row(document)
    assert caught.value.reason == because("column_missing", column=name)


def test_row_with_a_kind_that_is_not_text_is_refused() -> None:
    with pytest.raises(InvalidRow) as caught:
        to_row({**to_document(row()), "kind": 3})
    assert caught.value.reason == because("column_invalid", column="kind", is_number=False)


def test_row_of_a_profile_has_its_kind_grade_and_batch() -> None:
    performance = summarize(make_profile_result(1))
    assert (performance["kind"], performance["grade"], performance["batches"]) == ("performance", "A", "1")
    assert (performance["cells"], performance["engines"], performance["cores"]) == (0, "onnxruntime", "1")
    loss = summarize(make_profile_result(2, ProfileSpec(LOSS)))
    assert (loss["kind"], loss["grade"]) == ("loss", "")
    assert summarize(make_small(3))["kind"] == ""


def test_store_of_an_older_version_is_read_and_extended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def without(document: dict[str, str | int]) -> dict[str, str | int]:
        return {name: value for name, value in document.items() if name != "kind"}

    with monkeypatch.context() as patched:
        patched.setattr("tuibench.store.index.to_document", lambda row: without(to_document(row)))
        patched.setattr("tuibench.store.benchmark_file.summarize", lambda result: without(summarize(result)))
        open_store(tmp_path).benchmarks.add(make_small(1), Metadata(name="old"))
    assert not any(b'"kind": ""' in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    store = open_store(tmp_path)
    assert [(one.name, one.kind) for one in store.benchmarks.rows()] == [("old", "")]
    store.benchmarks.add(make_profile_result(2), Metadata(name="new"))
    store.benchmarks.edit(make_small(1).id, note="still here")
    rows = open_store(tmp_path).benchmarks.rows()
    assert [(one.name, one.kind, one.note) for one in rows] == [("new", "performance", ""), ("old", "", "still here")]


def test_profile_reads_back_equal(tmp_path: Path) -> None:
    result = make_profile_result(1)
    open_store(tmp_path).benchmarks.add(result, Metadata())
    found = open_store(tmp_path).benchmarks.get(result.id)
    assert found.result == result
    assert found.row.kind == "performance"
    assert len(json.dumps(to_document(found.row))) < 1024


def test_record_states_the_schema_of_facts(tmp_path: Path) -> None:
    profile, benchmark = make_profile_result(1), make_small(2)
    assert (profile.schema, benchmark.schema) == (PROFILE, BENCHMARK)
    store = open_store(tmp_path)
    for result in (profile, benchmark):
        store.benchmarks.add(result, Metadata())
        store.benchmarks.edit(result.id, name="edited")
    forms = {path.stem: unseal(path.read_bytes()).header.schema for path in tmp_path.rglob("*.json")}
    assert (forms[profile.id], forms[benchmark.id], forms["tuibench"]) == (REASONS, REASONS, BENCHMARK)
    assert not list(tmp_path.rglob("*.pre-v*"))
    fresh = open_store(tmp_path)
    assert fresh.check(read_data=True).problems == () and fresh.migrate().migrated == 0 and fresh.notices() == ()
    with mock.patch.object(Files, "read", side_effect=AssertionError("a whole record was read for its row")):
        sealing = Sealing(Files(str(tmp_path), Disk(), "node", os.urandom), print, "")
        row = RecordFiles(sealing).read_row(fresh.benchmarks.find(profile.id).record(profile.id))
    assert row.kind == "performance"


def test_profile_with_the_schema_of_benchmarks_opens(tmp_path: Path) -> None:
    result = make_profile_result(1)
    open_store(tmp_path).benchmarks.add(result, Metadata())
    (path,) = tmp_path.glob(f"hosts/*/records/*/{result.id}.json")
    opened = unseal(path.read_bytes())
    tables = {name: encode_table(table) for name, table in opened.tables.items()}
    path.write_bytes(seal(tables, replace(opened.header, schema=BENCHMARK)))
    assert open_store(tmp_path).benchmarks.get(result.id).result == result


def test_record_of_an_unknown_kind_is_reported_as_newer(tmp_path: Path) -> None:
    result = make_profile_result(1)
    odd = replace(result, spec=replace(result.spec, profile=ProfileSpec("energy")), profile=None)
    open_store(tmp_path).benchmarks.add(odd, Metadata())
    store = open_store(tmp_path)
    with refused(StoreNewer, "newer_not_shown"):
        store.benchmarks.get(odd.id)
    assert [row.kind for row in store.benchmarks.rows()] == ["energy"]
