"""Peak memory of this process, resettable, unlike ru_maxrss which begins with the parent's peak."""

from __future__ import annotations


def peak_bytes() -> int | None:
    """VmHWM: the most memory that was resident since the last reset; None where the kernel does not say."""
    try:
        with open("/proc/self/status", encoding="utf-8", errors="replace") as handle:
            for line in handle:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        return None
    return None


def reset_peak() -> None:
    """Start the peak anew from what is resident now."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as handle:
            handle.write("5")
    except OSError:
        return  # a kernel without it: the peak then covers the whole life, which is still an upper bound


class MemoryLog:
    """Peaks at the ends of phases, as growth over the process with its engine imported and nothing loaded."""

    def __init__(self) -> None:
        self._base = peak_bytes()
        self._peaks: dict[str, int] = {}
        if self._base is not None:
            self._peaks["base"] = self._base

    def note(self, phase: str) -> None:
        """Record the peak since the last note under `phase` and start anew."""
        peak = peak_bytes()
        if peak is not None and self._base is not None:
            self._peaks[phase] = max(0, peak - self._base)
            reset_peak()

    def result(self) -> dict[str, int]:
        """Growth by phase in bytes, with the highest as `peak`."""
        growth = [v for k, v in self._peaks.items() if k != "base"]
        return {**self._peaks, "peak": max(growth)} if growth else dict(self._peaks)
