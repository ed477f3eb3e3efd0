"""The least time that a layer can take on a machine, by what it computes and what it moves."""

from __future__ import annotations

from collections.abc import Iterator

from tuibench.core.cell import Grade
from tuibench.core.profile import PerformanceProfile, Roofline
from tuibench.core.text import show
from tuibench.core.units import short, size
from tuibench.insight.trust import find_withheld

F32, INT8, DRAM, CACHE = "f32", "int8", "DRAM", "cache"
"""What can bind a layer."""
_QUIET = ("A", "B")
_LONGEST = 200


def least_ms(
    flops: float | None, bytes_moved: float | None, integer: bool, roofline: Roofline, precision: str = ""
) -> tuple[float | None, str, str]:
    """The longest of the times that its products and its bytes need at best, which of them that is, and why none.

    Nothing where either is not known: the other alone would be called what binds it, whatever does.
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
    """GB/s of the smallest memory that a layer's tensors fit into."""
    for held, gb_s in roofline.cache_gb_s:
        if bytes_moved <= held:
            return gb_s, CACHE
    return roofline.dram_gb_s, DRAM


def is_disturbed(grade: Grade) -> bool:
    """Whether what was measured then is not fit to be held against anything later."""
    return grade.letter not in _QUIET


def roof_lines(roofline: Roofline) -> tuple[str, ...]:
    """What this machine was seen to deliver, when and how well that was measured, and what is missing of it and why."""
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
    """When something of the machine was measured, and how disturbed it was then."""
    when = f"{show(utc[:16]).replace('T', ' ')} UTC" if utc else "at an unknown time"
    return f"{when}, grade {show(grade.letter, 4)}" if grade is not None else f"{when}, not graded"


def machine_cautions(profile: PerformanceProfile) -> Iterator[str]:
    """What was measured of the machine while others used it, which no later profile will go by."""
    roofs = profile.roofline if find_withheld(profile) is None else None
    zeros = profile.zero_effect
    for name, wrong, grade in (
        ("roofs", "% roof may be wrong", roofs.grade if roofs is not None else None),
        ("effect of zeros", "it may be wrong", zeros.grade if zeros is not None else None),
    ):
        if grade is not None and is_disturbed(grade):
            cause = f"grade {show(grade.letter, 4)}: {show(grade.cause, _LONGEST)}"
            yield f"{name} measured at {cause}; {wrong}, and the next profile measures it anew"
