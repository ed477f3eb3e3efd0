"""Serializes a renamed model; bytes have no directory, so external weights get paths relative to a common folder."""

from __future__ import annotations

import os
from pathlib import Path

import onnx

from tuibench.models.cost.expansion import Expansion, to_bytes
from tuibench.models.external import extent, is_external
from tuibench.models.graph import walk_weights


def locate_weights(expansion: Expansion, path: Path) -> tuple[bytes, str]:
    """Return the bytes of the model to run, and the folder of its external weights.

    A download cache links to files elsewhere; the engine follows such links only for a model loaded from a path.
    """
    serialized = to_bytes(expansion)
    real = _real_paths(expansion.model, path)
    beside = str(path.parent.resolve())
    if all(os.path.dirname(found) == beside for found in real.values()):
        return serialized, beside
    folder = os.path.commonpath([os.path.dirname(found) for found in real.values()])
    # Change a copy, since zeros are still read from the model's own locations.
    moved = onnx.ModelProto.FromString(serialized)
    for tensor in walk_weights(moved):
        for entry in tensor.external_data:
            if entry.key == "location" and is_external(tensor):
                entry.value = os.path.relpath(real[entry.value], folder)
    found: bytes = moved.SerializeToString()
    return found, folder


def _real_paths(model: onnx.ModelProto, path: Path) -> dict[str, str]:
    """Return the real path of each location in the model; raise ModelError if a file is missing or elsewhere."""
    sizes: dict[Path, int] = {}
    return {
        entry.value: os.path.realpath(extent(tensor, path, sizes).path)
        for tensor in walk_weights(model)
        if is_external(tensor)
        for entry in tensor.external_data
        if entry.key == "location"
    }
