"""The check-up of `doctor`: a look at the machine, and findings with causes of worse or less certain numbers."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tuibench.core.engine import install_command
from tuibench.core.record import to_plain
from tuibench.core.units import count_of, cpu_ranges, short, size
from tuibench.core.value import dataclass
from tuibench.host.cpu import Brand
from tuibench.host.facts import Process, read_facts
from tuibench.host.kernel_files import busy_shares, read_cpu_times, steal_share
from tuibench.host.noise import read_slice, time_canary

Facts = Mapping[str, Any]
"""The result of `checkup.examine`."""

BUSY_SHARE = 0.10
STEAL_SHARE = 0.005
CANARY_DRIFT = 0.02
PRESSURE_SHARE = 0.01
LITTLE_MEMORY_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause of worse or less certain numbers: the observation, why it matters and how to fix it."""

    topic: str
    level: str
    """harm: numbers suffer now; note: matters when numbers are compared."""
    seen: str
    why: str
    mend: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A finding with everything but the observation; `see` returns that, with changed fields if any, or nothing."""

    topic: str
    level: str
    see: Callable[[Facts], str | Mapping[str, str] | None]
    why: str
    mend: str

    def check(self, facts: Facts) -> Finding | None:
        """Return the finding about these facts, if any."""
        seen = self.see(facts)
        if not seen:
            return None
        changes = {"seen": seen} if isinstance(seen, str) else seen
        return Finding(**{"topic": self.topic, "level": self.level, "why": self.why, "mend": self.mend, **changes})


def find_all(facts: Facts) -> list[Finding]:
    """Return every finding about these facts, harmful ones first."""
    found = [finding for rule in RULES if (finding := rule.check(facts)) is not None]
    return sorted(found, key=lambda finding: finding.level != "harm")


def _percent(share: float) -> str:
    return f"{short(100 * share, 2)} %"


def _see_busy(facts: Facts) -> str | None:
    noise = facts["noise"]
    busy = [int(cpu) for cpu, share in noise["busy"].items() if share > BUSY_SHARE]
    if not busy:
        return None
    most = ", ".join(f"{one['name']} ({one['pid']}) {one['cpus']:.1f}" for one in noise["processes"])
    return (
        f"CPUs {cpu_ranges(busy)} were busy {_percent(max(noise['busy'].values()))} of the time at most, "
        f"{_percent(noise['busy_share'])} on average" + (f"; CPUs used by {most}" if most else "")
    )


def _see_steal(facts: Facts) -> str | None:
    steal = facts["noise"]["steal_share"]
    if steal is None or steal <= STEAL_SHARE:
        return None
    return f"the hypervisor gave {_percent(steal)} of our CPU time to other machines"


def _see_speed(facts: Facts) -> str | None:
    drift = facts["noise"]["canary_drift"]
    if drift is None or abs(drift) <= CANARY_DRIFT:
        return None
    direction = "more" if drift > 0 else "less"
    return f"a fixed piece of arithmetic took {_percent(abs(drift))} {direction} time half a second later"


def _see_throttling(facts: Facts) -> Mapping[str, str] | None:
    times, us = facts["env"]["cgroup"]["throttled_times"], facts["env"]["cgroup"]["throttled_us"]
    if not times:
        return None
    seen = f"the CPU quota has stopped this group {times} times so far, {short(us / 1e6)} s in all"
    return {"seen": seen, "level": "harm" if facts["noise"]["throttled_us"] else "note"}


def _see_memory(facts: Facts) -> str | None:
    room = facts["env"]["memory"]["room_bytes"]
    stalled = facts["noise"]["pressure"].get("memory", 0.0)
    if (room is None or room >= LITTLE_MEMORY_BYTES) and stalled <= PRESSURE_SHARE:
        return None
    left = "an unknown amount of memory" if room is None else size(room)
    waits = f", and a process waited for it {_percent(stalled)} of the time" if stalled > PRESSURE_SHARE else ""
    return f"{left} left{waits}"


def _see_swap(facts: Facts) -> str | None:
    used = facts["env"]["memory"]["swap_used_bytes"]
    return f"{size(used)} are swapped out" if used else None


def _see_governor(facts: Facts) -> Mapping[str, str] | None:
    governors = facts["env"]["frequency"]["governors"] or {}
    slow = sorted(name for name in governors if name not in ("performance", "userspace"))
    if not slow:
        return None
    counts = ", ".join(f"{name} on {governors[name]} CPUs" for name in slow)
    return {"seen": f"the frequency governor is {counts}", "level": "harm" if "powersave" in slow else "note"}


def _see_quota(facts: Facts) -> Mapping[str, str] | None:
    quota, affinity = facts["env"]["cgroup"]["quota_cpus"], facts["env"]["affinity"]
    cores = affinity["physical_cores"]
    if quota is None or quota >= cores:
        return None
    most = count_of(affinity["default_cores"], "core")
    return {
        "seen": f"the control group allows {round(quota, 2):g} CPUs of {cores} cores",
        "mend": f"measure with at most {most}, or raise the quota of the container",
    }


def _see_schedstat(facts: Facts) -> str | None:
    known = facts["env"]["kernel"]["schedstat"]
    return None if known else "this kernel does not count how long a thread waits for a CPU"


def _see_smt(facts: Facts) -> str | None:
    return "each core runs more than one thread (SMT)" if facts["env"]["cpu"]["smt_active"] else None


def _see_virtual(facts: Facts) -> str | None:
    hidden = facts["env"]["cpu"]["hypervisor"] and not facts["env"]["frequency"]["governors"]
    return "a virtual machine without frequency control" if hidden else None


def _see_numa(facts: Facts) -> str | None:
    nodes = len(facts["env"]["cpu"]["numa_nodes"])
    return f"the cores are on {nodes} NUMA nodes" if nodes > 1 else None


def _see_huge_pages(facts: Facts) -> Mapping[str, str] | None:
    mode = facts["env"]["kernel"]["thp"]
    why = {
        "always": "the kernel merges pages while a model runs, so one load is faster than the next",
        "never": "large weights miss the TLB more often than on a server with the usual setting",
    }.get(mode)
    return {"seen": f"transparent huge pages: {mode}", "why": why} if why else None


def _see_affinity(facts: Facts) -> str | None:
    online, allowed = facts["env"]["cpu"]["online_cpus"], len(facts["noise"]["busy"])
    if online is None or allowed >= online or not allowed:
        return None
    return f"only CPUs {facts['env']['affinity']['cpus']} of {online} may be used here"


def _see_terminal(facts: Facts) -> str | None:
    terminal = facts["terminal"]
    if not terminal or "utf" in (terminal["encoding"] or "").lower():
        return None
    return f"the encoding of the output is {terminal['encoding'] or 'unknown'}"


def _see_unasked(facts: Facts) -> str | None:
    unasked = [engine for engine in facts["engines"] if engine["available"] is None]
    names = ", ".join(engine["name"] for engine in unasked)
    return f"{names} could not be checked: {unasked[0]['error']}" if unasked else None


def _see_engines(facts: Facts) -> Mapping[str, str] | None:
    missing = [engine for engine in facts["engines"] if engine["available"] is False]
    if not missing:
        return None
    reasons = "; ".join(f"{engine['name']}: {engine['error'] or 'no reason given'}" for engine in missing)
    commands = "; ".join(install_command(engine["name"]) for engine in missing)
    return {"seen": f"cannot be used: {reasons}", "mend": f"where tuibench runs: {commands}"}


RULES = (
    Rule(
        *("busy", "harm", _see_busy),
        "other processes take CPU time and cache from the benchmark: throughput and percentiles suffer, the floor less",
        "stop the other work, or measure with fewer cores: the idlest are chosen",
    ),
    Rule(
        *("steal", "harm", _see_steal),
        "the host is shared or overcommitted: the same run will take longer at another hour",
        "use an instance with dedicated CPUs, and compare only what was measured interleaved",
    ),
    Rule(
        *("speed", "harm", _see_speed),
        "the clock changes, or something else runs on the other thread of the core",
        "wait until the machine is idle, fix the frequency, or stop other programs",
    ),
    Rule(
        *("throttling", "note", _see_throttling),
        "other processes in this group use up the same quota",
        "end the other processes of the container, or raise its quota",
    ),
    Rule(
        *("memory", "harm", _see_memory),
        "a model needs two to three times its size while it loads; with less it fails or is slowed down",
        "free memory, or raise the limit of the container",
    ),
    Rule(
        *("swap", "note", _see_swap),
        "a model whose pages are read back from a disk is slow for that reason alone",
        "free memory, then as root: swapoff -a && swapon -a",
    ),
    Rule(
        *("governor", "note", _see_governor),
        "the clock follows the load, so short runs are measured at another frequency than long ones",
        "as root: cpupower frequency-set -g performance",
    ),
    Rule(
        *("quota", "harm", _see_quota),
        "an engine with more threads than that is stopped for the rest of every period, which shows as slow outliers",
        "raise the quota of the container",
    ),
    Rule(
        *("schedstat", "harm", _see_schedstat),
        "the best noise reading is missing, so grades rest on steal, switches and the fixed loop alone",
        "use a kernel with CONFIG_SCHEDSTATS, or boot with delayacct",
    ),
    Rule(
        *("smt", "note", _see_smt),
        "one thread per core is used, but work on its other thread slows it down, which no counter shows",
        "keep the other threads idle; as root: echo off > /sys/devices/system/cpu/smt/control",
    ),
    Rule(
        *("virtual", "note", _see_virtual),
        "the clock and other machines on the host are invisible; steal and the fixed loop replace them",
        "compare only what was measured interleaved, in one run",
    ),
    Rule(
        *("numa", "note", _see_numa),
        "a run over more than one node reads part of its weights from distant memory",
        "measure core counts that fit one node too: cores are taken from one node while they fit",
    ),
    Rule(
        *("huge pages", "note", _see_huge_pages),
        "",
        "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
    ),
    Rule(
        *("affinity", "note", _see_affinity),
        "core counts end there, and work on the others still shares memory and caches",
        "widen the cpuset of the container, or the affinity of the shell (taskset)",
    ),
    Rule(
        *("terminal", "note", _see_terminal),
        "names outside of it are shown escaped",
        "set LANG=C.UTF-8",
    ),
    Rule(
        *("engines", "harm", _see_unasked),
        "no engine can be measured before this works",
        "reinstall tuibench in an environment of its own",
    ),
    Rule(
        *("engines", "note", _see_engines),
        "a missing engine can be neither measured nor compared",
        "install it",
    ),
)
"""All rules, in the order of the report."""


SCHEMA = 1
SAMPLE_S = 0.5
_MOST_PROCESSES = 3

Usage = Mapping[tuple[int, float], tuple[str, float]]
"""Name and CPU seconds of each process, by pid and start time."""


def read_cpu_seconds() -> Usage:
    """Return the CPU time of every other process so far; without those that end meanwhile or belong to a kernel."""
    import psutil  # 20 ms

    found = psutil.process_iter(["pid", "create_time", "name", "cpu_times"])
    return {
        (one.info["pid"], one.info["create_time"]): (one.info["name"] or "", sum(one.info["cpu_times"][:2]))
        for one in found
        if one.info["cpu_times"] and one.info["pid"] != os.getpid()
    }


def examine(
    process: Process,
    *,
    engines: Sequence[Mapping[str, Any]] = (),
    terminal: Mapping[str, Any] | None = None,
    brand: Callable[[str | None], Brand] | None = None,
    root: Path = Path("/"),
    sleep: Callable[[float], object] = time.sleep,
    canary: Callable[[], int] = time_canary,
    cpu_seconds: Callable[[], Usage] = read_cpu_seconds,
) -> dict[str, Any]:
    """Examine the machine for about half a second; call `brand` only if /proc/cpuinfo lacks brand or flags.

    `engines` is the report of a child process, because this process imports no engine.
    """
    facts = read_facts(process, root)
    cpu = facts["env"]["cpu"]
    if brand is not None and (cpu["brand"] is None or cpu["isa"] is None):
        _fill_brand(facts["env"], brand(facts["env"]["kernel"]["boot_id"]))
    facts["noise"] = sample_noise(process.affinity, root, sleep=sleep, canary=canary, cpu_seconds=cpu_seconds)
    facts["engines"] = [dict(engine) for engine in engines]
    facts["terminal"] = dict(terminal or {})
    facts["findings"] = [to_plain(finding) for finding in find_all(facts)]
    return {"schema": SCHEMA} | facts


def sample_noise(
    cpus: Sequence[int],
    root: Path = Path("/"),
    *,
    seconds: float = SAMPLE_S,
    sleep: Callable[[float], object] = time.sleep,
    canary: Callable[[], int] = time_canary,
    clock: Callable[[], float] = time.perf_counter,
    cpu_seconds: Callable[[], Usage] = read_cpu_seconds,
) -> dict[str, Any]:
    """Sleep, and measure the load of other processes on `cpus` meanwhile; `cpu_seconds` reads that of each."""
    first_canary = canary()
    used_before = cpu_seconds()
    before, times_before, start = read_slice(cpus, root), read_cpu_times(root), clock()
    sleep(seconds)
    after, times_after, passed = read_slice(cpus, root), read_cpu_times(root), clock() - start
    used_after = cpu_seconds()
    last_canary = canary()
    shares = busy_shares(times_before, times_after)
    busy = {str(cpu): round(shares.get(cpu, 0.0), 4) for cpu in cpus}
    throttled = None
    if before.throttled_us is not None and after.throttled_us is not None:
        throttled = after.throttled_us - before.throttled_us
    return {
        "seconds": round(passed, 4),
        "busy": busy,
        "busy_share": sum(busy.values()) / len(busy) if busy else 0.0,
        "steal_share": steal_share(before.cpu_times, after.cpu_times),
        "throttled_us": throttled,
        "pressure": {
            name: min((total - before.pressure_us[name]) / 1e6 / passed, 1.0)
            for name, total in after.pressure_us.items()
            if name in before.pressure_us and passed > 0
        },
        "processes": _busiest(used_before, used_after, passed),
        "load1": after.load1,
        "frequency_mhz": after.frequency_mhz,
        "canary_ns": min(first_canary, last_canary),
        "canary_drift": last_canary / first_canary - 1 if first_canary else None,
    }


def _busiest(before: Usage, after: Usage, seconds: float) -> list[dict[str, Any]]:
    """Return the processes that used most CPUs between two readings, at least a tenth of one."""
    both = [key for key in after if key in before] if seconds > 0 else []
    used = sorted(((after[key][1] - before[key][1]) / seconds, *key) for key in both)
    return [
        {"pid": pid, "name": after[pid, began][0], "cpus": round(cpus, 2)}
        for cpus, pid, began in reversed(used[-_MOST_PROCESSES:])
        if cpus >= BUSY_SHARE
    ]


def _fill_brand(env: dict[str, Any], found: Brand) -> None:
    if env["cpu"]["brand"] is None and found.brand:
        env["cpu"]["brand"] = found.brand
        env["missing"].pop("cpu.brand", None)
    if env["cpu"]["isa"] is None and found.isa:
        env["cpu"]["isa"] = list(found.isa)
        env["missing"].pop("cpu.isa", None)
