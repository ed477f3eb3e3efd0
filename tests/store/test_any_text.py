"""Names, notes and results read back unchanged, by the store's reader and by TinyDB's."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st
from tinydb import TinyDB

from tests.store.data import make_id, make_small
from tests.store.disks.failing import SyncingNothing
from tuibench.core.reason import legacy_text
from tuibench.core.record import to_plain
from tuibench.core.stored import Metadata
from tuibench.store.store import Store

MACHINE = "machine"
ANY = st.text(st.characters(exclude_categories=()), max_size=40)


@settings(max_examples=60)
@given(name=ANY, note=ANY, warning=ANY, key=ANY)
@example(name="\ud800", note="\udfff\ud800", warning="\x00\x1b]0;x\x07", key='{"_meta"')
@example(name="𝒳\u2028\u2029", note="\ufeff", warning='"}, "2": {"', key="\\ud83d\\ude00")
def test_text_of_any_characters_reads_back_equal(name: str, note: str, warning: str, key: str) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        result = replace(make_small(1), warnings=(legacy_text(warning),), environment={key: warning})
        store = Store(root, MACHINE, disk=SyncingNothing())
        store.benchmarks.add(result, Metadata(name=name, note=note))
        fresh = Store(root, MACHINE, disk=SyncingNothing())
        whole = fresh.benchmarks.get(make_id(1))
        assert replace(whole.result, host="") == result
        assert (whole.metadata.name, whole.metadata.note) == (name, note)
        assert (fresh.benchmarks.rows()[0].name, fresh.benchmarks.rows()[0].note) == (name, note)
        fresh.benchmarks.edit(make_id(1), name=note, note=name)
        metadata = Store(root, MACHINE).benchmarks.get(make_id(1)).metadata
        assert (metadata.name, metadata.note) == (note, name)
        (record,) = root.glob("hosts/*/records/*/*.json")
        with TinyDB(record, access_mode="r") as plain:
            assert plain.table("result").all()[0]["warnings"] == [to_plain(legacy_text(warning))]
            assert [metadata["name"] for metadata in plain.table("card").all()] == [note]
