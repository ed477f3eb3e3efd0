"""Changes to layer weights: pruning, int8 rounding, their noise, and weights as model inputs."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from tuibench.core.errors import ModelError, UsageError
from tuibench.core.profile import ALREADY_INT8, INT8, LEVELS, LayerLoss, LossPoint
from tuibench.core.reason import Reason
from tuibench.model.cost.structure import Scope
from tuibench.model.file import is_external, locate
from tuibench.model.graph import dtype_name, walk_bodies, walk_weights
from tuibench.model.inspection import require_graph
from tuibench.model.loss.layers import FLOATS, Layer, Source, Weight, WeightReader, find_layers
from tuibench.worker.bundle import Array

_STEPS = 127
"""INT8 steps on each side of zero."""


def pruned_share(level: str) -> float | None:
    """Return the share of weights that a level prunes; None for INT8."""
    if level == INT8:
        return None
    word, _, number = level.partition(" ")
    try:
        share = float(number) if word == "pruned" else math.nan
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise UsageError("unknown_level", level=level, names=LEVELS)
    return share


def change(weight: Weight, layer: Layer, level: str) -> Array:
    """Return the stored weight changed to that level."""
    share = pruned_share(level)
    return round_to_int8(weight, layer) if share is None else prune(weight, share)


def prune(weight: Weight, share: float) -> Array:
    """Zero exactly that share: the smallest weights first, and among equal ones the earliest."""
    size = magnitudes(weight).reshape(-1)
    count = round(share * size.size)
    if count == 0:
        return weight.stored.copy()
    edge = np.partition(size, count - 1)[count - 1]
    gone = size < edge
    gone[np.flatnonzero(size == edge)[: count - np.count_nonzero(gone)]] = True
    pruned: Array = np.where(gone.reshape(weight.stored.shape), weight.zero, weight.stored)
    return pruned


def magnitudes(weight: Weight) -> Array:
    """Return |w|, with NaN as infinity."""
    size: Array = np.abs(weight.real)
    size[np.isnan(size)] = np.inf
    return size


def round_to_int8(weight: Weight, layer: Layer) -> Array:
    """Round each weight to one of 255 steps scaled by its channel's largest weight; activations are unchanged."""
    real = weight.real
    reduced = layer.reduced
    if layer.groups is not None:
        axis, count = layer.groups
        real = real.reshape(*real.shape[:axis], count, -1, *real.shape[axis + 1 :])
        reduced = tuple(a + (a >= axis) for a in reduced)
    # One NaN or infinite weight spoils its whole channel, as it does in the model.
    with np.errstate(over="ignore", invalid="ignore"):
        step = np.max(np.abs(real), axis=reduced, keepdims=True) / _STEPS
        # A channel of zeros stays zero.
        rounded = np.rint(real / np.where(step > 0, step, 1)) * step
    stored: Array = rounded.reshape(weight.stored.shape).astype(weight.stored.dtype)
    return stored


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
    write_model(model, path)
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
    done = {source.name for source in lifted if source.scope.graph is model.graph}
    return [
        Source(Scope(model.graph), tensor.name, tensor)
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
            fronts.setdefault(id(source.scope.graph), (source.scope.graph, []))[1].append((name, source.name))
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


def write_model(model: onnx.ModelProto, path: Path) -> None:
    """Write a changed model; raise ModelError if it is too large for one file."""
    size = model.ByteSize()
    if size > _FILE_BYTES:
        raise ModelError("changed_model_too_large", path=str(path))
    path.write_bytes(model.SerializeToString())


_QUANTILES = 21
_PIECE = 1 << 20
"""Elements squared at a time, so that large weights need no float64 copy of the same size."""


def approximate(path: str | os.PathLike[str], levels: Sequence[str]) -> list[LayerLoss]:
    """Describe every layer of a model by its weights; read one weight at a time."""
    for level in levels:
        pruned_share(level)
    file = locate(path)
    model = require_graph(path)
    reader = WeightReader(file.path)
    return [describe_layer(layer, reader, levels) for layer in find_layers(model.graph)]


def describe_layer(layer: Layer, reader: WeightReader, levels: Sequence[str]) -> LayerLoss:
    """Return the proxies of one layer."""
    parameters = math.prod(layer.shape)
    if layer.reason:
        return LayerLoss(layer.id, layer.op, layer.name, layer.weight, layer.shape, parameters, 0, reason=layer.reason)
    weight = reader.weight(layer)
    ordered = np.sort(magnitudes(weight), axis=None)
    zeros = int(np.searchsorted(ordered, 0, side="right"))
    finite = bool(np.isfinite(ordered[-1]))
    changed = [level for level in levels if level != INT8 or not layer.integer]
    return LayerLoss(
        *(layer.id, layer.op, layer.name, layer.weight, layer.shape, parameters, zeros),
        quantiles=_quantiles(ordered) if finite else (),
        weight_sqnr_db={level: _noise_db(weight, layer, level, ordered) if finite else None for level in changed},
        points=tuple(LossPoint(level, None, None, reason=ALREADY_INT8) for level in levels if level not in changed),
        reason=None if finite else Reason("weights_not_finite"),
    )


def _quantiles(ordered: Array) -> tuple[float, ...]:
    largest = float(ordered[-1])
    at = np.rint(np.linspace(0, ordered.size - 1, _QUANTILES)).astype(np.int64)
    return tuple(float(value) / largest if largest else 0.0 for value in ordered[at])


def _noise_db(weight: Weight, layer: Layer, level: str, ordered: Array) -> float | None:
    share = pruned_share(level)
    signal = _power(ordered)
    if share is not None:
        noise = _power(ordered[: round(share * ordered.size)])
    else:
        noise = _power((weight.real - round_to_int8(weight, layer)).reshape(-1))
    return 10 * math.log10(signal / noise) if signal and noise else None


def _power(values: Array) -> float:
    pieces = (values[at : at + _PIECE].astype(np.float64) for at in range(0, values.size, _PIECE))
    return math.fsum(float(piece @ piece) for piece in pieces)
