"""Noise grades: a letter for the disturbance of the machine, and its cause. Grading never deletes data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from tuibench.core.cell import Grade, Noise
from tuibench.core.reason import Reason, because, error_text

_BOUNDS = (("A", 0.01), ("B", 0.05), ("C", 0.20))
_STEAL = 0.005
_CANARY_DRIFT = 0.02
# Time a thread waits if another one takes its CPU: the scheduler's usual slice under load.
_SLICE_S = 0.004


def grade_noise(noises: Sequence[Noise], timed_s: float | None = None) -> Grade | None:
    """Return the grade of a cell from the noise of its executions; None without any.

    `timed_s`, the seconds measured in all, allows an estimate from context switches if the kernel does not report
    waiting.
    """
    if not noises:
        return None
    waiting = waiting_share(noises)
    steal = _mean(n.steal_share for n in noises)
    throttled = _total(n.throttled_us for n in noises)
    drift = _mean(None if n.canary_drift is None else abs(n.canary_drift) for n in noises)
    letter, cause = _from_waiting(waiting, throttled) if waiting is not None else _from_switches(noises, timed_s)
    further = _further(steal, throttled, drift)
    if further:
        letter = "ABCDD"["ABCD".index(letter) + 1]
    cause = because(cause.code, **cause.fields, **further)
    return Grade(letter, cause, waiting, steal, None if throttled is None else throttled > 0)


def waiting_share(noises: Sequence[Noise]) -> float | None:
    """Return the share of their runnable time that threads waited for a CPU because of others; None if unmeasured."""
    known = [(n.waited_ns, n.on_cpu_ns) for n in noises if n.waited_ns is not None and n.on_cpu_ns is not None]
    waiting, whole = sum(w for w, _ in known), sum(w + c for w, c in known)
    return waiting / whole if whole > 0 else None


def _from_waiting(share: float, throttled_us: float | None) -> tuple[str, Reason]:
    letter = _letter(share)
    if letter == "A":
        return letter, because("quiet", waited=share)
    return letter, because("waited_for_cpu", waited=share, has_quota=bool(throttled_us))


def _from_switches(noises: Sequence[Noise], timed_s: float | None) -> tuple[str, Reason]:
    """Return B at best, because switches show that a CPU was taken away but not for how long."""
    why = next((error_text(n.reason) for n in noises if n.reason), None)
    switches = _total(n.involuntary_switches for n in noises)
    if switches is None or not timed_s or timed_s <= 0:
        return "C", because("waiting_unknown", why=why)
    share = min(switches * _SLICE_S / timed_s, 1.0)
    return max(_letter(share), "B"), because("preempted", per_s=switches / timed_s, why=why)


def _further(steal: float | None, throttled_us: float | None, drift: float | None) -> dict[str, float]:
    """Return further disturbances by code; together they cost one letter."""
    found: dict[str, float] = {}
    if steal is not None and steal > _STEAL:
        found["stolen"] = steal
    if throttled_us:
        found["throttled_ms"] = throttled_us / 1000
    if drift is not None and drift > _CANARY_DRIFT:
        found["drift"] = drift
    return found


def _letter(share: float) -> str:
    return next((letter for letter, bound in _BOUNDS if share < bound), "D")


def _mean(values: Iterable[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return math.fsum(known) / len(known) if known else None


def _total(values: Iterable[int | None]) -> int | None:
    known = [v for v in values if v is not None]
    return sum(known) if known else None
