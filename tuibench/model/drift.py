"""Runs two models on the same samples and measures how far their outputs are from each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tuibench.worker.bundle import Array, Feed

Run = Callable[[Feed], Mapping[str, Any]]


@dataclass
class Sums:
    """Sums over all finite float outputs of all samples."""

    signal: float = 0.0
    noise: float = 0.0
    other: float = 0.0
    product: float = 0.0
    max_abs: float | None = None
    differing: int = 0
    same_top: int | None = None
    rows: int = 0
    samples: int = 0
    _classes: str | None = field(default=None, repr=False)

    def add(self, base: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        """Add the outputs of one sample."""
        self.samples += 1
        for name, expected in base.items():
            left, right = np.asarray(expected), np.asarray(new[name])
            if left.shape != right.shape:
                self.differing += max(left.size, right.size)
                continue
            if left.dtype.kind != "f" or right.dtype.kind != "f":
                self.differing += int((left != right).sum())
                continue
            left, right = left.astype(np.float64), right.astype(np.float64)
            finite = np.isfinite(left) & np.isfinite(right)
            self._add(left[finite], right[finite])
            self.differing += int((~finite & (left != right) & ~(np.isnan(left) & np.isnan(right))).sum())
            if left.ndim == 2 and left.shape[1] > 1 and self._classes in (None, name):
                self._classes = name
                self.same_top = (self.same_top or 0) + int((left.argmax(axis=1) == right.argmax(axis=1)).sum())
                self.rows += len(left)

    def _add(self, left: Array, right: Array) -> None:
        if left.size == 0:
            return
        gap = right - left
        self.signal += float(np.dot(left, left))
        self.other += float(np.dot(right, right))
        self.product += float(np.dot(left, right))
        self.noise += float(np.dot(gap, gap))
        self.max_abs = max(self.max_abs or 0.0, float(np.abs(gap).max()))

    def values(self, *, is_generated: bool) -> dict[str, Any]:
        """Return the measured fields of a drift."""
        both = math.sqrt(self.signal * self.other)
        has_noise = self.signal > 0 and self.noise > 0
        return {
            "samples": self.samples,
            "is_generated": is_generated,
            "sqnr_db": 10 * math.log10(self.signal / self.noise) if has_noise else None,
            "max_abs": self.max_abs,
            "differing": self.differing,
            "cosine": self.product / both if both > 0 else None,
            "same_top": None if is_generated else self.same_top,
            "rows": 0 if is_generated else self.rows,
        }


def measure_drift(base: Run, new: Run, feeds: Iterable[Feed], *, is_generated: bool) -> dict[str, Any]:
    """Return the drift between two models on these samples."""
    sums = Sums()
    for feed in feeds:
        sums.add(base(feed), new(feed))
    return sums.values(is_generated=is_generated)
