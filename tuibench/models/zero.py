"""Counts zero weights of any element type, in pieces and within a budget of time and bytes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from tuibench.core.errors import ModelError
from tuibench.core.units import size
from tuibench.models.external import extent, is_external, read_chunks
from tuibench.models.graph import dtype_name, text

KEPT_TENSORS = 200
_PIECE_BYTES = 4 << 20
# Masks that drop the sign bit, so that -0.0 counts as zero.
_FLOAT_MASKS = {
    "float32": 0x7FFF_FFFF,
    "float64": 0x7FFF_FFFF_FFFF_FFFF,
    "float16": 0x7FFF,
    "bfloat16": 0x7FFF,
    "float8e4m3fn": 0x7F,
    "float8e5m2": 0x7F,
}
_WIDTHS = {
    **dict.fromkeys(("float32", "int32", "uint32"), 4),
    **dict.fromkeys(("float64", "int64", "uint64"), 8),
    **dict.fromkeys(("float16", "bfloat16", "int16", "uint16"), 2),
    **dict.fromkeys(("int8", "uint8", "bool", "float8e4m3fn", "float8e5m2", "float8e4m3fnuz", "float8e5m2fnuz"), 1),
}
_NIBBLES = ("int4", "uint4")


@dataclass(frozen=True, slots=True)
class ZeroBudget:
    """Limits of counting; above them the summary says that zeros were not counted."""

    seconds: float = 10.0
    total_bytes: int = 4_000_000_000
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True)
class ZeroCount:
    """Zeros of all weights and of the largest ones, or the reason why they were not counted."""

    total: int | None
    tensors: tuple[tuple[str, int, int], ...]
    reason: str | None = None


def count_zeros(weights: Iterable[onnx.TensorProto], model_path: Path, budget: ZeroBudget) -> ZeroCount:
    """Count the zeros of every numeric weight."""
    weights = list(weights)
    total_bytes = sum(math.prod(w.dims) * _WIDTHS.get(dtype_name(w.data_type), 1) for w in weights)
    if total_bytes > budget.total_bytes:
        return ZeroCount(None, (), f"zeros not counted: {size(total_bytes)} of weights")
    until = budget.clock() + budget.seconds
    sizes: dict[Path, int] = {}
    found: list[tuple[str, int, int]] = []
    for weight in weights:
        if budget.clock() > until:
            return ZeroCount(None, (), f"zeros not counted: more than {budget.seconds:.0f} s of reading")
        if dtype_name(weight.data_type) != "string":
            found.append((text(weight.name), math.prod(weight.dims), zeros_of(weight, model_path, sizes)))
    largest = sorted(found, key=lambda t: (-t[1], t[0]))[:KEPT_TENSORS]
    return ZeroCount(sum(zeros for _, _, zeros in found), tuple(largest))


def zeros_of(weight: onnx.TensorProto, model_path: Path, sizes: dict[Path, int], zero_point: int = 0) -> int:
    """Return the count of elements of one weight that are zero or equal to its zero point.

    `sizes` caches the sizes of checked external files.
    """
    dtype, elements = dtype_name(weight.data_type), math.prod(weight.dims)
    if (dtype not in _WIDTHS and dtype not in _NIBBLES) or not (is_external(weight) or weight.HasField("raw_data")):
        return _typed_zeros(weight, elements, zero_point)
    # An extent without a length reaches to the end of its file and includes other weights, so limit the read.
    needed = (elements + 1) // 2 if dtype in _NIBBLES else elements * _WIDTHS[dtype]
    if is_external(weight):
        place = extent(weight, model_path, sizes)
        pieces: Iterable[bytes | memoryview] = read_chunks(
            place.path, place.offset, min(place.length, needed), _PIECE_BYTES
        )
    else:
        raw = memoryview(weight.raw_data)[:needed]
        pieces = (raw[at : at + _PIECE_BYTES] for at in range(0, len(raw), _PIECE_BYTES))
    zeros, last = 0, 0xFF
    for piece in pieces:
        zeros += _zeros_in(piece, dtype, zero_point)
        last = piece[-1]
    # After an odd count, the last half byte is no weight.
    return zeros - int(dtype in _NIBBLES and elements % 2 == 1 and last >> 4 == zero_point % 16)


def _zeros_in(piece: bytes | memoryview, dtype: str, zero_point: int) -> int:
    if dtype in _NIBBLES:
        packed, zero = np.frombuffer(piece, np.uint8), zero_point % 16
        return int(np.count_nonzero(packed & 0x0F == zero) + np.count_nonzero(packed >> 4 == zero))
    width = _WIDTHS[dtype]
    bits = np.frombuffer(piece, f"<u{width}", count=len(piece) // width)
    if zero_point:
        return int(np.count_nonzero(bits == zero_point % (1 << 8 * width)))
    if dtype in _FLOAT_MASKS:
        bits = bits & bits.dtype.type(_FLOAT_MASKS[dtype])
    return int(bits.size - np.count_nonzero(bits))


def _typed_zeros(weight: onnx.TensorProto, elements: int, zero_point: int) -> int:
    try:
        array = numpy_helper.to_array(weight)
    except (ValueError, TypeError, KeyError) as error:
        raise ModelError(
            f"weight '{text(weight.name)[:60]}' is damaged: {str(error)[:120]}", "export it again"
        ) from None
    return elements - int(np.count_nonzero(array - zero_point if zero_point else array))
