"""Recorded durations of calls, reduced to percentiles, histogram, series and a bounded sample file."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tuibench.core.cell import Samples
from tuibench.stats.percentile import bins, bulk, effective_n, needed_samples, rank_autocorrelation
from tuibench.stats.samples import spans, write_samples

ROOM = 4_000_000
EVERYTHING = 1 << 62
Ns = NDArray[np.int64]


@dataclass(slots=True)
class Recording:
    """Blocks of call durations; over `room`, every second block is dropped, so the kept ones are evenly spaced."""

    room: int = ROOM
    blocks: list[Ns] = field(default_factory=list)
    total: int = 0
    timed_ns: int = 0
    _mean: float = 0.0
    _squares: float = 0.0
    _kept: int = 0
    _stride: int = 1
    _seen: int = 0

    def add(self, durations: Ns, elapsed_ns: int) -> None:
        """Add one block."""
        self._merge(durations)
        self.timed_ns += elapsed_ns
        if self._seen % self._stride == 0:
            self.blocks.append(durations)
            self._kept += len(durations)
        self._seen += 1
        while self._kept > self.room and len(self.blocks) > 1:
            self.blocks = self.blocks[::2]
            self._stride *= 2
            self._kept = sum(len(b) for b in self.blocks)

    @property
    def bytes(self) -> int:
        """Memory used by the recording itself."""
        return sum(block.nbytes for block in self.blocks)

    @property
    def mean_ns(self) -> float:
        """Mean over all calls, kept or not."""
        return self._mean

    @property
    def std_ns(self) -> float:
        """Population standard deviation over all calls."""
        return math.sqrt(self._squares / self.total) if self.total else 0.0

    def kept(self) -> Ns:
        """Return the kept durations in order."""
        return np.concatenate(self.blocks) if self.blocks else np.zeros(0, dtype=np.int64)

    def _merge(self, durations: Ns) -> None:
        count = len(durations)
        if not count:
            return
        mean = float(durations.mean())
        squares = float(((durations - mean) ** 2).sum())
        delta = mean - self._mean
        total = self.total + count
        self._squares += squares + delta * delta * self.total * count / total
        self._mean += delta * count / total
        self.total = total


QUANTILES = (25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9)
FLOOR_QUANTILE = 5.0
_LAG_SAMPLES = 20_000
_LEVELS = tuple(n / 2 for n in range(200))
"""Percentiles up to 99.5 that locate most calls: the slowest few would widen the bins of all others."""


def percentiles(durations: Ns, independent: float) -> dict[str, float]:
    """Return the percentiles in ns under their export keys; leave out those with too few independent calls."""
    supported = [q for q in QUANTILES if independent >= needed_samples(q)]
    return {str(q): float(v) for q, v in zip(supported, np.percentile(durations, supported), strict=True)}


def floor(durations: Ns) -> float:
    """Return the 5th percentile: the duration of an undisturbed call."""
    return float(np.percentile(durations, FLOOR_QUANTILE))


def independent_n(durations: Ns, total: int) -> float:
    """Return the number of independent calls these are worth, from the rank correlation of neighbours."""
    return effective_n(total, rank_autocorrelation(durations[:_LAG_SAMPLES].tolist()))


def histogram(durations: Ns, max_bins: int) -> dict[str, Any]:
    """Return counts in bins of equal ratio, and the counts below and above them."""
    low, high = bulk(np.percentile(durations, _LEVELS).tolist(), max_bins)
    low_ns, ratio, count = bins(low, high, max_bins, float(durations.max()))
    edges = low_ns * ratio ** np.arange(count + 1)
    counts, _ = np.histogram(durations, bins=edges)
    under = int((durations < edges[0]).sum())
    over = len(durations) - under - int(counts.sum())
    return {"low_ns": low_ns, "ratio": ratio, "counts": [int(c) for c in counts], "under": under, "over": over}


def series(durations: Ns, points: int) -> tuple[tuple[float, float, float], ...]:
    """Return up to `points` points of (min, p50, max) in time order, in whole nanoseconds."""
    parts = np.array_split(durations, min(points, len(durations)))
    return tuple((float(p.min()), float(round(np.median(p))), float(p.max())) for p in parts if len(p))


def keep_samples(durations: Ns, total: int, path: str, keep_raw: bool) -> Samples:
    """Write the durations beside the record, thinned to evenly spaced blocks; return kept and total counts."""
    kept = durations if keep_raw else np.concatenate([durations[a:b] for a, b in spans(len(durations))])
    written = write_samples(Path(path), array("Q", kept.astype(np.uint64).tobytes()))
    return Samples(len(kept), total, str(written))
