"""Numbers formatted for people: four decimals or four significant digits, whichever is more."""

from __future__ import annotations

import math
from collections.abc import Iterable

_FINE_MS = 0.001
"""Below this, three digits would claim nanoseconds from a profiler that counts microseconds."""


def number(value: float) -> str:
    """Format for lines and exports that scripts read: 4 decimals or 4 significant digits, whichever is more."""
    if not math.isfinite(value):
        return str(value)
    if value == 0 or abs(value) >= 1:
        return f"{value:.4f}"
    decimals = max(4, 3 - math.floor(math.log10(abs(value))))
    return f"{value:.{decimals}f}"


def short(value: float, digits: int = 3) -> str:
    """Format for people: `digits` significant digits, without an exponent for common sizes."""
    if not math.isfinite(value):
        return str(value)
    if value == 0:
        return "0"
    # Magnitude of the rounded value: 0.9999 becomes 1.00.
    magnitude = int(f"{value:.{digits - 1}e}".partition("e")[2])
    if magnitude >= digits - 1:
        return f"{value:.0f}"
    return f"{value:.{min(digits - 1 - magnitude, 9)}f}"


def ms(value_ms: float) -> str:
    """Return a latency with its unit; microseconds below 0.1 ms so that small models keep their digits."""
    if value_ms < 0.1:
        return f"{short(value_ms * 1000)} µs"
    return f"{short(value_ms)} ms" if value_ms < 10_000 else f"{short(value_ms / 1000)} s"


def table_ms(value_ms: float) -> str:
    """Return a time for a column of ms, down to hundredths of a microsecond so that it fits in 7 columns."""
    return short(value_ms) if abs(value_ms) >= _FINE_MS or value_ms == 0 else f"{value_ms:.5f}"


def size(count: float) -> str:
    """Return bytes in powers of 1000, as disks and model hubs print them."""
    for unit in ("B", "kB", "MB", "GB", "TB", "PB"):
        if abs(count) < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{short(count)} {unit}"
        count /= 1000
    return f"{short(count)} EB"


def scaled(count: float) -> str:
    """Return a rounded count: 212, 61.1 k, 4.00 M, 1.20 G."""
    if abs(count) < 1000:
        return f"{count:.0f}"
    for unit in ("k", "M", "G", "T", "P"):
        count /= 1000
        if abs(count) < 999.5:
            return f"{short(count)} {unit}"
    return f"{short(count / 1000)} E"


def seconds(value: float) -> str:
    """Return a rounded duration: 0.4 s, 12 s, 3m10, 3h20m."""
    if value < 10:
        return f"{value:.1f} s"
    if value < 100:
        return f"{value:.0f} s"
    minutes, rest = divmod(int(value), 60)
    return f"{minutes}m{rest:02d}" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02d}m"


def percent(fraction: float) -> str:
    """Return a share or a half-width such as 0.7 %, with two digits or one decimal."""
    return f"{percent_number(fraction)} %"


def percent_number(fraction: float) -> str:
    """Return the same without the sign, for a column that has it in its title."""
    value = fraction * 100
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def count_of(count: int, noun: str) -> str:
    """Return a number with its noun: 1 core, 2 cores, 3 processes."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}{'es' if noun.endswith('s') else 's'}"


def cpu_ranges(cpus: Iterable[int]) -> str:
    """Return CPU numbers as ranges, as the kernel writes them: 0-3,8."""
    spans: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if spans and cpu == spans[-1][1] + 1:
            spans[-1][1] = cpu
        else:
            spans.append([cpu, cpu])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in spans)
