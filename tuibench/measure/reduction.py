"""From raw durations to what is stored: percentiles, a histogram, a short series and a bounded file of samples."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

import numpy as np

from tuibench.core.cell import Samples
from tuibench.measure.recording import Ns
from tuibench.stats.histogram import bins, bulk
from tuibench.stats.percentile import effective_n, needed_samples, rank_autocorrelation
from tuibench.stats.sample_file import spans, write_samples

QUANTILES = (25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9)
FLOOR_QUANTILE = 5.0
_LAG_SAMPLES = 20_000
_LEVELS = tuple(n / 2 for n in range(200))
"""Percentiles up to 99.5 that tell where most calls lie: the slowest few would make the bins of all others wide."""


def percentiles(durations: Ns, independent: float) -> dict[str, float]:
    """The percentiles in ns, keyed as in exports; those that so few independent calls cannot tell are left out."""
    told = [q for q in QUANTILES if independent >= needed_samples(q)]
    return {str(q): float(v) for q, v in zip(told, np.percentile(durations, told), strict=True)}


def floor(durations: Ns) -> float:
    """The 5th percentile: what a call takes when nothing comes between."""
    return float(np.percentile(durations, FLOOR_QUANTILE))


def independent_n(durations: Ns, total: int) -> float:
    """How many independent calls these are worth, from the rank correlation of neighbours."""
    return effective_n(total, rank_autocorrelation(durations[:_LAG_SAMPLES].tolist()))


def histogram(durations: Ns, most: int) -> dict[str, Any]:
    """Counts in log-wide bins; what lies outside them is counted too."""
    low, high = bulk(np.percentile(durations, _LEVELS).tolist(), most)
    low_ns, ratio, count = bins(low, high, most, float(durations.max()))
    edges = low_ns * ratio ** np.arange(count + 1)
    counts, _ = np.histogram(durations, bins=edges)
    under = int((durations < edges[0]).sum())
    over = len(durations) - under - int(counts.sum())
    return {"low_ns": low_ns, "ratio": ratio, "counts": [int(c) for c in counts], "under": under, "over": over}


def series(durations: Ns, points: int) -> tuple[tuple[float, float, float], ...]:
    """So many points of (min, p50, max) in order of time, in whole nanoseconds."""
    parts = np.array_split(durations, min(points, len(durations)))
    return tuple((float(p.min()), float(round(np.median(p))), float(p.max())) for p in parts if len(p))


def keep_samples(durations: Ns, total: int, path: str, keep_raw: bool) -> Samples:
    """Write the durations beside the record, thinned to evenly spaced blocks; the counts say how far."""
    kept = durations if keep_raw else np.concatenate([durations[a:b] for a, b in spans(len(durations))])
    written = write_samples(Path(path), array("Q", kept.astype(np.uint64).tobytes()))
    return Samples(len(kept), total, str(written))
