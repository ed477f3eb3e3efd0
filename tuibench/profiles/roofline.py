"""Task `roofline`: the most that this machine delivers at one core count, on the engine that is profiled."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from time import perf_counter

import numpy as np

from tuibench.core.profile import Roofline
from tuibench.engines import registry
from tuibench.engines.wording import plain_words
from tuibench.profiles import bench_model
from tuibench.profiles.alone import Alone
from tuibench.profiles.timed_model import setting_for

_SIDE = 512
_OPERATIONS = 2.0 * _SIDE**3
_CACHES = (512 << 10, 4 << 20)
_LEAST_DRAM, _MOST_DRAM = 64 << 20, 256 << 20
_USUAL_L3 = 32 << 20
_COPIES = 8
"""A model's bytes lie in memory several times while it is made and loaded."""
_BEST = 0.05


def measure_roofline(cpus: Sequence[int], threads: int, max_s: float, room_bytes: int | None, run_dir: str) -> Roofline:
    """Products of large matrices for the peaks, of a matrix and a vector for what memory and caches deliver."""
    registry.make("onnxruntime").start()
    setting = setting_for("", cpus, threads, run_dir)
    begin = perf_counter()
    share_s = max_s / 8
    reasons: list[str] = []

    def best_s(model: Callable[[], bytes], rows: int, inner: int, kind: str = "float32") -> float | None:
        # What is built and loaded counts, too; what comes late is cut short rather than left out.
        left_s = max(0.02, min(share_s, max_s - (perf_counter() - begin)))
        try:
            alone = Alone(model(), {"x": np.ones((rows, inner), kind)}, setting)
            return float(np.quantile(alone.times_s(left_s, least=5), _BEST))
        except Exception as error:  # what a machine cannot do leaves a roof out and says why
            reasons.append(plain_words(str(error))[:200] or type(error).__name__)
            return None

    call_s = best_s(bench_model.nothing, 1, 1) or 0.0
    f32_s = best_s(lambda: bench_model.matmul(_SIDE, _SIDE, _SIDE), _SIDE, _SIDE)
    int8_s = best_s(lambda: bench_model.matmul_integer(_SIDE, _SIDE, _SIDE), _SIDE, _SIDE, "uint8")

    def bandwidth(working_set: int) -> float | None:
        side = int((working_set / 4) ** 0.5)
        taken = best_s(lambda: bench_model.matmul(1, side, side), 1, side)
        # A call itself takes as long as half a megabyte does; below that the two cannot be told apart.
        return None if taken is None else 4 * side * side / max(taken - call_s, 0.3 * taken) / 1e9

    caches = [(size, bandwidth(size)) for size in _CACHES]
    dram_bytes, short = dram_working_set(os.sysconf, room_bytes)
    dram = bandwidth(dram_bytes)
    return Roofline(
        cores=len(cpus),
        f32_gflops=_OPERATIONS / f32_s / 1e9 if f32_s else None,
        int8_gops=_OPERATIONS / int8_s / 1e9 if int8_s else None,
        dram_gb_s=dram,
        cache_gb_s=tuple((size, found) for size, found in caches if found is not None),
        measured_utc=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        reason="; ".join(dict.fromkeys([*reasons, *([short] if short else [])])),
    )


def dram_working_set(sysconf: Callable[[str], int], room_bytes: int | None) -> tuple[int, str]:
    """Four times the last cache as far as memory allows, and what to say where it is less."""
    try:
        last = sysconf("SC_LEVEL3_CACHE_SIZE")
    except (ValueError, OSError):
        last = 0
    wanted = max(_LEAST_DRAM, 4 * (last if last > 0 else _USUAL_L3))
    size = min(wanted, _MOST_DRAM)
    if room_bytes is not None:
        size = max(_CACHES[-1], min(size, room_bytes // _COPIES))
    short = f"DRAM on {size >> 20} MB, of {wanted >> 20} MB that no cache would hold" if size < wanted else ""
    return size, short
