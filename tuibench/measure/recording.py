"""Timed calls so far: moments over all calls, and as many single durations as fit."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

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
