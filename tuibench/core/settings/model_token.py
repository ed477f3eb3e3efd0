"""Resolves what the user typed for a model to a file. Checks files with stat only: opening a FIFO would block."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tuibench.core.engine import CHECKPOINT
from tuibench.core.errors import ModelError, TuibenchError, UsageError, name_kind
from tuibench.core.model import is_remote, public_name, remote_scheme
from tuibench.core.settings.zoo_cache import find_cached
from tuibench.core.spec import ModelSource
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
class _FileRole:
    """The purpose of a file, for errors about it."""

    kind: type[TuibenchError]
    flag: str = ""

    def error(self, code: str, path: str, **fields: Any) -> TuibenchError:
        """Return the error of a file at this path."""
        return self.kind(code, subject=self.flag, path=path, is_model=not self.flag, **fields)


_MODEL = _FileRole(ModelError)
_INPUTS = _FileRole(UsageError, "--inputs")


def resolve_model(
    token: str,
    sample_dir: Path = _SAMPLE_DIR,
    fetch: Callable[[str], ModelSource] | None = None,
    *,
    wants_weights: bool = False,
) -> ModelSource:
    """Return the file for a token or raise an error with the cause; `fetch` downloads remote models.

    `wants_weights` prefers the safetensors of a directory to its ONNX file.
    """
    if token == "sample" or token.startswith("sample:"):
        return ModelSource(token, _sample(token, sample_dir))
    if remote_scheme(token) == "zoo":
        return ModelSource(token, find_cached(token))
    _refuse_remote(token)
    if is_remote(token):
        if fetch is None:
            raise UsageError("must_be_downloaded", address=public_name(token))
        source = fetch(token)
        _require_regular(source.path, _MODEL)
        return source
    if not token:
        raise UsageError("model_without_name")
    path = _absolute(token, _MODEL)
    if stat.S_ISDIR(_mode(path, token, _MODEL)):
        path = _inside(path, token, wants_weights)
    _require_regular(path, _MODEL)
    if not path.isprintable() and any(0xDC80 <= ord(char) <= 0xDCFF for char in path):
        raise ModelError("path_not_utf8", path=path)
    return ModelSource(token, path)


def resolve_inputs(path: str) -> str:
    """Return the absolute path; raise UsageError unless it is a regular file (the flag is wrong, not the model)."""
    # In a form no shell expands it.
    expanded = os.path.expanduser(path) if path.startswith("~/") else path
    _require_regular(expanded, _INPUTS)
    return _absolute(expanded, _INPUTS)


def _absolute(path: str, role: _FileRole) -> str:
    # The path is made absolute without resolving links, so that they stay as the user set them.
    try:
        return os.path.abspath(path)
    except FileNotFoundError as error:
        raise role.error("working_directory_deleted", path) from error


def _require_regular(path: str, role: _FileRole) -> None:
    mode = _mode(path, path, role)
    if stat.S_ISREG(mode):
        if not os.access(path, os.R_OK):
            raise role.error("file_not_readable", path)
        return
    raise role.error("not_a_regular_file", path, kind=name_kind(mode))


def _refuse_remote(token: str) -> None:
    scheme = remote_scheme(token)
    if scheme == "http":
        raise UsageError("http_not_secure", model=token)
    if "://" in token and not is_remote(token) and scheme.isalnum() and not os.path.lexists(token):
        raise UsageError("address_not_fetched", address=token)


def _mode(path: str, token: str, role: _FileRole) -> int:
    try:
        return os.stat(path).st_mode
    except (OSError, ValueError) as error:
        text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        code = "path_failed"
        if isinstance(error, FileNotFoundError):
            code = "link_to_missing_file" if os.path.islink(path) else "file_missing"
        raise role.error(code, token, text=text) from error


def _inside(directory: str, token: str, wants_weights: bool) -> str:
    path = os.path.join(directory, "model.onnx")
    if os.path.lexists(path) and not (wants_weights and checkpoint_beside(path)):
        return path
    config = checkpoint_beside(path)
    if config:
        return config
    try:
        others = sorted(name for name in os.listdir(directory) if name.endswith((".onnx", ".ort")))
    except OSError as error:
        raise _MODEL.error("path_failed", token, text=error.strerror or str(error)) from error
    config = os.path.join(directory, CHECKPOINT)
    if not others and os.path.lexists(config):
        return config  # of a model without weights, which its reader explains
    found = os.path.join(token, others[0]) if others else None
    raise ModelError("directory_without_model", path=token, found=found)


def checkpoint_beside(path: str) -> str:
    """Return the configuration of the safetensors beside a model; '' if there are none."""
    folder = os.path.dirname(path)
    config = os.path.join(folder, CHECKPOINT)
    try:
        found = os.path.isfile(config) and any(name.endswith(".safetensors") for name in os.listdir(folder))
    except OSError:
        found = False
    return config if found else ""


def _sample(token: str, sample_dir: Path) -> str:
    if token not in SAMPLES:
        raise UsageError("unknown_sample", given=token, allowed=list(SAMPLES))
    path = sample_dir / SAMPLES[token][0]
    if not path.is_file():
        raise ModelError("sample_not_installed", model=token, path=path.name)
    return str(path)
