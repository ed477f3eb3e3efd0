"""Resolves what the user typed for a model to a file. Checks files with stat only: opening a FIFO would block."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from tuibench.core.errors import ModelError, TuibenchError, UsageError, name_kind
from tuibench.core.model import is_remote, public_name, remote_scheme
from tuibench.core.spec import ModelSource
from tuibench.core.text import show
from tuibench.core.value import dataclass

SAMPLES = {
    "sample": ("cnn.onnx", "a residual CNN for 224x224 images, symbolic batch, a few ms on one core"),
    "sample:text": ("text.onnx", "a two-layer text encoder, symbolic batch and sequence"),
    "sample:tiny": ("tiny.onnx", "a small MLP of a few microseconds, for overheads"),
}
"""Token to (file under data/samples, description)."""


def list_samples() -> str:
    """Return the text that `sample:?` prints."""
    return "".join(f"{token:<13} {text}\n" for token, (_, text) in SAMPLES.items())


_SAMPLE_DIR = Path(__file__).resolve().parent.parent.parent / "data" / "samples"


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The purpose of a file, with the words for errors about it."""

    noun: str
    error: type[TuibenchError]
    hint: str
    flag: str = ""


_MODEL = _Wanted("a model", ModelError, "check the path; 'sample' is built in")
_INPUTS = _Wanted("an .npz file", UsageError, "check the path; the file holds one array per input", "--inputs ")


def resolve_model(
    token: str, sample_dir: Path = _SAMPLE_DIR, fetch: Callable[[str], ModelSource] | None = None
) -> ModelSource:
    """Return the file for a token or raise an error with the cause; `fetch` downloads remote models."""
    if token == "sample" or token.startswith("sample:"):
        return ModelSource(token, _sample(token, sample_dir))
    _refuse_remote(token)
    if is_remote(token):
        if fetch is None:
            shown = show(public_name(token), 80)
            raise UsageError(
                f"{shown} must be downloaded first", "tuibench benchmark does; then give the path it prints"
            )
        source = fetch(token)
        _require_regular(source.path, _MODEL)
        return source
    if not token:
        raise UsageError("a model with an empty name was given", "tuibench benchmark sample measures the built-in one")
    path = _absolute(token, _MODEL)
    if stat.S_ISDIR(_mode(path, token, _MODEL)):
        path = _inside(path, token)
    _require_regular(path, _MODEL)
    if not path.isprintable() and any(0xDC80 <= ord(char) <= 0xDCFF for char in path):
        raise ModelError(f"{show(path)} is not valid UTF-8, and engines take no other paths", "rename it")
    return ModelSource(token, path)


def resolve_inputs(path: str) -> str:
    """Return the absolute path; raise UsageError unless it is a regular file (the flag is wrong, not the model)."""
    absolute = _absolute(path, _INPUTS)
    _require_regular(path, _INPUTS)
    return absolute


def _absolute(path: str, wanted: _Wanted) -> str:
    # The path is made absolute without resolving links, so that they stay as the user set them.
    try:
        return os.path.abspath(path)
    except FileNotFoundError as error:
        what = f"{wanted.flag}{show(path)}: the working directory was deleted"
        raise wanted.error(what, "change to a directory that exists, or give an absolute path") from error


def _require_regular(path: str, wanted: _Wanted) -> None:
    mode = _mode(path, path, wanted)
    if stat.S_ISREG(mode):
        if not os.access(path, os.R_OK):
            raise wanted.error(f"{wanted.flag}{show(path)}: permission denied", "make it readable for this user")
        return
    what = f"{wanted.flag}{show(path)} is {name_kind(mode)}, not a file"
    raise wanted.error(what, f"give {wanted.noun} that is a regular file")


def _refuse_remote(token: str) -> None:
    scheme = remote_scheme(token)
    if scheme == "zoo":
        raise UsageError(
            f"{show(token, 80)}: zoo: is not supported, and SparseZoo's host no longer exists",
            "download the ONNX file from where its authors publish it now and give its path",
        )
    if scheme == "http":
        raise UsageError(
            f"{show(token, 80)}: http: is not secure",
            "give its https: address, or download the file and give its path",
        )


def _mode(path: str, token: str, wanted: _Wanted) -> int:
    try:
        return os.stat(path).st_mode
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        hint = ""
        if isinstance(error, FileNotFoundError):
            hint = "it is a link to a missing file" if os.path.islink(path) else wanted.hint
        raise wanted.error(f"{wanted.flag}{show(token)}: {reason[:1].lower()}{reason[1:]}", hint) from error


def _inside(directory: str, token: str) -> str:
    path = os.path.join(directory, "model.onnx")
    if os.path.lexists(path):
        return path
    try:
        others = sorted(name for name in os.listdir(directory) if name.endswith((".onnx", ".ort")))
    except OSError as error:
        raise ModelError(f"{show(token)}: {(error.strerror or 'cannot be listed').lower()}") from error
    hint = f"name the file: {show(os.path.join(token, others[0]), 120)}" if others else "give the path of an .onnx file"
    raise ModelError(f"{show(token)} is a directory without a model.onnx", hint)


def _sample(token: str, sample_dir: Path) -> str:
    if token not in SAMPLES:
        raise UsageError(f"there is no {show(token, 60)}", f"built in are {', '.join(SAMPLES)}")
    path = sample_dir / SAMPLES[token][0]
    if not path.is_file():
        raise ModelError(f"{token} is missing from this installation ({path.name})", "install tuibench again")
    return str(path)
