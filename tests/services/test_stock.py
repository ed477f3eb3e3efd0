from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.host.machine import Machine
from tests.store.build import make_store
from tests.store.data import make_id, make_small
from tuibench.core.stored import Metadata
from tuibench.services.machine import store_facts, store_findings


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path / "root")
    machine.mount()
    return machine


def test_report_of_an_empty_store_creates_nothing(tmp_path: Path, machine: Machine) -> None:
    facts = store_facts(make_store(tmp_path / "data"), tmp_path / "data", machine.root)
    assert (facts["exists"], facts["benchmarks"], facts["host_id"], facts["bytes"]) == (False, 0, None, 0)
    assert facts["problem"] == facts["unreadable"] == "" and store_findings(facts) == []
    assert not (tmp_path / "data").exists()


def test_stored_files_are_counted_and_sized(tmp_path: Path, machine: Machine) -> None:
    root = tmp_path / "data"
    store = make_store(root)
    for number in (1, 2, 3):
        store.benchmarks.add(make_small(number), Metadata())
    store.trash.remove([make_id(1), make_id(2)])
    facts = store_facts(make_store(root), root, machine.root)
    assert (facts["benchmarks"], facts["projects"], facts["hosts"]) == (1, 0, 0)
    assert facts["host_id"] == store.host_id and facts["file_system"] == "ext4" and facts["network"] == ""
    assert facts["bytes"] == sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
    trash = facts["trash"]
    assert (trash["removals"], trash["keep_days"], trash["keep_bytes"]) == (1, 30, 1 << 30)
    removed = store.trash.entries()[0].removed_utc
    assert trash["bytes"] > 1000 and trash["oldest_goes_utc"] > removed


def test_network_file_system_has_a_warning(tmp_path: Path, machine: Machine) -> None:
    root = tmp_path / "data"
    machine.mount(f"/ {root} nfs4 rw")
    facts = store_facts(make_store(root), root, machine.root)
    assert facts["network"] == "nfs4"
    (finding,) = store_findings(facts)
    assert finding["level"] == "note" and "nfs4" in finding["seen"]


def test_unwritable_store_has_a_reason_and_names_no_directory(tmp_path: Path, machine: Machine) -> None:
    root = tmp_path / "secret" / "data"
    root.parent.mkdir()
    root.write_text("a file")
    facts = store_facts(make_store(root), root, machine.root)
    assert facts["problem"] and "secret" not in facts["problem"]
    assert facts["private"]["directory"] == str(root)
    assert any(
        finding["level"] == "harm" and "cannot be written" in finding["seen"] for finding in store_findings(facts)
    )


def test_damaged_salt_is_reported_and_hides_nothing(tmp_path: Path, machine: Machine) -> None:
    store = make_store(tmp_path)
    store.benchmarks.add(make_small(1), Metadata())
    (tmp_path / "salt").write_text("x")
    facts = store_facts(make_store(tmp_path), tmp_path, machine.root)
    assert "salt" in facts["unreadable"] and facts["benchmarks"] == 1
    assert any("salt" in finding["seen"] for finding in store_findings(facts))


def test_files_removed_meanwhile_are_ignored(tmp_path: Path, machine: Machine) -> None:
    store = make_store(tmp_path)
    store.benchmarks.add(make_small(1), Metadata())
    os.symlink("/nowhere", tmp_path / "dangling")
    assert store_facts(store, tmp_path, machine.root)["bytes"] > 1000
