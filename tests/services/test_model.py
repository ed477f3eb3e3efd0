from __future__ import annotations

import os
from pathlib import Path

import onnx
import pytest

from tests.model.factory import encoder, save
from tests.refusal import refused
from tuibench.core.errors import ModelError
from tuibench.core.machine import Places
from tuibench.core.model import refer
from tuibench.core.record import from_plain, to_plain
from tuibench.core.spec import ModelSource
from tuibench.core.stored import ModelReference
from tuibench.services import models as model
from tuibench.services.models import find_state, inspect


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(*(tmp_path / name for name in ("data", "state", "cache", "config")))


@pytest.fixture
def reference(tmp_path: Path, places: Places) -> ModelReference:
    """Return a reference to a model with its weights beside it."""
    folder = tmp_path / "models"
    folder.mkdir()
    path = folder / "m.onnx"
    made = encoder()
    onnx.save_model(made, str(path), save_as_external_data=True, location="w.data", size_threshold=0)
    found = refer("./m.onnx", inspect(ModelSource("./m.onnx", str(path)), places))
    assert found is not None
    return found


def test_reference_includes_every_file(reference: ModelReference) -> None:
    assert reference.asked == "./m.onnx" and [Path(one.path).name for one in reference.external] == ["w.data"]
    assert reference.file.size == os.path.getsize(reference.file.path)
    assert len({reference.sha256, reference.file.sha256, reference.external[0].sha256}) == 3
    assert from_plain(ModelReference, to_plain(reference)) == reference


def test_untouched_file_is_unchanged_and_not_read(
    reference: ModelReference, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "ask_child", lambda *_, **__: pytest.fail("a look is enough"))
    assert find_state(reference, places).state == "unchanged"


@pytest.mark.parametrize("which", [0, 1])
def test_touch_is_no_change_and_edit_is_one(reference: ModelReference, places: Places, which: int) -> None:
    path = Path((reference.file, *reference.external)[which].path)
    os.utime(path, ns=(1, 1))
    assert find_state(reference, places).state == "unchanged"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    changed = find_state(reference, places)
    assert (changed.state, changed.file) == ("changed", str(path))


def test_different_size_needs_no_reading(
    reference: ModelReference, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "ask_child", lambda *_, **__: pytest.fail("a look is enough"))
    with open(reference.file.path, "ab") as handle:
        handle.write(b"x")
    assert find_state(reference, places).state == "changed"


@pytest.mark.parametrize("instead", ["nothing", "directory", "pipe", "link"])
def test_path_that_is_no_file_any_more_is_missing(reference: ModelReference, places: Places, instead: str) -> None:
    path = Path(reference.external[0].path)
    path.unlink()
    if instead == "directory":
        path.mkdir()
    elif instead == "pipe":
        os.mkfifo(path)
    elif instead == "link":
        path.symlink_to("nowhere")
    found = find_state(reference, places)
    assert (found.state, found.file) == ("gone", str(path))


def test_file_that_cannot_be_read_when_needed_is_missing(
    reference: ModelReference, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.utime(reference.file.path, ns=(1, 1))
    monkeypatch.setattr(model, "ask_child", lambda *_, **__: [None])
    assert find_state(reference, places).state == "gone"


def test_file_that_is_no_model_has_no_summary(tmp_path: Path, places: Places) -> None:
    (tmp_path / "m.onnx").write_bytes(b"<html>")
    with refused(ModelError, "model_is_web_page", path=str(tmp_path / "m.onnx")):
        inspect(ModelSource("m.onnx", str(tmp_path / "m.onnx")), places)


def test_unread_model_has_no_reference(tmp_path: Path, places: Places) -> None:
    summary = inspect(ModelSource("m", save(encoder(), tmp_path / "m.onnx")), places)
    unread = from_plain(type(summary), {**to_plain(summary), "files": []})
    assert refer("m", unread) is None and refer("m", summary) is not None
