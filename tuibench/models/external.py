"""External weights; checks each path that the model names before any library opens it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import onnx

from tuibench.core.errors import ModelError
from tuibench.core.text import show
from tuibench.models.file import open_regular, regular_size
from tuibench.models.graph import text, walk_weights

_CHUNK_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Extent:
    """Position of one weight's bytes."""

    path: Path
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class ExternalData:
    """All files that the weights of a model refer to, checked to be readable and long enough."""

    files: tuple[Path, ...]
    locations: tuple[str, ...]
    """Names in the model, in the order of `files`."""
    total_bytes: int


def check_external(model: onnx.ModelProto, model_path: Path) -> ExternalData:
    """Find the files of all external weights; raise ModelError if one is missing, too short or in another directory."""
    sizes: dict[Path, int] = {}
    locations: dict[Path, str] = {}
    for tensor in walk_weights(model):
        if is_external(tensor):
            found = extent(tensor, model_path, sizes)
            locations.setdefault(found.path, _entries(tensor).get("location", ""))
    files = tuple(sorted(locations))
    return ExternalData(files, tuple(locations[f] for f in files), sum(sizes[f] for f in files))


def is_external(tensor: onnx.TensorProto) -> bool:
    """Return whether the bytes of a weight are outside the model file."""
    return bool(tensor.data_location == onnx.TensorProto.EXTERNAL)


def extent(tensor: onnx.TensorProto, model_path: Path, sizes: dict[Path, int]) -> Extent:
    """Return the position of one external weight; `sizes` caches the sizes of checked files."""
    entries = _entries(tensor)
    path = _resolve(entries.get("location", ""), model_path)
    if path not in sizes:
        sizes[path] = regular_size(path, f"external data {show(path)} of {show(model_path)}")
    try:
        offset = int(entries.get("offset") or 0)
        length = int(entries["length"]) if entries.get("length") else sizes[path] - offset
    except ValueError:
        offset = length = -1
    if offset < 0 or length < 0 or offset + length > sizes[path]:
        name = show(text(tensor.name), 60)
        lies = f"weight '{name}' lies at {offset} + {length} of {sizes[path]} bytes"
        raise ModelError(
            f"external data {show(path)} is too short: {lies}",
            "fetch the data file again; it belongs beside the model",
        )
    return Extent(path, offset, length)


def read_chunks(path: Path, offset: int, length: int, chunk_bytes: int = _CHUNK_BYTES) -> Iterator[bytes]:
    """Yield the bytes of an extent in pieces, so that memory stays bounded."""
    with open(open_regular(path), "rb") as file:
        file.seek(offset)
        left = length
        while left > 0:
            piece = file.read(min(left, chunk_bytes))
            if not piece:
                raise ModelError(f"external data {show(path)} became shorter while it was read", "run it again")
            left -= len(piece)
            yield piece


def _entries(tensor: onnx.TensorProto) -> dict[str, str]:
    return {text(entry.key): text(entry.value) for entry in tensor.external_data}


def _resolve(location: str, model_path: Path) -> Path:
    what = f"{show(model_path)} names external data '{show(location, 80)}'"
    if not location or "\0" in location:
        raise ModelError(f"{what}, which is no file name", "export the model again")
    # A download cache links both files to blobs elsewhere, so the blobs' own directory is allowed too.
    homes = {os.path.realpath(model_path.parent), os.path.dirname(os.path.realpath(model_path))}
    joined = os.path.normpath(os.path.join(model_path.parent, location))
    real = os.path.realpath(joined)
    named_inside = not os.path.isabs(location) and ".." not in Path(location).parts
    if not named_inside or not any(os.path.commonpath([home, real]) == home for home in homes):
        raise ModelError(f"{what}, outside its own directory", "put the data file beside the model and export it so")
    return Path(joined)
