"""How busy each CPU is: the counters of /proc/stat, read twice by a caller who sleeps in between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tuibench.host.tree import Tree, to_int

QUIET_CPUS = 0.5
"""Busy CPUs of all that may be used below which the machine is quiet: they are counted in few and coarse ticks."""


@dataclass(frozen=True, slots=True)
class CpuTimes:
    """Clock ticks of one CPU since boot."""

    busy: int
    """All but idle and waiting for a disk; time stolen by a hypervisor counts, because we could not have it either."""
    steal: int
    total: int


def read_cpu_times(root: Path = Path("/")) -> dict[int, CpuTimes]:
    """The counters of every online CPU, to be read before and after a pause; empty where there are none."""
    times: dict[int, CpuTimes] = {}
    for line in (Tree(root).read("proc/stat") or "").splitlines():
        if not line.startswith("cpu"):
            break
        words = line.split()
        cpu = to_int(words[0][3:])
        # Guest time, the two fields after steal, is already part of user time.
        ticks = [to_int(word) or 0 for word in words[1:9]]
        if cpu is None or len(ticks) < 4:
            continue
        ticks += [0] * (8 - len(ticks))
        total = sum(ticks)
        times[cpu] = CpuTimes(total - ticks[3] - ticks[4], ticks[7], total)
    return times


def busy_shares(before: Mapping[int, CpuTimes], after: Mapping[int, CpuTimes]) -> dict[int, float]:
    """The share of time that each CPU was busy between two readings, for `choose_cpus`."""
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
    """The share of `cpus`' time that a hypervisor gave to others; None where no time passed on their counters."""
    both = [cpu for cpu in (after if cpus is None else cpus) if cpu in before and cpu in after]
    passed = sum(after[cpu].total - before[cpu].total for cpu in both)
    stolen = sum(after[cpu].steal - before[cpu].steal for cpu in both)
    return max(stolen, 0) / passed if passed > 0 else None


def load_words(
    before: Mapping[int, CpuTimes], after: Mapping[int, CpuTimes], cpus: Iterable[int], own: float = 0.0
) -> str:
    """Whether others are at work on `cpus`, in words; `own` CPUs were the caller's. Empty where that cannot be told."""
    every = busy_shares(before, after)
    shares = [every[cpu] for cpu in cpus if cpu in every]
    if not shares:
        return ""
    others = sum(shares) - own
    return "quiet" if others < QUIET_CPUS else f"busy ({others:.1f} of {len(shares)} CPUs)"
