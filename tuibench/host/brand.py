"""Brand and flags from py-cpuinfo, where /proc/cpuinfo has none; a second of work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tuibench.host.cpu import ISA


@dataclass(frozen=True, slots=True)
class Brand:
    """What py-cpuinfo says; its cache sizes are wrong, so they are not among it."""

    brand: str | None
    isa: tuple[str, ...]


def read_brand(ask: Callable[[], Mapping[str, Any]] | None = None) -> Brand:
    """Ask py-cpuinfo, which takes a second: never called where a benchmark waits for it."""
    return _parse((ask or ask_cpuinfo)())


def ask_cpuinfo() -> Mapping[str, Any]:
    """Run py-cpuinfo; empty where it fails."""
    # 60 ms to import and a second to run: it sleeps to count clock ticks, and starts other programs.
    import cpuinfo

    try:
        answer: Mapping[str, Any] = cpuinfo.get_cpu_info()
    except Exception:
        # It parses the output of foreign programs and raises whatever that leads to.
        return {}
    return answer


def _parse(answer: object) -> Brand:
    fields: Mapping[str, Any] = answer if isinstance(answer, dict) else {}
    brand, flags = fields.get("brand_raw"), fields.get("flags")
    known = set(map(str, flags)) if isinstance(flags, list) else set()
    return Brand(brand if isinstance(brand, str) and brand else None, tuple(name for name in ISA if name in known))
