"""Changes to a layer's weights: prune the smallest ones, or round all of them to INT8."""

from __future__ import annotations

import math

import numpy as np

from tuibench.arrays.bundle import Array
from tuibench.core.errors import UsageError
from tuibench.core.profile import INT8, LEVELS
from tuibench.core.text import show
from tuibench.profiles.loss.layer import Layer
from tuibench.profiles.loss.weight import Weight

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
        raise UsageError(f"there is no level '{show(level, 40)}'", f"levels are {', '.join(LEVELS)}")
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
