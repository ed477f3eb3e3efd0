from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.store.build import make_store
from tuibench.core.errors import StoreDamaged
from tuibench.core.reason import LEGACY_TEXT
from tuibench.services import machine as machine_facts
from tuibench.services.machine import read_machine


def test_machine_has_cores_and_the_probed_engines(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    machine = read_machine(store, ["onnxruntime", "fake"], tmp_path)
    assert 1 <= machine.default_cores <= machine.usable_cores
    assert 1 <= machine.node_cores <= machine.usable_cores
    assert [engine.name for engine in machine.engines] == ["onnxruntime", "fake"]
    ort, fake = machine.engines
    assert ort.available and ort.version and not ort.hint and "f32" in ort.precisions
    assert "bf16" in fake.precisions
    assert (machine.host, list(tmp_path.iterdir())) == ("", [])
    assert read_machine(store, [], tmp_path).host == ""
    made = store.host_id
    assert read_machine(store, [], tmp_path).host == made


def test_engine_that_is_not_installed_has_an_install_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_facts, "read_versions", dict.fromkeys)
    (engine,) = read_machine(make_store(tmp_path), ["openvino"], tmp_path).engines
    assert (engine.available, engine.version, engine.hint) == (False, "", "pip install 'tuibench[openvino]'")


def test_machine_report_imports_no_engine(tmp_path: Path) -> None:
    before = set(sys.modules)
    read_machine(make_store(tmp_path), ["onnxruntime", "openvino"], tmp_path)
    assert not {name.split(".")[0] for name in set(sys.modules) - before} & {"onnxruntime", "openvino"}


def test_unreadable_store_does_not_hide_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make_store(tmp_path)

    def refuse(_: object) -> str:
        raise StoreDamaged(LEGACY_TEXT, text="salt is damaged")

    monkeypatch.setattr(type(store), "known_host_id", property(refuse))
    assert read_machine(store, [], tmp_path).host == ""
