"""Directories of transformers: configuration and weights as safetensors, checked without reading a weight."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Any

from tuibench.core.errors import ModelError, name_kind

_WEIGHTS = ".safetensors"
_PICKLES = (".bin", ".pt", ".pth", ".ckpt")
_MOST_BYTES = 1 << 20
"""Size of a configuration; real ones have a few kilobytes."""
_PIECE_BYTES = 4 << 20


def checkpoint_files(config: Path) -> tuple[Path, ...]:
    """Return the configuration, then all files of weights by name; raise ModelError for a directory that is refused.

    Code of its own and pickles are refused, and links that leave the directory.
    """
    folder = config.parent
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise ModelError("path_unreadable", what=str(folder), text=error.strerror or str(error)) from None
    weights = [folder / name for name in names if name.endswith((_WEIGHTS, f"{_WEIGHTS}.index.json"))]
    if not any(one.name.endswith(_WEIGHTS) for one in weights):
        if any(name.endswith(_PICKLES) for name in names):
            raise ModelError("weights_are_pickled", path=str(folder))
        raise ModelError("no_safetensors", path=str(folder))
    for one in (config, *weights):
        _require_inside(one, folder)
    if "auto_map" in read_config(config):
        raise ModelError("model_wants_trust", path=str(folder))
    return config, *weights


def hash_checkpoint(config: Path) -> str:
    """Return the sha256 over configuration and weights, which identifies a directory."""
    total = hashlib.sha256()
    for one in checkpoint_files(config):
        with open(one, "rb") as file:
            while piece := file.read(_PIECE_BYTES):
                total.update(piece)
    return total.hexdigest()


def read_config(config: Path) -> dict[str, Any]:
    """Return the configuration; raise ModelError if it is no JSON object."""
    try:
        with open(config, "rb") as file:
            found = json.loads(file.read(_MOST_BYTES + 1))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError("config_unreadable", path=str(config), text=str(error)[:200]) from None
    if not isinstance(found, dict):
        raise ModelError("config_unreadable", path=str(config), text="it is no JSON object")
    return found


def _require_inside(path: Path, folder: Path) -> None:
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        raise ModelError("path_unreadable", what=str(path), text=error.strerror or str(error)) from None
    if not stat.S_ISREG(mode):
        raise ModelError("path_not_regular", what=str(path), kind=name_kind(mode), extension="safetensors")
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise ModelError("file_outside_model", path=str(path))
