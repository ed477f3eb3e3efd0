"""Element types of tensors by their names in a model, and how large their elements are."""

from __future__ import annotations

ELEMENT_BITS = {
    **dict.fromkeys(("float64", "int64", "uint64", "complex64"), 64),
    **dict.fromkeys(("float32", "int32", "uint32"), 32),
    **dict.fromkeys(("float16", "bfloat16", "int16", "uint16"), 16),
    **dict.fromkeys(("int8", "uint8", "bool"), 8),
    **dict.fromkeys(("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "float8e8m0"), 8),
    **dict.fromkeys(("int4", "uint4", "float4e2m1"), 4),
    **dict.fromkeys(("int2", "uint2"), 2),
    "complex128": 128,
}
"""All but text, whose elements have no fixed size."""


def unpacked_bytes(dtype: str) -> int | None:
    """Bytes of one element by itself, as inputs are fed; None for text and what is not known."""
    bits = ELEMENT_BITS.get(dtype)
    return None if bits is None else max(1, bits // 8)
