"""Task `zeros`: tests on synthetic layers if this machine's engine is faster when weights are zero."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from datetime import UTC, datetime

from tuibench.core.cell import Estimate
from tuibench.core.profile import ZeroEffect
from tuibench.engines import registry
from tuibench.model.profile import bench_model
from tuibench.model.profile.layers import setting_for
from tuibench.model.profile.small_session import NoiseWatch, SmallSession, Turn, alternate, time_ratios
from tuibench.stats.interval import log_interval

ZEROS = 0.9
_WORTH = 0.9
"""A ratio below this is a gain; skipping nine tenths of the products could give 0.1."""
_NARROW = 0.03
_ENGINE = "onnxruntime"


def measure_zeros(cpus: Sequence[int], threads: int, max_s: float, run_dir: str) -> ZeroEffect:
    """Time a convolution and a matrix product with and without zeros, in turn; combine both ratios."""
    version = registry.make(_ENGINE).start()
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


def describe(engine: str, ratio: Estimate, exploits: bool | None) -> str:
    """Return one sentence for readers who consider pruning."""
    value = "?" if ratio.value is None else f"{ratio.value:.2f}"
    known = ratio.low is not None and ratio.high is not None
    within = f" (95 % interval {ratio.low:.2f} to {ratio.high:.2f})" if known else ""
    share = f"{100 * ZEROS:.0f} % zeros"
    if exploits is None:
        unclear = f"unclear if {engine} gains from zeros here"
        return f"{unclear}: layers with {share} take {value}x the time{within}"
    if exploits:
        return f"{engine} gains from zeros here: layers with {share} take {value}x the time of dense ones{within}"
    return f"{engine} gains nothing from zeros here: layers with {share} take {value}x the time of dense ones{within}"
