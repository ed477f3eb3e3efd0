"""All that `doctor` reports in one plain dictionary: facts, current noise, engines, findings."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tuibench.core.record import to_plain
from tuibench.host import disturbance
from tuibench.host import findings as setting
from tuibench.host.cpu import Brand
from tuibench.host.facts import Process, read_facts
from tuibench.host.findings import Facts, Finding
from tuibench.host.kernel_files import busy_shares, read_cpu_times, steal_share
from tuibench.host.noise import read_slice, time_canary

SCHEMA = 1
SAMPLE_S = 0.5


def examine(
    process: Process,
    *,
    engines: Sequence[Mapping[str, Any]] = (),
    terminal: Mapping[str, Any] | None = None,
    brand: Callable[[str | None], Brand] | None = None,
    root: Path = Path("/"),
    sleep: Callable[[float], object] = time.sleep,
    canary: Callable[[], int] = time_canary,
) -> dict[str, Any]:
    """Examine the machine for about half a second; call `brand` only if /proc/cpuinfo lacks brand or flags.

    `engines` is the report of a child process, because this process imports no engine.
    """
    facts = read_facts(process, root)
    cpu = facts["env"]["cpu"]
    if brand is not None and (cpu["brand"] is None or cpu["isa"] is None):
        _fill_brand(facts["env"], brand(facts["env"]["kernel"]["boot_id"]))
    facts["noise"] = sample_noise(process.affinity, root, sleep=sleep, canary=canary)
    facts["engines"] = [dict(engine) for engine in engines]
    facts["terminal"] = dict(terminal or {})
    facts["findings"] = [to_plain(finding) for finding in find_all(facts)]
    return {"schema": SCHEMA} | facts


def find_all(facts: Facts) -> list[Finding]:
    """Return every finding about these facts, harmful ones first."""
    found = [finding for rule in disturbance.RULES + setting.RULES if (finding := rule(facts)) is not None]
    return sorted(found, key=lambda finding: finding.level != "harm")


def sample_noise(
    cpus: Sequence[int],
    root: Path = Path("/"),
    *,
    seconds: float = SAMPLE_S,
    sleep: Callable[[float], object] = time.sleep,
    canary: Callable[[], int] = time_canary,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Any]:
    """Sleep, and measure the load of other processes on `cpus` meanwhile."""
    first_canary = canary()
    before, times_before, start = read_slice(cpus, root), read_cpu_times(root), clock()
    sleep(seconds)
    after, times_after, passed = read_slice(cpus, root), read_cpu_times(root), clock() - start
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
        "load1": after.load1,
        "frequency_mhz": after.frequency_mhz,
        "canary_ns": min(first_canary, last_canary),
        "canary_drift": last_canary / first_canary - 1 if first_canary else None,
    }


def _fill_brand(env: dict[str, Any], found: Brand) -> None:
    if env["cpu"]["brand"] is None and found.brand:
        env["cpu"]["brand"] = found.brand
        env["missing"].pop("cpu.brand", None)
    if env["cpu"]["isa"] is None and found.isa:
        env["cpu"]["isa"] = list(found.isa)
        env["missing"].pop("cpu.isa", None)
