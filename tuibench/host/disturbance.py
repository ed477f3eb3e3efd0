"""Findings about the machine's current load, and about throttling so far."""

from __future__ import annotations

from collections.abc import Callable

from tuibench.core.units import cpu_ranges, short, size
from tuibench.host.findings import Facts, Finding

BUSY_SHARE = 0.10
STEAL_SHARE = 0.005
CANARY_DRIFT = 0.02
PRESSURE_SHARE = 0.01
LITTLE_MEMORY_BYTES = 1 << 30


def check_busy(facts: Facts) -> Finding | None:
    """Report other work on the CPUs of the benchmark."""
    noise = facts["noise"]
    busy = [int(cpu) for cpu, share in noise["busy"].items() if share > BUSY_SHARE]
    if not busy:
        return None
    return Finding(
        "busy",
        "harm",
        f"CPUs {cpu_ranges(busy)} were busy {short(100 * max(noise['busy'].values()), 2)} % of the time at most, "
        f"{short(100 * noise['busy_share'], 2)} % on average",
        "other processes take CPU time and cache from the benchmark: throughput and percentiles suffer, the floor less",
        "stop the other work, or measure with fewer cores: the idlest are chosen",
    )


def check_steal(facts: Facts) -> Finding | None:
    """Report CPU time that the hypervisor gave to other machines."""
    steal = facts["noise"]["steal_share"]
    if steal is None or steal <= STEAL_SHARE:
        return None
    return Finding(
        "steal",
        "harm",
        f"the hypervisor gave {short(100 * steal, 2)} % of our CPU time to other machines",
        "the host is shared or overcommitted: the same run will take longer at another hour",
        "use an instance with dedicated CPUs, and compare only what was measured interleaved",
    )


def check_canary(facts: Facts) -> Finding | None:
    """Report a CPU whose speed changed within half a second."""
    drift = facts["noise"]["canary_drift"]
    if drift is None or abs(drift) <= CANARY_DRIFT:
        return None
    return Finding(
        "speed",
        "harm",
        f"a fixed piece of arithmetic took {short(100 * abs(drift), 2)} % {'more' if drift > 0 else 'less'} "
        "time half a second later",
        "the clock changes, or something else runs on the other thread of the core",
        "let the machine rest, fix the frequency, or stop what else runs",
    )


def check_throttling(facts: Facts) -> Finding | None:
    """Report throttling that has already happened in this group."""
    times, us = facts["env"]["cgroup"]["throttled_times"], facts["env"]["cgroup"]["throttled_us"]
    if not times:
        return None
    now = facts["noise"]["throttled_us"]
    return Finding(
        "throttling",
        "harm" if now else "note",
        f"the CPU quota has stopped this group {times} times so far, {short(us / 1e6)} s in all",
        "whatever runs beside the benchmark in this group uses up the same quota",
        "end the other processes of the container, or raise its quota",
    )


def check_memory(facts: Facts) -> Finding | None:
    """Report that little memory is left or that processes wait for memory."""
    room = facts["env"]["memory"]["room_bytes"]
    stalled = facts["noise"]["pressure"].get("memory", 0.0)
    if (room is None or room >= LITTLE_MEMORY_BYTES) and stalled <= PRESSURE_SHARE:
        return None
    left = "an unknown amount of memory" if room is None else size(room)
    waits = f", and something waited for it {short(100 * stalled, 2)} % of the time" if stalled > PRESSURE_SHARE else ""
    return Finding(
        "memory",
        "harm",
        f"{left} left{waits}",
        "a model needs two to three times its size while it loads; short of that it fails or is slowed down",
        "free memory, or raise the limit of the container",
    )


def check_swap(facts: Facts) -> Finding | None:
    """Report swapped-out memory."""
    used = facts["env"]["memory"]["swap_used_bytes"]
    if not used:
        return None
    return Finding(
        "swap",
        "note",
        f"{size(used)} are swapped out",
        "a model whose pages come back from a disk is slow for reasons of its own",
        "free memory, then as root: swapoff -a && swapon -a",
    )


RULES: tuple[Callable[[Facts], Finding | None], ...] = (
    check_busy,
    check_steal,
    check_canary,
    check_throttling,
    check_memory,
    check_swap,
)
"""All rules of this module."""
