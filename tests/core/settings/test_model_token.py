from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from tests.refusal import refused
from tuibench.core.errors import ModelError, UsageError
from tuibench.core.reason import because
from tuibench.core.settings.model_token import resolve_inputs, resolve_model
from tuibench.core.spec import ModelSource
from tuibench.present.error.words import error_line, hint_words, message_words


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusal(token: str) -> ModelError:
    with pytest.raises(ModelError) as caught:
        resolve_model(token)
    assert error_line(caught.value).isprintable()
    return caught.value


def test_file_keeps_its_typed_name_and_gets_an_absolute_path(here: Path) -> None:
    (here / "m.onnx").write_bytes(b"x")
    source = resolve_model("./m.onnx")
    assert (source.asked, source.path) == ("./m.onnx", str(here / "m.onnx"))


def test_directory_means_the_model_in_it(here: Path) -> None:
    (here / "d").mkdir()
    (here / "d" / "model.onnx").write_bytes(b"x")
    assert resolve_model("d").path == str(here / "d" / "model.onnx")


def test_directory_without_a_model_lists_its_files(here: Path) -> None:
    (here / "d").mkdir()
    assert refusal("d").reason == because("directory_without_model", path="d", found=None)
    (here / "d" / "other.onnx").write_bytes(b"x")
    assert hint_words(refusal("d")) == "give the file: d/other.onnx"


def test_directory_with_a_configuration_is_its_weights_or_no_model(here: Path) -> None:
    (here / "d").mkdir()
    (here / "d" / "config.json").write_text("{}")
    assert resolve_model("d").path == str(here / "d" / "config.json")
    (here / "d" / "decoder_model.onnx").write_bytes(b"x")
    assert hint_words(refusal("d")) == "give the file: d/decoder_model.onnx"
    (here / "d" / "model.safetensors").write_bytes(b"x")
    assert resolve_model("d").path == str(here / "d" / "config.json")


def test_missing_file_is_a_model_error(here: Path) -> None:
    assert message_words(refusal("none.onnx")) == "none.onnx: no such file or directory"
    (here / "link.onnx").symlink_to("none.onnx")
    assert refusal("link.onnx").reason.code == "link_to_missing_file"


def test_name_refused_by_the_system_has_a_plain_error(here: Path) -> None:
    refusal("x" * 5000)
    refusal("a\0b")
    refusal("\x1b[31m.onnx")
    (here / "loop").symlink_to("loop")
    refusal("loop")


def test_special_file_is_never_opened(here: Path) -> None:
    os.mkfifo(here / "pipe.onnx")
    (here / "zero.onnx").symlink_to("/dev/zero")
    (here / "d").mkdir()
    (here / "d" / "model.onnx").symlink_to("/dev/zero")
    assert "is a pipe" in message_words(refusal("pipe.onnx"))
    assert "is a device" in message_words(refusal("zero.onnx"))
    assert "is a device" in message_words(refusal("d"))
    with socket.socket(socket.AF_UNIX) as door:
        door.bind("sock.onnx")
        assert "is a socket" in message_words(refusal("sock.onnx"))
    with refused(UsageError, "not_a_regular_file", subject="--inputs", path=str(here / "d")) as caught:
        resolve_inputs(str(here / "d"))
    assert "is a directory" in message_words(caught.value)


def test_samples_are_package_data(tmp_path: Path) -> None:
    for name in ("cnn", "text", "tiny"):
        (tmp_path / f"{name}.onnx").write_bytes(b"x")
    paths = [resolve_model(token, tmp_path).path for token in ("sample", "sample:text", "sample:tiny")]
    assert [Path(path).name for path in paths] == ["cnn.onnx", "text.onnx", "tiny.onnx"]
    with refused(UsageError, "unknown_sample", given="sample:huge"):
        resolve_model("sample:huge", tmp_path)
    with refused(ModelError, "sample_not_installed", model="sample", path="cnn.onnx"):
        resolve_model("sample", tmp_path / "nowhere")


@pytest.mark.parametrize("token", ["hf:org/repo", "https://user:secret@example.com/m.onnx?key=secret"])
def test_only_remote_models_are_fetched(token: str, here: Path) -> None:
    (here / "m.onnx").write_bytes(b"x")
    asked = []

    def fetch(name: str) -> ModelSource:
        asked.append(name)
        return ModelSource("public", str(here / "m.onnx"))

    assert resolve_model(token, fetch=fetch) == ModelSource("public", str(here / "m.onnx"))
    resolve_model("m.onnx", fetch=fetch)
    assert asked == [token]
    with refused(UsageError, "must_be_downloaded") as caught:
        resolve_model(token)
    assert "secret" not in str(caught.value) + error_line(caught.value)


def test_http_url_is_refused_with_an_alternative() -> None:
    with refused(UsageError, "http_not_secure", model="http://example.com/m.onnx") as caught:
        resolve_model("http://example.com/m.onnx", fetch=lambda _: ModelSource("", ""))
    assert "https:" in hint_words(caught.value)


@pytest.mark.parametrize("address", ["ftp://example.com/m.onnx", "FILE:///m.onnx"])
def test_address_of_other_scheme_is_refused(address: str) -> None:
    with refused(UsageError, "address_not_fetched", address=address) as caught:
        resolve_model(address)
    assert "https:" in hint_words(caught.value)


def cached(root: Path, *folders: str) -> None:
    """Put models into a cache of SparseZoo."""
    for folder in folders:
        (root / folder).mkdir(parents=True)
        (root / folder / "model.onnx").write_bytes(b"onnx")


def test_zoo_stub_is_the_cached_model_in_a_folder_of_its_last_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARSEZOO_MODELS_PATH", str(tmp_path))
    cached(tmp_path, "neuralmagic/bert-base/deployment", "resnet_v1-50")
    for stub, folder in (
        ("zoo:nlp/x/bert-base", "neuralmagic/bert-base/deployment"),
        ("zoo:resnet_v1-50", "resnet_v1-50"),
    ):
        source = resolve_model(stub)
        assert (source.asked, source.path) == (stub, str(tmp_path / folder / "model.onnx"))


def test_zoo_stub_without_cached_model_lists_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARSEZOO_MODELS_PATH", str(tmp_path / "cache"))
    with refused(UsageError, "zoo_not_cached", paths=[]) as caught:
        resolve_model("zoo:nlp/text_classification/bert")
    assert "path" in hint_words(caught.value)
    cached(tmp_path / "cache", "a/one", "b/one", "two")
    with refused(UsageError, "zoo_not_cached") as caught:
        resolve_model("zoo:nlp/three")
    assert hint_words(caught.value).count("tuibench benchmark ") == 3
    with refused(UsageError, "zoo_ambiguous") as caught:
        resolve_model("zoo:x/one")
    assert hint_words(caught.value).count("tuibench benchmark ") == 2
