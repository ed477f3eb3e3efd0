"""Task `roofline`: the most that this machine delivers at one core count, on the engine that is profiled."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from time import perf_counter

import numpy as np

from tuibench.core.profile import Roofline
from tuibench.engines import registry
from tuibench.engines.protocol import Setting
from tuibench.engines.wording import plain_words
from tuibench.profiles import bench_model
from tuibench.profiles.alone import Alone, Array, Watch, is_of_engine
from tuibench.profiles.timed_model import setting_for

_SIDE = 512
_OPERATIONS = 2.0 * _SIDE**3
_INNER, _OUTER = 512 << 10, 4 << 20
"""Bytes: what the cache of one core holds, and what the one that all share does."""
_APART = 8
_LEAST_DRAM, _MOST_DRAM = 64 << 20, 256 << 20
_USUAL_L3 = 32 << 20
_COPIES = 8
"""A model's bytes lie in memory several times while it is made and loaded."""
_ROW = 16384
_PARTS = 10
"""What is measured one after the other."""

Probe = tuple[bytes, Mapping[str, Array]]
"""A model, and what it is fed."""


def measure_roofline(cpus: Sequence[int], threads: int, max_s: float, room_bytes: int | None, run_dir: str) -> Roofline:
    """Products of large matrices for the peaks; sums and a product with a vector for what memory and caches deliver."""
    registry.make("onnxruntime").start()
    bench = _Bench(setting_for("", cpus, threads, run_dir), max_s)
    call_s = bench.best_s(lambda: (bench_model.nothing(), {"x": np.ones((1, 1), np.float32)})) or 0.0
    square = (_SIDE, _SIDE)
    f32_s = bench.best_s(lambda: (bench_model.matmul(_SIDE, *square), {"x": np.ones(square, np.float32)}))
    int8_s = bench.best_s(lambda: (bench_model.matmul_integer(_SIDE, *square), {"x": np.ones(square, np.uint8)}))

    def bandwidth(size: int, *probes: Callable[[int], Probe]) -> float | None:
        """The most of what several operations move: the engine shares each out between cores by a rule of its own."""
        taken = [found for probe in probes if (found := bench.best_s(partial(probe, size))) is not None]
        # A call itself takes as long as half a megabyte does; below that the two cannot be told apart.
        return max((size / max(one - call_s, 0.3 * one) / 1e9 for one in taken), default=None)

    sizes = cache_working_sets(len(cpus), os.sysconf)
    caches = [(size, bandwidth(size, _sum_of_two, _product)) for size in sizes]
    dram_bytes, short = dram_working_set(os.sysconf, room_bytes)
    dram = bandwidth(dram_bytes, _sum_of_two, _sums_of_rows) if dram_bytes else None
    return Roofline(
        cores=len(cpus),
        f32_gflops=_OPERATIONS / f32_s / 1e9 if f32_s else None,
        int8_gops=_OPERATIONS / int8_s / 1e9 if int8_s else None,
        dram_gb_s=dram,
        cache_gb_s=tuple((size, found) for size, found in caches if found is not None),
        measured_utc=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        reason="; ".join(dict.fromkeys([*bench.reasons, *([short] if short else [])])),
        grade=bench.watch.grade(),
    )


class _Bench:
    """One small model after the other, each until it is known, all within one time."""

    def __init__(self, setting: Setting, max_s: float) -> None:
        self._setting = setting
        self._share_s = max_s / _PARTS
        self._until = perf_counter() + max_s
        self.watch = Watch(setting.cpus)
        self.reasons: list[str] = []

    def best_s(self, make: Callable[[], Probe]) -> float | None:
        """What a call takes at best; None where it cannot be run, with a reason more."""
        # What is built and loaded counts, too; what comes late is cut short rather than left out.
        left_s = max(0.02, min(self._share_s, self._until - perf_counter()))
        try:
            model, feed = make()
            return Alone(model, feed, self._setting).best_s(left_s, self.watch)
        except Exception as error:  # what a machine cannot do leaves a roof out and says why
            if not isinstance(error, MemoryError) and not is_of_engine(error):
                raise
            self.reasons.append(plain_words(str(error))[:200] or type(error).__name__)
            return None


def _sum_of_two(size: int) -> Probe:
    """Reads two thirds of it, writes one."""
    values = np.ones((2, size // 12), np.float32)
    return bench_model.add(values.shape[1]), {"x": values[0], "z": values[1]}


def _product(size: int) -> Probe:
    """Reads all of it; an engine may keep a copy of it in an order of its own."""
    side = int((size / 4) ** 0.5)
    return bench_model.matmul(1, side, side), {"x": np.ones((1, side), np.float32)}


def _sums_of_rows(size: int) -> Probe:
    """Reads all of it where it lies: a model that held it would be copied several times before it ran."""
    rows = max(1, size // (4 * _ROW))
    return bench_model.sums(rows, _ROW), {"x": np.ones((rows, _ROW), np.float32)}


def _last_cache(sysconf: Callable[[str], int]) -> int:
    try:
        found = sysconf("SC_LEVEL3_CACHE_SIZE")
    except (ValueError, OSError):
        found = 0
    return found if found > 0 else _USUAL_L3


def cache_working_sets(cores: int, sysconf: Callable[[str], int]) -> tuple[int, ...]:
    """What the cores' own caches hold together, then what only the one that they share does, where that is more."""
    inner = _INNER * cores
    outer = max(_OUTER, min(_APART * inner, _last_cache(sysconf) // 2))
    return (inner, outer) if outer >= 2 * inner else (inner,)


def dram_working_set(sysconf: Callable[[str], int], room_bytes: int | None) -> tuple[int, str]:
    """Four times the last cache as far as memory allows, and what to say where it is less.

    Nothing where memory leaves no more than that cache may hold: its speed would be kept as the memory's.
    """
    last = _last_cache(sysconf)
    wanted = max(_LEAST_DRAM, 4 * last)
    size = min(wanted, _MOST_DRAM)
    if room_bytes is not None and room_bytes // _COPIES < size:
        size = room_bytes // _COPIES
        if size < 2 * last:
            return 0, f"DRAM not measured: {2 * last * _COPIES >> 20} MB must be free for more than caches hold"
    short = f"DRAM on {size >> 20} MB, of {wanted >> 20} MB that no cache would hold" if size < wanted else ""
    return size, short
