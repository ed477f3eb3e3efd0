"""CPU properties: brand, instruction sets, caches and their sharing, governor and frequency."""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tuibench.core.value import dataclass
from tuibench.host.kernel_files import Tree, parse_cpus

_CPUS = "sys/devices/system/cpu"
# The file can have megabytes, and the fields read here are the same for all processors: the first entry is enough.
_FIRST_ENTRY_BYTES = 16384
_CACHE_SIZE = re.compile(r"(\d+)([KMG]?)")
_FACTOR = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_KINDS = {"Data": "d", "Instruction": "i", "Unified": ""}

ISA = (
    *("avx2", "fma", "f16c", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16", "avx_vnni", "avx_vnni_int8"),
    *("amx_tile", "amx_int8", "amx_bf16", "amx_fp16"),
    *("asimd", "asimdhp", "asimddp", "i8mm", "bf16", "sve", "sve2", "svei8mm", "svebf16", "sme"),
)
"""Instruction sets that decide how fast a model runs, under their Linux names."""


def read_identity(tree: Tree) -> dict[str, Any]:
    """Return brand, model numbers and instruction sets from /proc/cpuinfo; x86 and ARM name the fields differently."""
    fields: dict[str, str] = {}
    for line in (tree.read("proc/cpuinfo", _FIRST_ENTRY_BYTES) or "").splitlines():
        name, _, value = line.partition(":")
        name = name.strip()
        if name in fields and name == "processor":
            break
        fields[name] = value.strip()
    flags = set((fields.get("flags") or fields.get("Features") or "").split())
    return {
        "brand": fields.get("model name") or None,
        "vendor": fields.get("vendor_id") or fields.get("CPU implementer"),
        "family": fields.get("cpu family") or fields.get("CPU architecture"),
        "model": fields.get("model") or fields.get("CPU part"),
        "stepping": fields.get("stepping") or fields.get("CPU revision"),
        "microcode": fields.get("microcode"),
        "isa": [name for name in ISA if name in flags] if flags else None,
        "hypervisor": _hypervisor(tree, flags),
    }


def read_caches(tree: Tree, allowed: Sequence[int]) -> list[dict[str, Any]]:
    """Return the first CPU's caches, with the CPUs that share each and the count that the allowed CPUs use."""
    if not allowed:
        return []
    base = f"{_CPUS}/cpu{allowed[0]}/cache"
    caches = []
    for name in tree.entries(base):
        level = tree.number(f"{base}/{name}/level")
        kind = tree.read(f"{base}/{name}/type")
        size = _CACHE_SIZE.fullmatch(tree.read(f"{base}/{name}/size") or "")
        if level is None or kind not in _KINDS or size is None:
            continue
        shared = parse_cpus(tree.read(f"{base}/{name}/shared_cpu_list")) or (allowed[0],)
        caches.append(
            {
                "name": f"L{level}{_KINDS[kind]}",
                "bytes": int(size.group(1)) * _FACTOR[size.group(2)],
                "shared_by": len(shared),
                "count": _instances(tree, allowed, name) if level >= 3 else _even_share(allowed, shared),
            }
        )
    return caches


def read_frequency(tree: Tree, allowed: Sequence[int]) -> dict[str, Any]:
    """Return governors, boost and limits; None values if the kernel has no cpufreq, as in most virtual machines."""
    base = f"{_CPUS}/cpu{allowed[0]}/cpufreq" if allowed else ""
    scaled = allowed if tree.exists(base) else ()
    governors = Counter(
        governor for cpu in scaled if (governor := tree.read(f"{_CPUS}/cpu{cpu}/cpufreq/scaling_governor"))
    )
    no_turbo = tree.number(f"{_CPUS}/intel_pstate/no_turbo")
    boost = tree.number(f"{_CPUS}/cpufreq/boost") if no_turbo is None else 1 - no_turbo
    limits = (tree.number(f"{base}/scaling_{edge}_freq") for edge in ("min", "max"))
    low, high = (None if khz is None else khz / 1000 for khz in limits)
    return {
        "driver": tree.read(f"{base}/scaling_driver"),
        "governors": dict(governors) or None,
        "boost": None if boost is None else bool(boost),
        "min_mhz": low,
        "max_mhz": high,
    }


def _hypervisor(tree: Tree, flags: set[str]) -> bool | None:
    if "hypervisor" in flags or tree.exists("sys/hypervisor/type"):
        return True
    # Only x86 has a flag for it; on other CPUs a missing flag proves nothing.
    return False if "fpu" in flags else None


def _instances(tree: Tree, allowed: Sequence[int], index: str) -> int:
    seen: set[int] = set()
    count = 0
    for cpu in allowed:
        if cpu not in seen:
            count += 1
            seen.update({cpu}, parse_cpus(tree.read(f"{_CPUS}/cpu{cpu}/cache/{index}/shared_cpu_list")))
    return count


def _even_share(allowed: Sequence[int], shared: Sequence[int]) -> int:
    # Small caches belong to cores, and all cores are alike: one division replaces reading hundreds of files.
    ours = len(set(allowed) & set(shared)) or 1
    return -(-len(allowed) // ours)


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
