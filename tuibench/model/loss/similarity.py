"""Similarity of two sets of outputs: noise, cosine and, for class scores, divergence and the top class."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx

from tuibench.core.profile import LossPoint
from tuibench.core.reason import Reason, because
from tuibench.worker.bundle import Array

_PIECE = 1 << 20
"""Elements compared at a time, so that large outputs need no float64 copy of the same size."""
_LEAST = 1e-12
"""The smallest probability distinguished from zero."""
ONLY_ZEROS = Reason("outputs_all_zeros")
"""No result, as both outputs are all zeros."""


def floats(outputs: Mapping[str, Any]) -> dict[str, Array]:
    """Return the outputs that can be compared: nonempty float tensors."""
    return {
        name: value
        for name, value in outputs.items()
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size
    }


@dataclass(slots=True)
class _Sums:
    """Sums of one output over all samples."""

    signal: float = 0.0
    noise: float = 0.0
    product: float = 0.0
    changed: float = 0.0


@dataclass(slots=True)
class Similarity:
    """Compares outputs of a changed model with those of the unchanged one, sample by sample."""

    classes: frozenset[str]
    """Outputs that look like class scores."""
    probabilities: frozenset[str] = frozenset()
    """The class outputs that are probabilities already."""
    reason: Reason | None = None
    harm: bool = False
    """True if the change itself is the reason."""
    samples: int = 0
    _sums: dict[str, _Sums] = field(default_factory=dict)
    _divergence: float = 0.0
    _same: int = 0
    _rows: int = 0

    def add(self, unchanged: Mapping[str, Array], changed: Mapping[str, Array]) -> None:
        """Add one sample."""
        self.samples += 1
        for name, expected in unchanged.items():
            found = changed.get(name)
            if found is None or found.shape != expected.shape:
                self._report_harm(because("output_reshaped", name=name))
                continue
            if not self._add_noise(name, expected, found):
                continue
            if name in self.classes:
                self._add_classes(name, expected, found)

    def point(self, level: str) -> LossPoint:
        """Return the result under the level's name."""
        self._report_new_signals()
        nonzero = [sums for sums in self._sums.values() if sums.signal > 0]
        numbers = [number for sums in nonzero for number in (sums.signal, sums.noise, sums.product, sums.changed)]
        reason, harm = self.reason or (None if nonzero else ONLY_ZEROS), self.harm
        if not reason and not all(map(math.isfinite, numbers)):
            reason, harm = Reason("outputs_too_large"), all(math.isfinite(one.signal) for one in nonzero)
        if reason:
            return LossPoint(level, None, None, samples=self.samples, reason=reason, harm=harm)
        # Each output has the same weight, whatever the size of its values.
        ratio = sum(sums.noise / sums.signal for sums in nonzero) / len(nonzero)
        cosine = sum(_cosine(sums) for sums in nonzero) / len(nonzero)
        return LossPoint(
            level,
            -10 * math.log10(ratio) if ratio > 0 else None,
            cosine,
            kl=max(self._divergence / self._rows, 0.0) if self._rows else None,
            top1=self._same / self._rows if self._rows else None,
            samples=self.samples,
        )

    def _report_new_signals(self) -> None:
        """Report outputs that were all zeros and are not any more; they have no signal for a ratio."""
        for name, sums in self._sums.items():
            if sums.noise > 0 and not sums.signal:
                self._report_harm(because("output_was_zeros", name=name))

    def _add_noise(self, name: str, expected: Array, found: Array) -> bool:
        sums = self._sums.setdefault(name, _Sums())
        held = 0
        for left, right in _pieces(expected, found):
            known = np.isfinite(left)
            if not np.isfinite(right[known]).all():
                self._report_harm(because("output_not_finite", name=name))
                return False
            a, b = left[known], right[known]
            held += a.size
            with np.errstate(over="ignore"):
                off = a - b
                sums.signal += float(a @ a)
                sums.noise += float(off @ off)
                sums.product += float(a @ b)
                sums.changed += float(b @ b)
        if not held:
            self.reason = self.reason or because("unchanged_not_finite", name=name)
        return held > 0

    def _report_harm(self, reason: Reason) -> None:
        """Keep the first reason caused by the change; it replaces reasons that exist without it."""
        if not self.harm:
            self.reason, self.harm = reason, True

    def _add_classes(self, name: str, expected: Array, found: Array) -> None:
        left, right = rows_of_classes(expected), rows_of_classes(found)
        most = max(_PIECE // left.shape[1], 1)
        for at in range(0, len(left), most):
            wanted, got = left[at : at + most].astype(np.float64), right[at : at + most].astype(np.float64)
            if not (np.isfinite(wanted).all() and np.isfinite(got).all()):
                continue
            expected_log, found_log = (self._log(name, rows) for rows in (wanted, got))
            self._divergence += float(np.sum(np.exp(expected_log) * (expected_log - found_log)))
            self._same += int(np.count_nonzero(wanted.argmax(axis=1) == got.argmax(axis=1)))
            self._rows += len(wanted)

    def _log(self, name: str, rows: Array) -> Array:
        if name in self.probabilities:
            rows = np.log(np.maximum(rows, _LEAST))
        shifted = rows - rows.max(axis=1, keepdims=True)
        logs: Array = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        return logs


def rows_of_classes(array: Array) -> Array:
    """Return one row per decision; ignore trailing axes of size one."""
    shape = list(array.shape)
    while len(shape) > 2 and shape[-1] == 1:
        shape.pop()
    return array.reshape(-1, shape[-1])


def _pieces(left: Array, right: Array) -> Iterator[tuple[Array, Array]]:
    first, second = left.reshape(-1), right.reshape(-1)
    for at in range(0, first.size, _PIECE):
        yield first[at : at + _PIECE].astype(np.float64), second[at : at + _PIECE].astype(np.float64)


def _cosine(sums: _Sums) -> float:
    length = math.sqrt(sums.signal) * math.sqrt(sums.changed)
    return min(max(sums.product / length, -1.0), 1.0) if length else 0.0


_NAMED = re.compile(r"logit|prob|softmax|score|class|label", re.IGNORECASE)
_OTHERWISE = re.compile(r"embed|hidden|pool|feature|box|coord|state|mask", re.IGNORECASE)
_SHAPING = frozenset({"Reshape", "Flatten", "Squeeze", "Identity", "Cast", "Transpose"})
_DECIDING = frozenset(
    {"Gemm", "MatMul", "Add", "Conv", "Softmax", "LogSoftmax", "GlobalAveragePool", "DequantizeLinear"}
)
_MOST_STEPS = 16
_SLACK = 0.01


def find_probabilities(outputs: Mapping[str, Array]) -> frozenset[str]:
    """Return the outputs whose rows all add up to one."""
    return frozenset(name for name, array in outputs.items() if array.ndim >= 2 and _adds_up(array))


def find_classes(graph: onnx.GraphProto, outputs: Mapping[str, Array]) -> frozenset[str]:
    """Return the outputs whose last axis looks like one score per class."""
    makers = {name: node for node in graph.node for name in node.output if name}
    return frozenset(name for name, array in outputs.items() if array.ndim >= 2 and _looks(name, array, makers))


def _looks(name: str, array: Array, makers: Mapping[str, onnx.NodeProto]) -> bool:
    count = rows_of_classes(array).shape[1]
    if count < 2:
        return False
    if _adds_up(array) or _NAMED.search(name):
        return True
    decisions = array.size // count
    plain = array.ndim == 2 or decisions == array.shape[0]
    return plain and not _OTHERWISE.search(name) and _maker(name, makers) in _DECIDING


def _adds_up(array: Array) -> bool:
    rows = rows_of_classes(array)
    if rows.shape[1] < 2 or not np.isfinite(rows).all() or rows.min() < 0 or rows.max() > 1 + _SLACK:
        return False
    return bool(np.abs(rows.sum(axis=1, dtype=np.float64) - 1).max() < _SLACK)


def _maker(name: str, makers: Mapping[str, onnx.NodeProto]) -> str:
    """Return the operator that computes an output; look through operators that only reshape it."""
    for _ in range(_MOST_STEPS):
        node = makers.get(name)
        if node is None:
            return ""
        if node.op_type not in _SHAPING or not node.input:
            return str(node.op_type)
        name = node.input[0]
    return ""
