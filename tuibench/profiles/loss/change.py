"""What a layer is changed to: its smallest weights zero, or all of them rounded as INT8 would hold them."""

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
"""Of INT8 on either side of zero."""


def pruned_share(level: str) -> float | None:
    """The share of weights that a level makes zero; None for INT8."""
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
    """The weight as it is stored at that level."""
    share = pruned_share(level)
    return round_to_int8(weight, layer) if share is None else prune(weight, share)


def prune(weight: Weight, share: float) -> Array:
    """Make exactly that share zero, the smallest first, and of equal ones those that come first."""
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
    """|w|, with what is no number as the largest of all."""
    size: Array = np.abs(weight.real)
    size[np.isnan(size)] = np.inf
    return size


def round_to_int8(weight: Weight, layer: Layer) -> Array:
    """Round every weight to one of 255 equal steps of its output channel's largest; activations are left alone."""
    real = weight.real
    reduced = layer.reduced
    if layer.groups is not None:
        axis, count = layer.groups
        real = real.reshape(*real.shape[:axis], count, -1, *real.shape[axis + 1 :])
        reduced = tuple(a + (a >= axis) for a in reduced)
    # A weight that is no number makes none of its channel, as it does in the model.
    with np.errstate(over="ignore", invalid="ignore"):
        step = np.max(np.abs(real), axis=reduced, keepdims=True) / _STEPS
        # A channel of zeros stays one.
        rounded = np.rint(real / np.where(step > 0, step, 1)) * step
    stored: Array = rounded.reshape(weight.stored.shape).astype(weight.stored.dtype)
    return stored
