"""Least time that a layer can take on a machine, by its operations and the bytes it moves."""

from __future__ import annotations

from collections.abc import Iterator

from tuibench.core.cell import Grade
from tuibench.core.profile import PerformanceProfile, Roofline
from tuibench.core.text import show
from tuibench.core.units import short, size
from tuibench.insight.trust import find_withheld

F32, INT8, DRAM, CACHE = "f32", "int8", "DRAM", "cache"
"""Names of the roofs that can bind a layer."""
_QUIET = ("A", "B")
_LONGEST = 200


def least_ms(
    flops: float | None, bytes_moved: float | None, integer: bool, roofline: Roofline, precision: str = ""
) -> tuple[float | None, str, str]:
    """Return the longer of the least times for operations and for bytes, its roof, and the reason for no time.

    There is no time if either is unknown: the other one would wrongly be called the bound.
    """
    peak = roofline.int8_gops if integer else roofline.f32_gflops
    bandwidth, level = bandwidth_for(bytes_moved or 0, roofline)
    if flops is None or bytes_moved is None:
        return None, "", "not all that it computes or moves is known"
    if precision and flops:
        return None, "", f"its numbers are {show(precision, 20)}, in which no peak was measured"
    missing = [INT8 if integer else F32] if flops and not peak else []
    missing += [level] if bytes_moved and not bandwidth else []
    if missing:
        return None, "", f"not measured on this machine: {', '.join(missing)}"
    computing = flops / peak / 1e6 if peak else 0.0
    moving = bytes_moved / bandwidth / 1e6 if bandwidth else 0.0
    value, roof = max((computing, INT8 if integer else F32), (moving, level))
    return (value, roof, "") if value > 0 else (None, "", "")


def bandwidth_for(bytes_moved: float, roofline: Roofline) -> tuple[float | None, str]:
    """Return GB/s and the level of the smallest memory that a layer's tensors fit into."""
    for held, gb_s in roofline.cache_gb_s:
        if bytes_moved <= held:
            return gb_s, CACHE
    return roofline.dram_gb_s, DRAM


def is_disturbed(grade: Grade) -> bool:
    """Return whether a measurement was too disturbed to be compared with later ones."""
    return grade.letter not in _QUIET


def roof_lines(roofline: Roofline) -> tuple[str, ...]:
    """Return the measured peaks and bandwidths, when and how well they were measured, and reasons for missing ones."""
    peaks = [(F32, roofline.f32_gflops, "GFLOP/s"), (INT8, roofline.int8_gops, "GOP/s")]
    peaks += [(f"up to {size(bytes_)}", gb_s, "GB/s") for bytes_, gb_s in roofline.cache_gb_s]
    peaks += [(DRAM, roofline.dram_gb_s, "GB/s")]
    found = ", ".join(f"{name} {short(value)} {unit}" for name, value, unit in peaks if value is not None)
    missing = [name for name, value, _ in peaks if value is None]
    words = [found or "none could be measured", f"measured {measured_words(roofline.measured_utc, roofline.grade)}"]
    words += [f"not known: {', '.join(missing)}"] if missing else []
    words += [show(roofline.reason, _LONGEST)] if roofline.reason else []
    return tuple(words)


def measured_words(utc: str, grade: Grade | None) -> str:
    """Return when the machine was measured, with the grade of that measurement."""
    when = f"{show(utc[:16]).replace('T', ' ')} UTC" if utc else "at an unknown time"
    return f"{when}, grade {show(grade.letter, 4)}" if grade is not None else f"{when}, not graded"


def machine_cautions(profile: PerformanceProfile) -> Iterator[str]:
    """Yield cautions about disturbed measurements of roofs and zero effect; the next profile measures them again."""
    roofs = profile.roofline if find_withheld(profile) is None else None
    zeros = profile.zero_effect
    for name, wrong, grade in (
        ("roofs", "% roof may be wrong", roofs.grade if roofs is not None else None),
        ("effect of zeros", "it may be wrong", zeros.grade if zeros is not None else None),
    ):
        if grade is not None and is_disturbed(grade):
            cause = f"grade {show(grade.letter, 4)}: {show(grade.cause, _LONGEST)}"
            yield f"{name} measured at {cause}; {wrong}, and the next profile measures it anew"
