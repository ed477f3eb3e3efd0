"""Difference between two sets of outputs, and the test against rounding."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tuibench.arrays.bundle import Array, Subset, logical_dtype, pick

_REORDERING = 4
"""Multiple of the difference between optimized and unoptimized ONNX Runtime that still counts as rounding."""
_SMALLEST_SCALE = 1e-12


@dataclass(frozen=True)
class Difference:
    """Largest scaled difference: 0 if equal; infinite, with a reason, if values cannot be compared."""

    value: float
    reason: str | None = None


def differs(difference: float, tolerance: float, reference_difference: float) -> bool:
    """Return whether outputs differ by more than the precision, or the reference itself, allows."""
    return not difference <= max(tolerance, _REORDERING * reference_difference)


def compare(
    reference: Mapping[str, Any], actual: Mapping[str, Any], dtypes: Mapping[str, str] | None = None
) -> Difference:
    """Return the largest difference over all outputs; `dtypes` names the logical type of raw bits."""
    logical = dtypes or {}
    worst = Difference(0.0)
    for name, expected in reference.items():
        if name not in actual:
            return Difference(math.inf, f"output '{name}' is missing")
        found = _compare_value(expected, actual[name], logical.get(name))
        if found.value > worst.value:
            worst = Difference(found.value, f"output '{name}': {found.reason}" if found.reason else None)
    extra = [name for name in actual if name not in reference]
    return Difference(math.inf, f"output '{extra[0]}' is not in the reference") if extra else worst


def _compare_value(reference: Any, actual: Any, dtype: str | None) -> Difference:
    if reference is None or actual is None:
        return Difference(0.0) if reference is actual else Difference(math.inf, "present on one side only")
    if isinstance(reference, Mapping) or isinstance(actual, Mapping):
        return _compare_maps(reference, actual, dtype)
    if isinstance(reference, (list, tuple)) or isinstance(actual, (list, tuple)):
        return _compare_sequences(reference, actual, dtype)
    if isinstance(reference, Subset):
        return _compare_arrays(reference.values, reference.shape, np.asarray(actual), dtype)
    array = np.asarray(reference)
    return _compare_arrays(pick(array), array.shape, np.asarray(actual), dtype)


def _compare_maps(reference: Any, actual: Any, dtype: str | None) -> Difference:
    if not (isinstance(reference, Mapping) and isinstance(actual, Mapping)):
        return Difference(math.inf, "a map on one side only")
    if reference.keys() != actual.keys():
        return Difference(math.inf, "maps with different keys")
    keys = list(reference)
    left, right = [reference[key] for key in keys], [actual[key] for key in keys]
    if all(isinstance(v, (int, float, str, np.generic)) for v in (*left, *right)):
        # Scalars of one map form one tensor and share its scale.
        return _compare_value(np.array(left), np.array(right), dtype)
    return _compare_sequences(left, right, dtype)


def _compare_sequences(reference: Any, actual: Any, dtype: str | None) -> Difference:
    if not (isinstance(reference, Sequence) and isinstance(actual, Sequence)):
        return Difference(math.inf, "a sequence on one side only")
    if len(reference) != len(actual):
        return Difference(math.inf, f"{len(actual)} items instead of {len(reference)}")
    found = [_compare_value(left, right, dtype) for left, right in zip(reference, actual, strict=True)]
    return max(found, key=lambda d: d.value, default=Difference(0.0))


def _compare_arrays(chosen: Array, shape: tuple[int, ...], actual: Array, dtype: str | None) -> Difference:
    if shape != actual.shape:
        return Difference(math.inf, f"shape {list(actual.shape)} instead of {list(shape)}")
    left_type, right_type = logical_dtype(chosen), logical_dtype(actual)
    raw = dtype if chosen.dtype.kind == "u" and dtype is not None else None
    if left_type != right_type and not (raw and right_type in (raw, raw.replace("float8e", "float8_e"))):
        return Difference(math.inf, f"type {right_type} instead of {left_type}")
    left, right = _comparable(chosen, raw), _comparable(pick(actual), raw)
    if left.size == 0:
        return Difference(0.0)
    if left.dtype.kind in "fc":
        return _compare_floats(left, right)
    unequal = np.asarray(left != right)
    return Difference(float(np.count_nonzero(unequal)) / left.size)


def _comparable(array: Array, raw: str | None) -> Array:
    if array.dtype.kind in "USO":
        return array.astype(np.str_) if array.dtype.kind != "S" else np.char.decode(array, "utf-8", "replace")
    if array.dtype.kind == "u" and raw == "bfloat16":
        return (array.astype(np.uint32) << np.uint32(16)).view(np.float32)
    if array.dtype.kind == "u" and raw == "float8e5m2":
        return (array.astype(np.uint16) << np.uint16(8)).view(np.float16)
    if array.dtype.kind == "V":
        # An extension type of ml_dtypes, with its own conversion.
        return array.astype(np.float32)
    return array


def _compare_floats(left: Array, right: Array) -> Difference:
    wide = np.complex128 if left.dtype.kind == "c" else np.float64
    a, b = left.astype(wide), right.astype(wide)
    finite = np.isfinite(a)
    if not np.array_equal(finite, np.isfinite(b)) or not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return Difference(math.inf, "NaN or infinity on one side only")
    a, b = a[finite], b[finite]
    if a.size == 0:
        return Difference(0.0)
    parts = (a.real, a.imag) if wide is np.complex128 else (a,)
    span = max(float(p.max() - p.min()) for p in parts)
    scale = max(span, float(np.abs(a).max()), _SMALLEST_SCALE)
    return Difference(float(np.abs(a - b).max()) / scale)
