"""A file that is no model is refused before anything opens it, in one line that names its kind."""

from __future__ import annotations

import os
import pickle
import socket
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.model.factory import classifier, save
from tests.refusal import refused, require_shown
from tuibench.core.errors import ModelError
from tuibench.core.reason import Reason, because
from tuibench.model.file import locate, read_model, regular_size
from tuibench.model.inspection import inspect
from tuibench.model.reference_run import read_interface


def refusal(path: Path) -> Reason:
    with pytest.raises(ModelError) as caught:
        locate(path)
    return require_shown(caught.value.reason)


def test_model_and_directory_with_a_model_are_located(tmp_path: Path) -> None:
    save(classifier(), tmp_path / "model.onnx")
    assert locate(tmp_path / "model.onnx").format == "onnx"
    assert locate(tmp_path).path == tmp_path / "model.onnx"
    assert read_model(locate(tmp_path)) == (tmp_path / "model.onnx").read_bytes()


@pytest.mark.parametrize(
    ("content", "code", "fields"),
    [
        (b"", "model_empty", {}),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n", "model_is_lfs_pointer", {}),
        (b"\n <!DOCTYPE html><html></html>", "model_is_web_page", {"bytes": 30}),
        (b"<html>", "model_is_web_page", {"bytes": 6}),
        (b"PK\x03\x04rest", "model_of_other_format", {"format": "zip"}),
        (b"\x1f\x8brest", "model_of_other_format", {"format": "gzip"}),
        (b"\x89HDF\r\n", "model_of_other_format", {"format": "hdf5"}),
        *(
            (pickle.dumps({"weights": 1}, protocol), "model_of_other_format", {"format": "pickle"})
            for protocol in (2, 3, 4, 5)
        ),
    ],
)
def test_file_of_another_format_is_refused_by_name(
    tmp_path: Path, content: bytes, code: str, fields: dict[str, Any]
) -> None:
    (tmp_path / "m.onnx").write_bytes(content)
    assert refusal(tmp_path / "m.onnx") == because(code, path=str(tmp_path / "m.onnx"), **fields)


@pytest.mark.parametrize(
    ("members", "code"),
    [
        (("m/data.pkl", "m/data/0"), "model_is_pickled"),
        (("m/data.pkl", "m/code/net.py", "m/constants.pkl"), "file_needs_engine"),
        (("m/archive_format", "m/models/model.json"), "file_needs_engine"),
        (("readme.txt",), "model_of_other_format"),
    ],
)
def test_archives_of_pytorch_are_told_apart_by_their_names(tmp_path: Path, members: Sequence[str], code: str) -> None:
    path = tmp_path / "m.pt"
    with zipfile.ZipFile(path, "w") as archive:
        for name in members:
            archive.writestr(name, b"")
    with refused(ModelError, code, path=str(path)):
        inspect(path, read_interface)


def test_path_that_is_no_regular_file_is_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "device").symlink_to("/dev/zero")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "empty").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        assert refusal(tmp_path / "socket").fields["kind"] == Reason("kind_socket")
    assert refusal(tmp_path / "fifo").fields["kind"] == Reason("kind_pipe")
    assert refusal(tmp_path / "device").fields["kind"] == Reason("kind_device")
    assert refusal(tmp_path / "dangling").code == "path_dangling"
    inside = because("model_in_directory", path=str(tmp_path / "empty"))
    assert refusal(tmp_path / "empty") == because("path_missing", what=inside)
    missing = because("model_file", path=str(tmp_path / "missing.onnx"))
    assert refusal(tmp_path / "missing.onnx") == because("path_missing", what=missing)
    assert refusal(tmp_path / "empty" / "model.onnx" / "below").code == "path_missing"


def test_path_with_null_byte_or_control_characters_is_shown_safely(tmp_path: Path) -> None:
    with refused(ModelError, "path_unreadable"):
        regular_size(Path("a\0b"), because("model_file", path="a"))
    assert refusal(tmp_path / "\x1b[31m.onnx").code == "path_missing"


def test_ort_file_is_known_by_its_identifier(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"\x10\0\0\0ORTM" + bytes(100))
    assert locate(tmp_path / "m.onnx").format == "ort"


def test_file_over_the_protobuf_limit_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "m.onnx").open("wb") as file:
        file.truncate(2**31)
    with refused(ModelError, "model_over_format_limit", bytes=2**31):
        read_model(locate(tmp_path / "m.onnx"))
