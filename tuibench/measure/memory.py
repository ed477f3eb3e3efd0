"""Peak memory of this process; unlike ru_maxrss it can be reset and does not start with the parent's peak."""

from __future__ import annotations

from typing import Any


def peak_bytes() -> int | None:
    """Return VmHWM, the peak of resident memory since the last reset; None if the kernel does not report it."""
    try:
        with open("/proc/self/status", encoding="utf-8", errors="replace") as handle:
            for line in handle:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        return None
    return None


def reset_peak() -> None:
    """Reset the peak to the current resident memory."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as handle:
            handle.write("5")
    except OSError:
        return  # a kernel without it: the peak then covers the whole process life, still an upper bound


class MemoryLog:
    """Peak memory of each phase, as growth over the process with engine and inputs but no model."""

    def __init__(self) -> None:
        self._base = peak_bytes()
        self._peaks: dict[str, int] = {}
        if self._base is not None:
            self._peaks["base"] = self._base

    def note(self, phase: str, ours: int = 0) -> None:
        """Record the peak since the last note under `phase`, without the `ours` bytes of the harness, and reset it."""
        peak = peak_bytes()
        if peak is not None and self._base is not None:
            self._peaks[phase] = max(self._peaks.get(phase, 0), peak - self._base - ours, 0)
            reset_peak()

    def result(self) -> dict[str, int]:
        """Return the growth per phase in bytes, with the highest as `peak`."""
        growth = [v for k, v in self._peaks.items() if k != "base"]
        return {**self._peaks, "peak": max(growth)} if growth else dict(self._peaks)


def with_streams(own: dict[str, int], streams_bytes: int | None) -> dict[str, int]:
    """Return a worker's phases with the memory of stream processes; its own growth while they run is the harness's."""
    if streams_bytes is None:
        return own
    phases = {phase: grown for phase, grown in own.items() if phase not in ("warm", "timed", "peak")}
    growth = [grown for phase, grown in phases.items() if phase != "base"]
    return {**phases, "timed": streams_bytes, "streams": streams_bytes, "peak": max(streams_bytes, *growth)}


def array_bytes(value: Any) -> int:
    """Return the bytes of all arrays in a feed."""
    if isinstance(value, dict):
        return sum(array_bytes(part) for part in value.values())
    if isinstance(value, (list, tuple)):
        return sum(array_bytes(part) for part in value)
    return int(getattr(value, "nbytes", 0))
