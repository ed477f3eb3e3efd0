from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.models.factory import encoder, save
from tests.store.data import make_small
from tuibench.core.card import BenchmarkRow, Card, StoredBenchmark
from tuibench.core.errors import ExitCode, ModelError, UsageError
from tuibench.core.place import Places
from tuibench.core.spec import ModelSource
from tuibench.store.summary import join_card, summarize
from tuibench.workbench.model import inspect
from tuibench.workbench.repetition import Repetition

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
    row: BenchmarkRow = join_card(summarize(result), Card(), 1)
    return StoredBenchmark(row, Card(), result)


def refuse(token: str) -> ModelSource:
    raise AssertionError(f"{token} was asked for")


def repetition(places: Places, *sources: ModelSource) -> Repetition:
    return Repetition(stored(places, *sources), places, refuse)


def touched(path: Path) -> None:
    """Another content of the same size, at another time."""
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(5, 5))


def test_what_is_as_it_was_is_measured_by_its_absolute_path(places: Places, model: Path) -> None:
    again = repetition(places, ModelSource("./m.onnx", str(model)))
    assert again.settle((), changed=False) == (ModelSource(str(model), str(model)),)


def test_a_changed_model_needs_a_word(places: Places, model: Path) -> None:
    record = stored(places, ModelSource("m.onnx", str(model)))
    touched(model)
    with pytest.raises(ModelError) as caught:
        Repetition(record, places, refuse).settle((), changed=False)
    assert caught.value.exit_code == ExitCode.MODEL
    assert "has changed since 0001 was measured" in caught.value.message
    assert "--changed" in caught.value.hint and "--model PATH" in caught.value.hint
    assert Repetition(record, places, refuse).settle((), changed=True) == (ModelSource(str(model), str(model)),)


def test_a_model_that_is_gone_can_lie_elsewhere(places: Places, model: Path, tmp_path: Path) -> None:
    record = stored(places, ModelSource("m.onnx", str(model)))
    moved = tmp_path / "moved.onnx"
    model.rename(moved)
    for changed in (False, True):
        with pytest.raises(ModelError, match="is gone") as caught:
            Repetition(record, places, refuse).settle((), changed=changed)
        assert "tuibench rerun 0001 --model PATH" in caught.value.hint
    source = ModelSource(str(moved), str(moved))
    assert Repetition(record, places, refuse).settle((source,), changed=False) == (source,)


def test_another_model_is_no_stand_in_unless_it_may_have_changed(places: Places, model: Path, tmp_path: Path) -> None:
    record = stored(places, ModelSource("m.onnx", str(model)))
    other = ModelSource(*[save(encoder(), tmp_path / "other.onnx")] * 2)
    touched(Path(other.path))
    with pytest.raises(ModelError, match="is not what 0001 measured") as caught:
        Repetition(record, places, refuse).settle((other,), changed=False)
    assert "--changed" in caught.value.hint
    assert Repetition(record, places, refuse).settle((other,), changed=True) == (other,)


def test_of_several_models_each_stand_in_finds_its_place(places: Places, model: Path, tmp_path: Path) -> None:
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


def test_a_sample_is_looked_for_where_the_installation_has_it(places: Places, model: Path, tmp_path: Path) -> None:
    record = stored(places, ModelSource("sample:tiny", str(model)))
    installed = tmp_path / "installed.onnx"
    model.rename(installed)
    locate = lambda token: ModelSource(token, str(installed))  # noqa: E731
    assert Repetition(record, places, locate).settle((), False) == (ModelSource("sample:tiny", str(installed)),)
    touched(installed)
    # Another file of the same size and time, as packages have them: where it lies elsewhere only its content counts.
    os.utime(installed, ns=(5, record.result.models[0].files[0].mtime_ns))
    with pytest.raises(ModelError, match="has changed"):
        Repetition(record, places, locate).settle((), False)


def test_what_was_fetched_is_fetched_again_only_where_it_is_gone(places: Places, model: Path, tmp_path: Path) -> None:
    source = ModelSource("https://models.test/m.onnx", str(model))
    record = stored(places, source)
    assert Repetition(record, places, refuse).settle((), False) == (source,)
    fetched = ModelSource(source.asked, str(tmp_path / "fetched.onnx"))
    model.rename(fetched.path)
    assert Repetition(record, places, lambda _: fetched).settle((), False) == (fetched,)


def test_an_imported_benchmark_has_no_path_that_may_be_trusted(
    places: Places, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = stored(places, ModelSource("m.onnx", str(model)))
    spec = replace(record.result.spec, models=(ModelSource("m.onnx", "m.onnx"),))
    imported = replace(record, result=replace(record.result, spec=spec))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match="is gone"):
        Repetition(imported, places, refuse).settle((), True)
    assert Repetition(imported, places, refuse).settle((ModelSource(str(model), str(model)),), False)


def test_a_foreign_result_has_nothing_to_repeat(places: Places, model: Path) -> None:
    record = stored(places, ModelSource("m.onnx", str(model)), foreign="deepsparse.benchmark 1.8.0")
    with pytest.raises(UsageError, match=r"0001 was measured by deepsparse.benchmark 1.8.0") as caught:
        Repetition(record, places, refuse)
    assert caught.value.exit_code == ExitCode.USAGE
