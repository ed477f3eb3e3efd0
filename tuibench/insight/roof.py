"""The least time that a layer can take on a machine, by what it computes and what it moves."""

from __future__ import annotations

from tuibench.core.profile import Roofline

F32, INT8, DRAM, CACHE = "f32", "int8", "DRAM", "cache"
"""What can bind a layer."""


def least_ms(
    flops: float | None, bytes_moved: float | None, integer: bool, roofline: Roofline
) -> tuple[float | None, str]:
    """The longest of the times that its products and its bytes need at best, and which of them that is.

    Nothing where either is not known: the other alone would be called what binds it, whatever does.
    """
    peak = roofline.int8_gops if integer else roofline.f32_gflops
    bandwidth, level = bandwidth_for(bytes_moved or 0, roofline)
    if flops is None or bytes_moved is None or (flops and not peak) or (bytes_moved and not bandwidth):
        return None, ""
    computing = flops / peak / 1e6 if peak else 0.0
    moving = bytes_moved / bandwidth / 1e6 if bandwidth else 0.0
    found = max((computing, INT8 if integer else F32), (moving, level))
    return found if found[0] > 0 else (None, "")


def bandwidth_for(bytes_moved: float, roofline: Roofline) -> tuple[float | None, str]:
    """GB/s of the smallest memory that a layer's tensors fit into."""
    for size, gb_s in roofline.cache_gb_s:
        if bytes_moved <= size:
            return gb_s, CACHE
    return roofline.dram_gb_s, DRAM
