"""Element type and shape of a tensor, without its values."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tuibench.core.dtype import ELEMENT_BITS

Shape = tuple[int, ...]

_PROFILER_NAMES = {"float": "float32", "double": "float64"}

QUANTIZED = ("int8", "uint8", "int16", "uint16", "int4", "uint4", "int2", "uint2")
"""Element types of quantized weights; wider integers are shapes and indices."""
EIGHT_BITS = ("int8", "uint8")


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor; '' for an unknown type, None for an unknown shape."""

    dtype: str
    shape: Shape | None

    @property
    def elements(self) -> int | None:
        """Number of elements."""
        return None if self.shape is None else math.prod(self.shape)

    @property
    def size(self) -> int | None:
        """Size in bytes; None if unknown, and for text, which has no fixed size."""
        return size_of(self.dtype, self.shape)


def size_of(dtype: str, shape: Shape | None) -> int | None:
    """Return the bytes of a shape in an element type; types of less than a byte are packed."""
    bits = ELEMENT_BITS.get(dtype)
    return None if bits is None or shape is None else (math.prod(shape) * bits + 7) // 8


def profiler_dtype(name: str) -> str:
    """Return this package's name of an element type in ONNX Runtime's profile."""
    return _PROFILER_NAMES.get(name, name)


def is_parameter_type(dtype: str) -> bool:
    """Return whether elements of this type are learned weights."""
    return dtype.startswith(("float", "bfloat", "complex")) or dtype in QUANTIZED
