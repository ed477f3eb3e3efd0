"""Brand and flags from py-cpuinfo, used if /proc/cpuinfo has none; takes a second, so cached until reboot."""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tuibench.host.cpu import ISA

_BOOT_ID = re.compile(r"[0-9a-f-]{8,64}")


@dataclass(frozen=True, slots=True)
class Brand:
    """The CPU's name and instruction sets according to py-cpuinfo; its cache sizes are wrong and left out."""

    brand: str | None
    isa: tuple[str, ...]


def read_brand(boot_id: str | None, cache: Path | None, ask: Callable[[], Mapping[str, Any]] | None = None) -> Brand:
    """Return brand and flags, cached per boot; slow without a cache, so never call it while a benchmark waits."""
    # Without a boot id a cached answer could come from another machine.
    file = cache / f"cpu-{boot_id}.json" if cache and _BOOT_ID.fullmatch(boot_id or "") else None
    if file is not None and (kept := _load(file)) is not None:
        return kept
    brand = _parse((ask or ask_cpuinfo)())
    if file is not None and (brand.brand or brand.isa):
        # A cache that cannot be written costs only a second on the next call.
        with contextlib.suppress(OSError):
            _save(file, brand)
    return brand


def ask_cpuinfo() -> Mapping[str, Any]:
    """Run py-cpuinfo; return an empty mapping if it fails."""
    # 60 ms to import and a second to run: it sleeps while it counts clock ticks, and starts other programs.
    import cpuinfo

    try:
        answer: Mapping[str, Any] = cpuinfo.get_cpu_info()
    except Exception:
        # It parses the output of other programs and raises many kinds of errors.
        return {}
    return answer


def _parse(answer: object) -> Brand:
    fields: Mapping[str, Any] = answer if isinstance(answer, dict) else {}
    brand, flags = fields.get("brand_raw"), fields.get("flags")
    known = set(map(str, flags)) if isinstance(flags, list) else set()
    return Brand(brand if isinstance(brand, str) and brand else None, tuple(name for name in ISA if name in known))


def _load(file: Path) -> Brand | None:
    try:
        kept = _parse(json.loads(file.read_bytes()))
    except (OSError, ValueError, RecursionError):
        return None
    return kept if kept.brand or kept.isa else None


def _save(file: Path, brand: Brand) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    text = json.dumps({"brand_raw": brand.brand, "flags": list(brand.isa)})
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=".cpu-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.replace(name, file)
    except OSError:
        os.unlink(name)
        raise
