"""A file that is no model is refused before anything opens it, in one line that names its kind."""

from __future__ import annotations

import os
import pickle
import socket
from pathlib import Path

import pytest

from tests.model.factory import classifier, save
from tuibench.core.errors import ModelError
from tuibench.model.file import locate, read_model, regular_size


def refusal(path: Path) -> str:
    with pytest.raises(ModelError) as caught:
        locate(path)
    assert len(caught.value.message.splitlines()) == 1 and caught.value.hint
    return caught.value.message


def test_model_and_directory_with_a_model_are_located(tmp_path: Path) -> None:
    save(classifier(), tmp_path / "model.onnx")
    assert locate(tmp_path / "model.onnx").format == "onnx"
    assert locate(tmp_path).path == tmp_path / "model.onnx"
    assert read_model(locate(tmp_path)) == (tmp_path / "model.onnx").read_bytes()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n", "Git LFS pointer"),
        (b"\n <!DOCTYPE html><html></html>", "web page"),
        (b"<html>", "web page"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"\x1f\x8brest", "gzip"),
        *((pickle.dumps({"weights": 1}, protocol), "Python pickle") for protocol in (2, 3, 4, 5)),
    ],
)
def test_file_of_another_format_is_refused_by_name(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "m.onnx").write_bytes(content)
    assert words in refusal(tmp_path / "m.onnx")


def test_path_that_is_no_regular_file_is_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "device").symlink_to("/dev/zero")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "empty").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        assert "socket" in refusal(tmp_path / "socket")
    assert "pipe" in refusal(tmp_path / "fifo")
    assert "device" in refusal(tmp_path / "device")
    assert "link" in refusal(tmp_path / "dangling")
    assert "model.onnx" in refusal(tmp_path / "empty")
    assert "missing.onnx" in refusal(tmp_path / "missing.onnx")
    assert refusal(tmp_path / "empty" / "model.onnx" / "below")


def test_path_with_null_byte_or_control_characters_is_shown_safely(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        regular_size(Path("a\0b"), "model a")
    assert "\x1b" not in refusal(tmp_path / "\x1b[31m.onnx")


def test_ort_file_is_known_by_its_identifier(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"\x10\0\0\0ORTM" + bytes(100))
    assert locate(tmp_path / "m.onnx").format == "ort"


def test_file_over_the_protobuf_limit_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "m.onnx").open("wb") as file:
        file.truncate(2**31)
    with pytest.raises(ModelError, match="more than the 2 GB"):
        read_model(locate(tmp_path / "m.onnx"))
