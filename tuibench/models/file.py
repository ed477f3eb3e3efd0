"""Reads model files; refuses special files that would block a parser and files of other formats."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from tuibench.core.errors import ModelError
from tuibench.core.file_kind import name_kind
from tuibench.core.text import show
from tuibench.core.units import size

_PROTOBUF_LIMIT = 2**31 - 1
_HEAD_BYTES = 512
_LFS = b"version https://git-lfs.github.com/spec/"
_MAGIC = (
    (b"PK\x03\x04", "a zip archive", "unpack it, or export the model to ONNX"),
    (b"\x1f\x8b", "a gzip file", "unpack it first"),
    (b"\x89HDF", "an HDF5 file", "convert it to ONNX first"),
    *((bytes((0x80, protocol)), "a Python pickle", "export the model to ONNX first") for protocol in (2, 3, 4, 5)),
)


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A regular file whose first bytes are those of no other known format."""

    path: Path
    format: str
    """onnx or ort."""
    file_bytes: int


def locate(path: str | os.PathLike[str]) -> ModelFile:
    """Check that `path`, or `model.onnx` in it, can be a model, before a parser opens it: a FIFO would block."""
    asked = Path(path)
    target = asked / "model.onnx" if os.path.isdir(asked) else asked
    what = f"model {show(asked)}" if target == asked else f"model.onnx in the directory {show(asked)}"
    file_bytes = regular_size(target, what)
    if file_bytes == 0:
        raise ModelError(f"{show(target)} is empty (0 bytes)", "download or export it again")
    head = read_regular(target, _HEAD_BYTES)
    kind = "ort" if head[4:8] == b"ORTM" else "onnx"
    if kind == "onnx":
        _refuse_other_formats(target, head, file_bytes)
    return ModelFile(target, kind, file_bytes)


def regular_size(path: Path, what: str) -> int:
    """Return the size of a regular file; raise ModelError with the actual kind of any other `path`."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        if os.path.islink(path):
            raise ModelError(f"{what} is a link to a file that does not exist", "mend the link") from None
        raise ModelError(f"{what} does not exist", "check the path") from None
    except (OSError, ValueError) as error:
        raise ModelError(f"{what} cannot be read: {_reason(error)}", "check the path and its permissions") from None
    if not stat.S_ISREG(found.st_mode):
        raise ModelError(f"{what} is {name_kind(found.st_mode)}, not a regular file", "pass the path of an .onnx file")
    return found.st_size


def open_regular(path: Path) -> int:
    """Open a regular file and return its descriptor; check it again once open, as the path may have changed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ModelError(f"{show(path)} cannot be read: {_reason(error)}", "check its permissions") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ModelError(f"{show(path)} is not a regular file", "pass the path of an .onnx file")
    return descriptor


def read_regular(path: Path, limit: int) -> bytes:
    """Return the first `limit` bytes of a regular file."""
    with open(open_regular(path), "rb") as file:
        try:
            return file.read(limit)
        except OSError as error:
            raise ModelError(f"{show(path)} cannot be read: {_reason(error)}", "check the disk") from None


def read_model(file: ModelFile) -> bytes:
    """Return a whole model without its external data; refuse one larger than protobuf allows without reading it."""
    if file.file_bytes > _PROTOBUF_LIMIT:
        what = f"{show(file.path)} has {size(file.file_bytes)}, more than the 2 GB that the format can hold"
        raise ModelError(what, "save the model with its weights as external data")
    return read_regular(file.path, file.file_bytes + 1)


def _refuse_other_formats(path: Path, head: bytes, file_bytes: int) -> None:
    if head.startswith(_LFS):
        raise ModelError(f"{show(path)} is a Git LFS pointer, not the model itself", "fetch it with: git lfs pull")
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith((b"<!doctype", b"<html", b"<head", b"<?xml")):
        what = f"{show(path)} is a web page, not a model ({size(file_bytes)})"
        raise ModelError(what, "the download went wrong; fetch it again")
    for magic, kind, hint in _MAGIC:
        if head.startswith(magic):
            raise ModelError(f"{show(path)} is {kind}, not an ONNX model", hint)


def _reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
