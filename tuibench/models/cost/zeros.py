"""Counts the zeros of each weight, with the zero point as 0 in quantized weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from onnx import numpy_helper

from tuibench.core.errors import ModelError
from tuibench.core.units import size
from tuibench.models.cost.constant import Constant
from tuibench.models.external import is_external
from tuibench.models.zero import ZeroBudget, zeros_of

_BUDGET = ZeroBudget()


class Zeros:
    """Counts zeros within a budget of time and bytes; notes list what was not counted."""

    def __init__(self, path: Path, clock: Callable[[], float], budget: ZeroBudget = _BUDGET) -> None:
        self._path = path
        self._clock = clock
        self._until = clock() + budget.seconds
        self._budget = budget
        self._left = budget.total_bytes
        self._sizes: dict[Path, int] = {}
        self._notes: dict[str, None] = {}

    def count(self, constant: Constant) -> int:
        """Return how many elements are zero; 0 if they were not counted."""
        if constant.proto is None or constant.packed:
            return constant.zeros
        self._left -= constant.size
        if self._left < 0:
            self._note(f"zeros not counted in all weights: more than {size(self._budget.total_bytes)} of them")
            return 0
        if self._clock() > self._until:
            self._note(f"zeros not counted in all weights: more than {self._budget.seconds:.0f} s of reading")
            return 0
        zero = self._zero_point(constant.zero_point)
        if zero is None:
            self._note("zeros not counted in weights whose channels have zero points of their own")
            return 0
        try:
            return zeros_of(constant.proto, self._path, self._sizes, zero)
        except ModelError as error:
            self._note(f"zeros not counted in all weights: {error.message}")
            return 0

    def notes(self) -> tuple[str, ...]:
        """Return the reasons why zeros were not counted."""
        return tuple(self._notes)

    def _note(self, words: str) -> None:
        self._notes[words] = None

    def _zero_point(self, constant: Constant | None) -> int | None:
        """Return the one value that represents 0; None if there are several or it is unknown."""
        if constant is None:
            return 0
        if constant.proto is None or is_external(constant.proto):
            return None
        try:
            values = np.unique(numpy_helper.to_array(constant.proto).astype(np.int64))
        except (ValueError, TypeError):
            return None
        return int(values[0]) if len(values) == 1 else None
