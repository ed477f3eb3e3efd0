"""Noise grades: a letter for the disturbance of the machine, and its cause. Grading never deletes data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from tuibench.core.cell import Grade, Noise
from tuibench.core.text import show

_BOUNDS = (("A", 0.01), ("B", 0.05), ("C", 0.20))
_STEAL = 0.005
_DRIFT = 0.02
# Time a thread waits if another one takes its CPU: the scheduler's usual slice under load.
_SLICE_S = 0.004


def grade_noise(noises: Sequence[Noise], timed_s: float | None = None) -> Grade | None:
    """Return the grade of a cell from the noise of its executions; None without any.

    `timed_s`, the seconds measured in all, allows an estimate from context switches if the kernel does not report
    waiting.
    """
    if not noises:
        return None
    waiting = _waiting_share(noises)
    steal = _mean(n.steal_share for n in noises)
    throttled = _total(n.throttled_us for n in noises)
    drift = _mean(None if n.canary_drift is None else abs(n.canary_drift) for n in noises)
    letter, cause = _from_waiting(waiting, throttled) if waiting is not None else _from_switches(noises, timed_s)
    further = _further(steal, throttled, drift)
    if further:
        letter = "ABCDD"["ABCD".index(letter) + 1]
    cause = "; ".join([cause, *further])
    return Grade(letter, cause, waiting, steal, None if throttled is None else throttled > 0)


def _waiting_share(noises: Sequence[Noise]) -> float | None:
    known = [(n.waiting_ns, n.on_cpu_ns) for n in noises if n.waiting_ns is not None and n.on_cpu_ns is not None]
    waiting, whole = sum(w for w, _ in known), sum(w + c for w, c in known)
    return waiting / whole if whole > 0 else None


def _from_waiting(share: float, throttled_us: float | None) -> tuple[str, str]:
    letter = _letter(share)
    if letter == "A":
        return letter, f"quiet: {_share(share)} of the time the engine waited for a CPU"
    whose = "other processes, or the quota of its cgroup" if throttled_us else "other processes"
    return letter, f"{_share(share)} of the time the engine waited for a CPU: {whose}"


def _from_switches(noises: Sequence[Noise], timed_s: float | None) -> tuple[str, str]:
    """Return B at best, because switches show that a CPU was taken away but not for how long."""
    why = next((show(n.reason) for n in noises if n.reason), "this kernel does not count waiting")
    switches = _total(n.involuntary_switches for n in noises)
    if switches is None or not timed_s or timed_s <= 0:
        return "C", f"the time spent waiting for a CPU is unknown ({why})"
    share = min(switches * _SLICE_S / timed_s, 1.0)
    letter = max(_letter(share), "B")
    rate = switches / timed_s
    return letter, f"its CPU was taken away {rate:.3g} times a second; at best B without waiting times ({why})"


def _further(steal: float | None, throttled_us: float | None, drift: float | None) -> list[str]:
    causes = []
    if steal is not None and steal > _STEAL:
        causes.append(f"the hypervisor took {_share(steal)} of the time")
    if throttled_us:
        causes.append(f"the cgroup's quota stopped it for {throttled_us / 1000:.3g} ms")
    if drift is not None and drift > _DRIFT:
        causes.append(f"the speed of the CPU drifted by {_share(drift)}")
    return causes


def _letter(share: float) -> str:
    return next((letter for letter, bound in _BOUNDS if share < bound), "D")


def _share(fraction: float) -> str:
    value = fraction * 100
    if value < 0.1:
        return "under 0.1 %"
    return f"{value:.0f} %" if value >= 10 else f"{value:.1f} %"


def _mean(values: Iterable[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return math.fsum(known) / len(known) if known else None


def _total(values: Iterable[int | None]) -> int | None:
    known = [v for v in values if v is not None]
    return sum(known) if known else None
