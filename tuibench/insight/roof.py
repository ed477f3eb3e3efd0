"""The least time that a layer can take on a machine, by what it computes and what it moves."""

from __future__ import annotations

from tuibench.core.profile import Roofline

F32, INT8, DRAM, CACHE = "f32", "int8", "DRAM", "cache"
"""What can bind a layer."""


def least_ms(flops: int | None, bytes_moved: int | None, integer: bool, roofline: Roofline) -> tuple[float | None, str]:
    """The longest of the times that its products and its bytes need at best, and which of them that is."""
    if flops is None:
        return None, ""
    times: list[tuple[float, str]] = []
    peak = roofline.int8_gops if integer else roofline.f32_gflops
    if peak:
        times.append((flops / peak / 1e6, INT8 if integer else F32))
    bandwidth, level = bandwidth_for(bytes_moved or 0, roofline)
    if bytes_moved is not None and bandwidth:
        times.append((bytes_moved / bandwidth / 1e6, level))
    if not times or max(times)[0] <= 0:
        return None, ""
    return max(times)


def bandwidth_for(bytes_moved: int, roofline: Roofline) -> tuple[float | None, str]:
    """GB/s of the smallest memory that a layer's tensors fit into."""
    for size, gb_s in roofline.cache_gb_s:
        if bytes_moved <= size:
            return gb_s, CACHE
    return roofline.dram_gb_s, DRAM
