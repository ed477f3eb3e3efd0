from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.model.factory import encoder, save
from tests.refusal import refused
from tests.store.data import make_id, make_small
from tuibench.core.errors import ExitCode, ModelError, UsageError
from tuibench.core.machine import Places
from tuibench.core.spec import ModelSource
from tuibench.core.stored import BenchmarkRow, Metadata, StoredBenchmark
from tuibench.services.models import inspect
from tuibench.services.reruns import ModelChanged, ModelGone, Repetition
from tuibench.store.benchmark_file import join_metadata, summarize

pytestmark = pytest.mark.usefixtures("shared_answers")


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(*(tmp_path / name for name in ("data", "state", "cache", "config")))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return Path(save(encoder(), tmp_path / "m.onnx"))


def stored(places: Places, *sources: ModelSource, foreign: str = "") -> StoredBenchmark:
    result = replace(make_small(1), foreign=foreign)
    summaries = tuple(inspect(source, places) for source in sources)
    result = replace(result, models=summaries, spec=replace(result.spec, models=sources))
    row: BenchmarkRow = join_metadata(summarize(result), Metadata(), 1)
    return StoredBenchmark(row, Metadata(), result)


def refuse(token: str) -> ModelSource:
    raise AssertionError(f"{token} was asked for")


def repetition(places: Places, *sources: ModelSource) -> Repetition:
    return Repetition(stored(places, *sources), places, refuse)


def touched(path: Path) -> None:
    """Rewrite the file with other content of the same size at another time."""
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(5, 5))


def test_unchanged_model_is_measured_by_its_absolute_path(places: Places, model: Path) -> None:
    again = repetition(places, ModelSource("./m.onnx", str(model)))
    assert again.settle((), changed=False) == (ModelSource(str(model), str(model)),)


def test_changed_model_needs_confirmation(places: Places, model: Path) -> None:
    record = stored(places, ModelSource("m.onnx", str(model)))
    touched(model)
    with refused(ModelChanged, "measured_model_changed", path=str(model), id=make_id(1)) as caught:
        Repetition(record, places, refuse).settle((), changed=False)
    assert caught.value.exit_code == ExitCode.MODEL
    assert Repetition(record, places, refuse).settle((), changed=True) == (ModelSource(str(model), str(model)),)


def test_missing_model_can_be_replaced_by_a_path(places: Places, model: Path, tmp_path: Path) -> None:
    record = stored(places, ModelSource("m.onnx", str(model)))
    moved = tmp_path / "moved.onnx"
    model.rename(moved)
    for changed in (False, True):
        with refused(ModelGone, "measured_model_gone", path=str(model), id=make_id(1)):
            Repetition(record, places, refuse).settle((), changed=changed)
    source = ModelSource(str(moved), str(moved))
    assert Repetition(record, places, refuse).settle((source,), changed=False) == (source,)


def test_different_model_replaces_only_with_changed_allowed(places: Places, model: Path, tmp_path: Path) -> None:
    record = stored(places, ModelSource("m.onnx", str(model)))
    other = ModelSource(*[save(encoder(), tmp_path / "other.onnx")] * 2)
    touched(Path(other.path))
    with refused(ModelChanged, "other_model", model=other.asked, id=make_id(1)):
        Repetition(record, places, refuse).settle((other,), changed=False)
    assert Repetition(record, places, refuse).settle((other,), changed=True) == (other,)


def test_each_replacement_of_several_models_finds_its_place(places: Places, model: Path, tmp_path: Path) -> None:
    second = tmp_path / "second.onnx"
    save(encoder(), second)
    touched(second)
    record = stored(places, *(ModelSource(path.name, str(path)) for path in (model, second)))
    third = tmp_path / "third.onnx"
    third.write_bytes(second.read_bytes())
    source = ModelSource(str(third), str(third))
    settled = Repetition(record, places, refuse).settle((source,), changed=False)
    assert settled == (ModelSource(str(model), str(model)), source)
    third.write_bytes(b"no model at all")
    with pytest.raises(ModelError):
        Repetition(record, places, refuse).settle((source,), changed=True)
    model.rename(third)
    assert Repetition(record, places, refuse).settle((source,), changed=False)[0] == source


def test_sample_is_taken_from_the_current_installation(places: Places, model: Path, tmp_path: Path) -> None:
    record = stored(places, ModelSource("sample:tiny", str(model)))
    installed = tmp_path / "installed.onnx"
    model.rename(installed)
    locate = lambda token: ModelSource(token, str(installed))  # noqa: E731
    assert Repetition(record, places, locate).settle((), False) == (ModelSource("sample:tiny", str(installed)),)
    touched(installed)
    # A file of equal size and time, as in packages: at another path only its content counts.
    os.utime(installed, ns=(5, record.result.models[0].files[0].mtime_ns))
    with refused(ModelChanged, "measured_model_changed", path=str(installed)):
        Repetition(record, places, locate).settle((), False)


def test_fetched_model_is_fetched_again_only_if_missing(places: Places, model: Path, tmp_path: Path) -> None:
    source = ModelSource("https://models.test/m.onnx", str(model))
    record = stored(places, source)
    assert Repetition(record, places, refuse).settle((), False) == (source,)
    fetched = ModelSource(source.asked, str(tmp_path / "fetched.onnx"))
    model.rename(fetched.path)
    assert Repetition(record, places, lambda _: fetched).settle((), False) == (fetched,)


def test_imported_benchmark_has_no_trusted_path(
    places: Places, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = stored(places, ModelSource("m.onnx", str(model)))
    spec = replace(record.result.spec, models=(ModelSource("m.onnx", "m.onnx"),))
    imported = replace(record, result=replace(record.result, spec=spec))
    monkeypatch.chdir(tmp_path)
    with refused(ModelGone, "measured_model_gone", path="m.onnx"):
        Repetition(imported, places, refuse).settle((), True)
    assert Repetition(imported, places, refuse).settle((ModelSource(str(model), str(model)),), False)


def test_foreign_result_cannot_be_repeated(places: Places, model: Path) -> None:
    record = stored(places, ModelSource("m.onnx", str(model)), foreign="deepsparse.benchmark 1.8.0")
    with refused(UsageError, "measured_elsewhere", id=make_id(1), tool="deepsparse.benchmark 1.8.0") as caught:
        Repetition(record, places, refuse)
    assert caught.value.exit_code == ExitCode.USAGE
