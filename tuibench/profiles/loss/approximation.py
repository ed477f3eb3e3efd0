"""The approximated loss profile: proxies per layer from the weights alone; nothing is run."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

import numpy as np

from tuibench.arrays.bundle import Array
from tuibench.core.errors import ModelError
from tuibench.core.profile import ALREADY_INT8, INT8, LayerLoss, LossPoint
from tuibench.core.text import show
from tuibench.models.file import locate
from tuibench.models.inspection import load_graph
from tuibench.profiles.loss.change import magnitudes, pruned_share, round_to_int8
from tuibench.profiles.loss.layer import Layer, find_layers
from tuibench.profiles.loss.scope import Scopes
from tuibench.profiles.loss.weight import Weight, WeightReader

_QUANTILES = 21
_PIECE = 1 << 20
"""Elements squared at a time, so that large weights need no float64 copy of the same size."""


def approximate(path: str | os.PathLike[str], levels: Sequence[str]) -> list[LayerLoss]:
    """Describe every layer of a model by its weights; read one weight at a time."""
    for level in levels:
        pruned_share(level)
    file = locate(path)
    model = load_graph(path)
    if model is None:
        raise no_graph(path)
    reader = WeightReader(file.path)
    return [describe_layer(layer, reader, levels) for layer in find_layers(Scopes(model.graph))]


def no_graph(path: str | os.PathLike[str]) -> ModelError:
    """Return the error for a file whose weights only its engine can read."""
    return ModelError(f"{show(path)} is an .ort file, whose weights cannot be reached", "profile the .onnx it is from")


def describe_layer(layer: Layer, reader: WeightReader, levels: Sequence[str]) -> LayerLoss:
    """Return the proxies of one layer."""
    parameters = math.prod(layer.shape)
    if layer.reason:
        return LayerLoss(layer.id, layer.op, layer.name, layer.weight, layer.shape, parameters, 0, reason=layer.reason)
    weight = reader.weight(layer)
    ordered = np.sort(magnitudes(weight), axis=None)
    zeros = int(np.searchsorted(ordered, 0, side="right"))
    finite = bool(np.isfinite(ordered[-1]))
    told = [level for level in levels if level != INT8 or not layer.integer]
    return LayerLoss(
        *(layer.id, layer.op, layer.name, layer.weight, layer.shape, parameters, zeros),
        quantiles=_quantiles(ordered) if finite else (),
        weight_sqnr_db={level: _noise_db(weight, layer, level, ordered) if finite else None for level in told},
        points=tuple(LossPoint(level, None, None, reason=ALREADY_INT8) for level in levels if level not in told),
        reason="" if finite else "its weights hold NaN or infinity",
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
