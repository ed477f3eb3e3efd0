"""What is known of a tensor without its values: element type and shape."""

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
    """One tensor; '' and None where the type or the shape is not known."""

    dtype: str
    shape: Shape | None

    @property
    def elements(self) -> int | None:
        """How many it has."""
        return None if self.shape is None else math.prod(self.shape)

    @property
    def size(self) -> int | None:
        """Its bytes; None for text too, which has no fixed size."""
        return size_of(self.dtype, self.shape)


def size_of(dtype: str, shape: Shape | None) -> int | None:
    """Bytes of so many elements of a type, those of less than a byte packed."""
    bits = ELEMENT_BITS.get(dtype)
    return None if bits is None or shape is None else (math.prod(shape) * bits + 7) // 8


def profiler_dtype(name: str) -> str:
    """The name of an element type here for the one that ONNX Runtime's profiler writes."""
    return _PROFILER_NAMES.get(name, name)


def is_parameter_type(dtype: str) -> bool:
    """Whether elements of this type are weights that were learned."""
    return dtype.startswith(("float", "bfloat", "complex")) or dtype in QUANTIZED
