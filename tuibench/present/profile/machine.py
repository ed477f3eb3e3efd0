"""Words on what was measured about the machine for a profile: its roofs, and the effect of zeros."""

from __future__ import annotations

from collections.abc import Iterator

from tuibench.core.cell import Grade
from tuibench.core.profile import INT8, PerformanceProfile, Roofline
from tuibench.core.profile_facts import DRAM, F32, find_withheld, is_disturbed
from tuibench.core.text import show
from tuibench.core.units import short, size
from tuibench.present.reason import reason_words


def roof_lines(roofline: Roofline) -> tuple[str, ...]:
    """Return the measured peaks and bandwidths, when and how well they were measured, and reasons for missing ones."""
    peaks = [(F32, roofline.f32_gflops, "GFLOP/s"), (INT8, roofline.int8_gops, "GOP/s")]
    peaks += [(f"up to {size(bytes_)}", gb_s, "GB/s") for bytes_, gb_s in roofline.cache_gb_s]
    peaks += [(DRAM, roofline.dram_gb_s, "GB/s")]
    found = ", ".join(f"{name} {short(value)} {unit}" for name, value, unit in peaks if value is not None)
    missing = [name for name, value, _ in peaks if value is None]
    words = [found or "none could be measured", f"measured {measured_words(roofline.measured_utc, roofline.grade)}"]
    words += [f"not known: {', '.join(missing)}"] if missing else []
    words += [reason_words(roofline.reason, 200)] if roofline.reason else []
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
            cause = f"grade {show(grade.letter, 4)}: {reason_words(grade.cause, 200)}"
            yield f"{name} measured at {cause}; {wrong}, and the next profile measures it again"


def zeros_sentence(profile: PerformanceProfile) -> str:
    """Return the gain by zeros in weights on this engine and machine."""
    effect = profile.zero_effect
    if effect is None:
        return "the gain by zeros in weights was not measured"
    when = f"; measured {measured_words(effect.measured_utc, effect.grade)}" if effect.measured_utc else ""
    return f"{reason_words(effect.sentence, 300)}{when}"
