"""Element types of tensors by their names in a model, and their sizes."""

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
"""Every type except text, which has no fixed element size."""


def unpacked_bytes(dtype: str) -> int | None:
    """Return the bytes of one unpacked element, as inputs are fed; None for text and unknown types."""
    bits = ELEMENT_BITS.get(dtype)
    return None if bits is None else max(1, bits // 8)
