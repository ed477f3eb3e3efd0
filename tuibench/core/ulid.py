"""Ids that sort by time and can be read over the phone."""

from __future__ import annotations

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def make_ulid(time_ms: int, entropy: bytes) -> str:
    """Return the 26 characters for a time and ten random bytes; the caller provides both."""
    if len(entropy) != 10:
        raise ValueError("a ULID takes ten random bytes")
    value = (time_ms << 80) | int.from_bytes(entropy, "big")
    return "".join(_ALPHABET[(value >> shift) & 31] for shift in range(125, -1, -5))
