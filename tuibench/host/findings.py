"""Findings about the setup of the machine, which stays the same until somebody changes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Facts = Mapping[str, Any]
"""The result of `checkup.examine`."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause of worse or less certain numbers: the observation, why it matters and how to fix it."""

    topic: str
    level: str
    """harm: numbers suffer now; note: matters when numbers are compared."""
    seen: str
    why: str
    mend: str


def check_governor(facts: Facts) -> Finding | None:
    """Report a governor that lowers the frequency on its own."""
    governors = facts["env"]["frequency"]["governors"] or {}
    slow = sorted(name for name in governors if name not in ("performance", "userspace"))
    if not slow:
        return None
    counts = ", ".join(f"{name} on {governors[name]} CPUs" for name in slow)
    return Finding(
        "governor",
        "harm" if "powersave" in slow else "note",
        f"the frequency governor is {counts}",
        "the clock follows the load, so short runs are measured at another frequency than long ones",
        "as root: cpupower frequency-set -g performance",
    )


def check_quota(facts: Facts) -> Finding | None:
    """Report a CPU quota below the number of cores in the affinity."""
    quota, affinity = facts["env"]["cgroup"]["quota_cpus"], facts["env"]["affinity"]
    cores = affinity["physical_cores"]
    if quota is None or quota >= cores:
        return None
    return Finding(
        "quota",
        "harm",
        f"the control group allows {round(quota, 2):g} CPUs of {cores} cores",
        "an engine with more threads than that is stopped for the rest of every period, which shows as slow outliers",
        f"measure with at most {_count(affinity['default_cores'])}, or raise the quota of the container",
    )


def _count(cores: int) -> str:
    return "1 core" if cores == 1 else f"{cores} cores"


def check_schedstat(facts: Facts) -> Finding | None:
    """Report a kernel that does not count how long threads wait for a CPU."""
    if facts["env"]["kernel"]["schedstat"]:
        return None
    return Finding(
        "schedstat",
        "harm",
        "this kernel does not tell how long a thread waited for a CPU",
        "the best witness of disturbance is missing, so grades rest on steal, switches and the canary alone",
        "use a kernel with CONFIG_SCHEDSTATS, or boot with delayacct",
    )


def check_smt(facts: Facts) -> Finding | None:
    """Report cores with more than one hardware thread."""
    if not facts["env"]["cpu"]["smt_active"]:
        return None
    return Finding(
        "smt",
        "note",
        "each core runs more than one thread (SMT)",
        "one thread per core is used, but work on its other thread slows it down, which no counter shows",
        "keep the other threads idle; as root: echo off > /sys/devices/system/cpu/smt/control",
    )


def check_virtual(facts: Facts) -> Finding | None:
    """Report a virtual machine that hides the frequency."""
    env = facts["env"]
    if not env["cpu"]["hypervisor"] or env["frequency"]["governors"]:
        return None
    return Finding(
        "virtual",
        "note",
        "a virtual machine without frequency control",
        "the clock and the neighbours on the host cannot be seen; steal and the canary stand in for them",
        "compare only what was measured interleaved, in one run",
    )


def check_numa(facts: Facts) -> Finding | None:
    """Report more than one NUMA node."""
    nodes = facts["env"]["cpu"]["numa_nodes"]
    if len(nodes) < 2:
        return None
    return Finding(
        "numa",
        "note",
        f"the cores lie on {len(nodes)} NUMA nodes",
        "a run over more than one node reads part of its weights from distant memory",
        "measure core counts that fit one node too: cores are taken from one node while they fit",
    )


def check_huge_pages(facts: Facts) -> Finding | None:
    """Report transparent huge pages that are always on or always off."""
    mode = facts["env"]["kernel"]["thp"]
    if mode not in ("always", "never"):
        return None
    return Finding(
        "huge pages",
        "note",
        f"transparent huge pages: {mode}",
        "the kernel merges pages while a model runs, so one load is faster than the next"
        if mode == "always"
        else "large weights miss the TLB more often than on a server with the usual setting",
        "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
    )


def check_affinity(facts: Facts) -> Finding | None:
    """Report an affinity with fewer CPUs than the machine has."""
    online, allowed = facts["env"]["cpu"]["online_cpus"], len(facts["noise"]["busy"])
    if online is None or allowed >= online or not allowed:
        return None
    return Finding(
        "affinity",
        "note",
        f"only CPUs {facts['env']['affinity']['cpus']} of {online} may be used here",
        "core counts end there, and what runs on the others still shares memory and caches",
        "widen the cpuset of the container, or the affinity of the shell (taskset)",
    )


def check_terminal(facts: Facts) -> Finding | None:
    """Report an output encoding that cannot show all names."""
    terminal = facts["terminal"]
    if not terminal or "utf" in (terminal["encoding"] or "").lower():
        return None
    return Finding(
        "terminal",
        "note",
        f"the encoding of the output is {terminal['encoding'] or 'unknown'}",
        "names outside of it are shown escaped",
        "set LANG=C.UTF-8",
    )


def check_unasked(facts: Facts) -> Finding | None:
    """Report engines whose state could not be determined."""
    unasked = [engine for engine in facts["engines"] if engine["available"] is None]
    if not unasked:
        return None
    return Finding(
        "engines",
        "harm",
        f"{', '.join(engine['name'] for engine in unasked)} could not be asked for: {unasked[0]['error']}",
        "no engine can be measured before this works",
        "install tuibench anew in an environment of its own",
    )


def check_engines(facts: Facts) -> Finding | None:
    """Report engines that are not available."""
    missing = [engine for engine in facts["engines"] if engine["available"] is False]
    if not missing:
        return None
    names = [engine["name"] for engine in missing]
    reasons = "; ".join(f"{engine['name']}: {engine['error'] or 'no reason given'}" for engine in missing)
    return Finding(
        "engines",
        "note",
        f"cannot be used: {reasons}",
        "what is not there can be neither measured nor compared with",
        f"where tuibench runs: pip install {' '.join(names)}",
    )


RULES: tuple[Callable[[Facts], Finding | None], ...] = (
    check_governor,
    check_quota,
    check_schedstat,
    check_smt,
    check_virtual,
    check_numa,
    check_huge_pages,
    check_affinity,
    check_terminal,
    check_unasked,
    check_engines,
)
"""All rules of this module."""
