"""CPU properties: brand, instruction sets, caches and their sharing, governor and frequency."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tuibench.host.tree import Tree, parse_cpus

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
