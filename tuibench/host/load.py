"""Load of each CPU, from two readings of /proc/stat with a pause between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tuibench.host.tree import Tree, to_int

QUIET_CPUS = 0.5
"""Below this many busy CPUs in total the machine is quiet; a short pause has too few ticks for a lower threshold."""


@dataclass(frozen=True, slots=True)
class CpuTimes:
    """Clock ticks of one CPU since boot."""

    busy: int
    """All time except idle and I/O wait; includes stolen time, because this machine could not use it either."""
    steal: int
    total: int


def read_cpu_times(root: Path = Path("/")) -> dict[int, CpuTimes]:
    """Read the counters of every online CPU, before and after a pause; empty without /proc/stat."""
    times: dict[int, CpuTimes] = {}
    for line in (Tree(root).read("proc/stat") or "").splitlines():
        if not line.startswith("cpu"):
            break
        words = line.split()
        cpu = to_int(words[0][3:])
        # The two fields after steal are guest time, which user time already includes.
        ticks = [to_int(word) or 0 for word in words[1:9]]
        if cpu is None or len(ticks) < 4:
            continue
        ticks += [0] * (8 - len(ticks))
        total = sum(ticks)
        times[cpu] = CpuTimes(total - ticks[3] - ticks[4], ticks[7], total)
    return times


def busy_shares(before: Mapping[int, CpuTimes], after: Mapping[int, CpuTimes]) -> dict[int, float]:
    """Return the share of time that each CPU was busy between two readings, for `choose_cpus`."""
    shares: dict[int, float] = {}
    for cpu, end in after.items():
        start = before.get(cpu)
        if start is not None:
            passed = end.total - start.total
            shares[cpu] = min(max((end.busy - start.busy) / passed, 0.0), 1.0) if passed > 0 else 0.0
    return shares


def steal_share(
    before: Mapping[int, CpuTimes], after: Mapping[int, CpuTimes], cpus: Iterable[int] | None = None
) -> float | None:
    """Return the share of `cpus`' time that a hypervisor gave to others; None if their counters did not advance."""
    both = [cpu for cpu in (after if cpus is None else cpus) if cpu in before and cpu in after]
    passed = sum(after[cpu].total - before[cpu].total for cpu in both)
    stolen = sum(after[cpu].steal - before[cpu].steal for cpu in both)
    return max(stolen, 0) / passed if passed > 0 else None


def load_words(
    before: Mapping[int, CpuTimes], after: Mapping[int, CpuTimes], cpus: Iterable[int], own: float = 0.0
) -> str:
    """Describe the load on `cpus` beyond the caller's `own` CPUs; empty if the counters are missing."""
    every = busy_shares(before, after)
    shares = [every[cpu] for cpu in cpus if cpu in every]
    if not shares:
        return ""
    others = sum(shares) - own
    return "quiet" if others < QUIET_CPUS else f"busy ({others:.1f} of {len(shares)} CPUs)"
