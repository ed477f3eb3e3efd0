"""Turns layer weights into model inputs, so that one session can run any change of them.

The engine cannot fold inputs into other weights before the run, which would hide a change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from tuibench.arrays.bundle import Array
from tuibench.core.errors import ModelError
from tuibench.core.text import show
from tuibench.models.external import is_external
from tuibench.models.graph import dtype_name, walk_bodies, walk_weights
from tuibench.profiles.loss.layer import FLOATS, Layer
from tuibench.profiles.loss.scope import Source
from tuibench.profiles.loss.weight import WeightReader

_INLINE_BYTES = 64 << 20
"""Up to this size other external weights are copied into the changed model; larger ones become inputs."""
_FILE_BYTES = 2**31 - 1


@dataclass(frozen=True)
class Lifted:
    """A model that takes its weights as inputs of each call."""

    path: Path
    names: Mapping[str, str]
    """Maps a layer's id to the input that replaces its weight."""
    weights: Mapping[str, Array]
    """The unchanged values of those inputs."""


def lift(model: onnx.ModelProto, layers: Sequence[Layer], reader: WeightReader, path: Path) -> Lifted:
    """Write the model to `path` with an input for each layer's weight; this modifies `model`."""
    prefix = _unused_prefix(model)
    weights: dict[str, Array] = {}
    names: dict[str, str] = {}
    sources: dict[str, Source] = {}
    for layer in layers:
        name = f"{prefix}{len(weights)}"
        names[layer.id], weights[name], sources[name] = name, reader.stored(layer), layer.root
    for source in _large_rest(model, sources.values()):
        assert source.tensor is not None
        name = f"{prefix}{len(weights)}"
        weights[name], sources[name] = reader.tensor(source.tensor), source
    _replace(model.graph, sources, weights)
    for tensor in walk_weights(model):
        if is_external(tensor):
            _take_in(tensor, reader)
    _write(model, path)
    return Lifted(path, names, weights)


def _unused_prefix(model: onnx.ModelProto) -> str:
    prefix = "weight:"
    for body in walk_bodies(model.graph):
        taken = [*(name for node in body.node for name in (*node.input, *node.output))]
        if isinstance(body, onnx.GraphProto):
            taken += [value.name for value in (*body.input, *body.initializer)]
        while any(name.startswith(prefix) for name in taken):
            prefix += ":"
    return prefix


def _large_rest(model: onnx.ModelProto, lifted: Iterable[Source]) -> list[Source]:
    """Return external weights of the outermost graph that are too large to copy into the file."""
    done = {source.name for source in lifted if source.graph is model.graph}
    return [
        Source(model.graph, tensor.name, tensor, None)
        for tensor in model.graph.initializer
        if is_external(tensor) and tensor.name not in done and _is_large(tensor)
    ]


def _is_large(tensor: onnx.TensorProto) -> bool:
    if dtype_name(tensor.data_type) not in (*FLOATS, "int8", "uint8", "int32", "int64"):
        return False
    return int(np.prod(tensor.dims, dtype=np.float64)) > _INLINE_BYTES // 4


def _replace(main: onnx.GraphProto, sources: Mapping[str, Source], weights: Mapping[str, Array]) -> None:
    """Put an Identity in each weight's place, so that all names stay valid, in subgraphs, too."""
    fronts: dict[int, tuple[onnx.GraphProto, list[tuple[str, str]]]] = {}
    for name, source in sources.items():
        array = weights[name]
        element = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
        if source.node is not None:
            source.node.op_type, source.node.domain = "Identity", ""
            del source.node.attribute[:]
            source.node.input[:] = [name]
        else:
            fronts.setdefault(id(source.graph), (source.graph, []))[1].append((name, source.name))
        main.input.append(onnx.helper.make_tensor_value_info(name, element, array.shape))
    for graph, pairs in fronts.values():
        gone = {old for _, old in pairs}
        _drop(graph.initializer, gone)
        _drop(graph.input, gone)
        nodes = list(graph.node)
        front = [onnx.helper.make_node("Identity", [name], [old]) for name, old in pairs]
        del graph.node[:]
        graph.node.extend([*front, *nodes])


def _drop(values: Any, gone: set[str]) -> None:
    """Remove the items with these names from a repeated field; go backwards, as removal shifts positions."""
    for at in range(len(values) - 1, -1, -1):
        if values[at].name in gone:
            del values[at]


def _take_in(tensor: onnx.TensorProto, reader: WeightReader) -> None:
    tensor.raw_data = reader.raw(tensor)
    del tensor.external_data[:]
    tensor.data_location = onnx.TensorProto.DEFAULT


def _write(model: onnx.ModelProto, path: Path) -> None:
    size = model.ByteSize()
    if size > _FILE_BYTES:
        raise ModelError(f"what is left of {show(path)} without its layers' weights is too large for a file")
    path.write_bytes(model.SerializeToString())
