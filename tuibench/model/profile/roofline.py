"""Child tasks about the machine: its peak rates at one core count, and the effect of zeros on them."""

from __future__ import annotations

import math
import os
import statistics
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from time import perf_counter

import numpy as np

from tuibench.core.cell import Estimate
from tuibench.core.profile import Roofline, ZeroEffect
from tuibench.core.reason import Reason, because
from tuibench.engines import factory
from tuibench.engines.error_words import engine_reason, is_of_engine
from tuibench.engines.protocol import LoadSettings
from tuibench.model.profile import small_session as bench_model
from tuibench.model.profile.layers import setting_for
from tuibench.model.profile.small_session import NoiseWatch, SmallSession, Turn, alternate, time_ratios
from tuibench.stats.interval import log_interval
from tuibench.worker.bundle import Array

_SIDE = 512
_OPERATIONS = 2.0 * _SIDE**3
_INNER, _OUTER = 512 << 10, 4 << 20
"""Bytes that fit into one core's cache, and into the cache that all cores share."""
_APART = 8
_LEAST_DRAM, _MOST_DRAM = 64 << 20, 256 << 20
_USUAL_L3 = 32 << 20
_COPIES = 8
"""Copies of a model's bytes in memory while it is built and loaded."""
_ROW = 16384
_PARTS = 10
"""Number of measurements that share the time."""

Probe = tuple[bytes, Mapping[str, Array]]
"""A model and its inputs."""


def measure_roofline(cpus: Sequence[int], threads: int, max_s: float, room_bytes: int | None, run_dir: str) -> Roofline:
    """Measure peaks with large matrix products; memory and caches with sums and a matrix-vector product."""
    factory.make("onnxruntime").start()
    bench = _Bench(setting_for("", cpus, threads, run_dir), max_s)
    call_s = bench.best_s(lambda: (bench_model.nothing(), {"x": np.ones((1, 1), np.float32)})) or 0.0
    square = (_SIDE, _SIDE)
    f32_s = bench.best_s(lambda: (bench_model.matmul(_SIDE, *square), {"x": np.ones(square, np.float32)}))
    int8_s = bench.best_s(lambda: (bench_model.matmul_integer(_SIDE, *square), {"x": np.ones(square, np.uint8)}))

    def bandwidth(size: int, *probes: Callable[[int], Probe]) -> float | None:
        """Return the highest bandwidth of several operations, as the engine splits each between cores differently."""
        taken = [found for probe in probes if (found := bench.best_s(partial(probe, size))) is not None]
        # A call costs as much as half a megabyte; below that the two cannot be separated.
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
        reason=_join([*bench.reasons, *([short] if short is not None else [])]),
        grade=bench.watch.grade(),
    )


def _join(reasons: Sequence[Reason]) -> Reason | None:
    """Return one reason for all, without duplicates; None without any."""
    own = [one for at, one in enumerate(reasons) if one not in reasons[:at]]
    return because("several", reasons=own) if len(own) > 1 else next(iter(own), None)


class _Bench:
    """Measures small models one after the other within one time limit."""

    def __init__(self, setting: LoadSettings, max_s: float) -> None:
        self._setting = setting
        self._share_s = max_s / _PARTS
        self._until = perf_counter() + max_s
        self.watch = NoiseWatch(setting.cpus)
        self.reasons: list[Reason] = []

    def best_s(self, make: Callable[[], Probe]) -> float | None:
        """Return the best time of a call; None if the model cannot run, with the reason in `reasons`."""
        # Building and loading count, too; a late probe gets a short time rather than none.
        left_s = max(0.02, min(self._share_s, self._until - perf_counter()))
        try:
            model, feed = make()
            return SmallSession(model, feed, self._setting).best_s(left_s, self.watch)
        except Exception as error:  # a failed probe leaves its roof out and records the reason
            if not isinstance(error, MemoryError) and not is_of_engine(error):
                raise
            self.reasons.append(because("peak_failed", why=engine_reason(error, 200)))
            return None


def _sum_of_two(size: int) -> Probe:
    """Build a sum that reads two thirds of the bytes and writes one third."""
    values = np.ones((2, size // 12), np.float32)
    return bench_model.add(values.shape[1]), {"x": values[0], "z": values[1]}


def _product(size: int) -> Probe:
    """Build a product that reads all bytes; the engine may keep a reordered copy."""
    side = int((size / 4) ** 0.5)
    return bench_model.matmul(1, side, side), {"x": np.ones((1, side), np.float32)}


def _sums_of_rows(size: int) -> Probe:
    """Build row sums that read all bytes from an input; as a weight they would be copied several times."""
    rows = max(1, size // (4 * _ROW))
    return bench_model.sums(rows, _ROW), {"x": np.ones((rows, _ROW), np.float32)}


def _last_cache(sysconf: Callable[[str], int]) -> int:
    try:
        found = sysconf("SC_LEVEL3_CACHE_SIZE")
    except (ValueError, OSError):
        found = 0
    return found if found > 0 else _USUAL_L3


def cache_working_sets(cores: int, sysconf: Callable[[str], int]) -> tuple[int, ...]:
    """Return the joint size of the cores' own caches, then one that fits only the shared cache if that is larger."""
    inner = _INNER * cores
    outer = max(_OUTER, min(_APART * inner, _last_cache(sysconf) // 2))
    return (inner, outer) if outer >= 2 * inner else (inner,)


def dram_working_set(sysconf: Callable[[str], int], room_bytes: int | None) -> tuple[int, Reason | None]:
    """Return four times the last cache as far as memory allows, and the reason if it is less.

    Return 0 below twice the last cache: the result would be the cache's speed, not the memory's.
    """
    last = _last_cache(sysconf)
    wanted = max(_LEAST_DRAM, 4 * last)
    size = min(wanted, _MOST_DRAM)
    if room_bytes is not None and room_bytes // _COPIES < size:
        size = room_bytes // _COPIES
        if size < 2 * last:
            return 0, because("dram_not_measured", needed_mb=2 * last * _COPIES >> 20)
    if size < wanted:
        return size, because("dram_of_few_bytes", mb=size >> 20, wanted_mb=wanted >> 20)
    return size, None


ZEROS = 0.9
_WORTH = 0.9
"""A ratio below this is a gain; skipping nine tenths of the products could give 0.1."""
_NARROW = 0.03
_ENGINE = "onnxruntime"


def measure_zeros(cpus: Sequence[int], threads: int, max_s: float, run_dir: str) -> ZeroEffect:
    """Time a convolution and a matrix product with and without zeros, in turn; combine both ratios."""
    version = factory.make(_ENGINE).start()
    setting = setting_for("", cpus, threads, run_dir)
    size, channels = 28, 64
    pairs = (
        (bench_model.conv(channels, size), bench_model.conv(channels, size, ZEROS), (1, channels, size, size)),
        (bench_model.matmul(128, 512, 512), bench_model.matmul(128, 512, 512, ZEROS), (128, 512)),
    )
    ratios: list[list[float]] = []
    watch = NoiseWatch(cpus)
    for dense, sparse, shape in pairs:
        feed = {"x": bench_model.draw(shape, seed=1)}
        sides = SmallSession(dense, feed, setting), SmallSession(sparse, feed, setting)
        watch.begin()
        turns = alternate(*sides, 0.4 * max_s, enough=is_decided, watch=watch)
        ratios.append(time_ratios(*turns))
    both = [math.exp(statistics.fmean(map(math.log, pair))) for pair in zip(*ratios, strict=False)]
    ratio = log_interval(both)
    exploits = judge(ratio)
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return ZeroEffect(_ENGINE, version, ratio, exploits, describe(_ENGINE, ratio, exploits), now, watch.grade())


def is_decided(first: Sequence[Turn], second: Sequence[Turn]) -> bool:
    """Return whether more turns would not change the answer: the interval is narrow and clear of the threshold."""
    ratio = log_interval(time_ratios(first, second))
    half = ratio.half_width
    return half is not None and half < _NARROW and judge(ratio) is not None


def judge(ratio: Estimate) -> bool | None:
    """Return whether the engine exploits zeros; None if the interval includes the threshold."""
    if ratio.low is None or ratio.high is None:
        return None
    if ratio.high < _WORTH:
        return True
    return False if ratio.low > _WORTH else None


def describe(engine: str, ratio: Estimate, exploits: bool | None) -> Reason:
    """Return the conclusion for readers who consider pruning."""
    figures = {"engine": engine, "share": ZEROS, "ratio": ratio.value, "low": ratio.low, "high": ratio.high}
    if exploits is None:
        return because("zeros_unclear", **figures)
    return because("zeros_gain", **figures) if exploits else because("zeros_gain_nothing", **figures)
