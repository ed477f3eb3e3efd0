"""Cached facts of a model: their size, and the number of times they are read."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.refusal import refused
from tests.runs.large_profile import make_large_costs
from tests.runs.profile_script import LOSSES, USUAL
from tuibench.core.errors import WriteError
from tuibench.core.model import ModelSummary
from tuibench.core.profile import LOSS, PERFORMANCE, SECONDS, CountBound
from tuibench.core.reason import error_text
from tuibench.core.record import from_plain, to_compact
from tuibench.runs.profile.cache import FileCache
from tuibench.runs.resumption import hash_inputs
from tuibench.runs.task import Cancelled, StopSwitch
from tuibench.services import theory
from tuibench.services.api import Services
from tuibench.services.profiles import theory_spec

MODEL = Path("/models/m.onnx")


LARGE = make_large_costs(3000)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the tasks of children, which answer at once; the model is never opened."""
    calls: list[str] = []

    def ask(task: str, _request: dict[str, Any], **_: Any) -> Any:
        calls.append(task)
        return to_compact(LARGE) if task == "cost" else to_compact(LOSSES * 200)

    model = from_plain(ModelSummary, USUAL["inspect"]({"path": "m"}, lambda _: None))
    monkeypatch.setattr(theory, "ask_child", ask)
    monkeypatch.setattr(theory, "inspect", lambda *_: model)
    return calls


def test_costs_of_very_many_nodes_are_small_and_read_once(
    home: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Services().profiles.costs(str(MODEL)) == LARGE
    services = Services()
    (kept,) = (services.settings.places.cache / "theory").iterdir()
    assert kept.stat().st_size < 40 * len(LARGE.nodes)
    read: list[str] = []
    get = FileCache.get

    def counted(cache: FileCache[Any], key: str) -> Any:
        read.append(key)
        return get(cache, key)

    monkeypatch.setattr(FileCache, "get", counted)
    sha256 = USUAL["inspect"]({"path": "m"}, lambda _: None)["sha256"]
    spec = theory_spec(str(MODEL), PERFORMANCE)
    other = services.profiles.plan(theory_spec(str(MODEL), PERFORMANCE, 7), sha256).seconds
    plans = {services.profiles.plan(spec, sha256).seconds for _ in range(3)}
    assert services.profiles.costs(str(MODEL)) == LARGE and asked == ["cost"]
    assert other is None and None not in plans and len(read) == 2


def test_many_layers_with_weights_are_restored_equal(home: Path, asked: list[str]) -> None:
    found = Services().profiles.weights(str(MODEL))
    assert found.layers == LOSSES * 200 and Services().profiles.weights(str(MODEL)) == found
    assert asked == ["weights"]


def test_costs_that_cannot_be_cached_are_known_for_the_session(home: Path, asked: list[str]) -> None:
    services = Services()
    services.settings.places.cache.mkdir(parents=True)
    (services.settings.places.cache / "theory").write_bytes(b"")
    for _ in range(3):
        assert services.profiles.costs(str(MODEL)) == LARGE
    assert asked == ["cost"]


def test_unchanged_input_file_is_read_once(
    home: Path, asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str | None] = []

    def count(path: str | None) -> str | None:
        read.append(path)
        return hash_inputs(path)

    monkeypatch.setattr(theory, "hash_inputs", count)
    file = tmp_path / "fed.npz"
    file.write_bytes(b"first")
    plain = theory_spec(str(MODEL), PERFORMANCE)
    spec = replace(plain, inputs=replace(plain.inputs, file=str(file)))
    profiles = Services().profiles
    for _ in range(3):
        assert profiles.plan(spec, "a" * 64).seconds is None
    assert read == [str(file)]
    file.write_bytes(b"second of another size")
    profiles.plan(spec, "a" * 64)
    assert len(read) == 2


def test_loss_profile_with_a_data_file_has_its_own_costs(home: Path, asked: list[str], tmp_path: Path) -> None:
    (tmp_path / "data.npz").write_bytes(b"eight pictures")
    services = Services()
    for kind in (PERFORMANCE, LOSS, PERFORMANCE, LOSS):
        spec = theory_spec(str(MODEL), kind)
        services.profiles.count(replace(spec, inputs=replace(spec.inputs, file=str(tmp_path / "data.npz"))))
    assert asked == ["cost", "cost"]


@pytest.mark.parametrize("make", [lambda _: None, os.mkfifo, Path.mkdir])
def test_input_file_may_be_missing(home: Path, asked: list[str], tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "fed.npz")
    plain = theory_spec(str(MODEL), PERFORMANCE)
    spec = replace(plain, inputs=replace(plain.inputs, file=str(tmp_path / "fed.npz")))
    assert Services().profiles.plan(spec, "a" * 64).seconds is None and asked == []


def test_close_ends_only_the_children_of_other_threads(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    services = Services()
    begun, ended = threading.Event(), threading.Event()

    def ask(*_: Any, stop: StopSwitch, **__: Any) -> Any:
        begun.set()
        stop.wait([], 100.0)

    def count() -> None:
        with pytest.raises(Cancelled):
            services.profiles.costs(str(MODEL))
        ended.set()

    model = from_plain(ModelSummary, USUAL["inspect"]({"path": "m"}, lambda _: None))
    monkeypatch.setattr(theory, "ask_child", ask)
    monkeypatch.setattr(theory, "inspect", lambda *_: model)
    thread = threading.Thread(target=count)
    thread.start()
    assert begun.wait(60) and len(os.listdir(tmp_path)) == 1
    services.close()
    assert os.listdir(tmp_path) == []
    thread.join(60)
    assert ended.is_set()
    with pytest.raises(Cancelled):
        services.profiles.costs(str(MODEL))

    def broken_out(*_: Any, **__: Any) -> Any:
        other.close()
        raise KeyboardInterrupt

    other = Services()
    monkeypatch.setattr(theory, "ask_child", broken_out)
    with pytest.raises(KeyboardInterrupt):
        other.profiles.costs(str(MODEL))
    assert os.listdir(tmp_path) == []


def test_count_without_space_names_tmpdir(
    home: Path, asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "missing"))
    why = error_text("No such file or directory")
    with refused(WriteError, "no_run_directory", where=str(tmp_path / "missing"), why=why):
        Services().profiles.costs(str(MODEL))
    assert asked == []


def test_count_that_ran_out_of_time_is_not_cached(
    home: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    short = replace(LARGE, bound=CountBound(SECONDS, 2.5, 10))

    def ask(task: str, request: dict[str, Any], **_: Any) -> Any:
        asked.append(task)
        return to_compact(short if request["loop_s"] < 10 else LARGE)

    monkeypatch.setattr(theory, "ask_child", ask)
    spec = theory_spec(str(MODEL), PERFORMANCE)
    profiles = Services().profiles
    assert profiles._theory.costs(spec) == short == profiles._theory.costs(spec)
    assert len(asked) == 1, "known for this session"
    patient = replace(spec, limits=replace(spec.limits, timeout_scale=10.0))
    assert Services().profiles._theory.costs(patient) == LARGE
