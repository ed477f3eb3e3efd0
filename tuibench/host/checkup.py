"""All that `doctor` reports in one plain dictionary: facts, current noise, engines, findings."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tuibench.core.record import to_plain
from tuibench.host.cpu import Brand
from tuibench.host.facts import Process, read_facts
from tuibench.host.findings import BUSY_SHARE, find_all
from tuibench.host.kernel_files import busy_shares, read_cpu_times, steal_share
from tuibench.host.noise import read_slice, time_canary

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
