"""Reference outputs for all engines: ONNX Runtime without optimizations, on the first sample."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tuibench.arrays.bundle import SUBSET_ELEMENTS, Feed, Subset, pick, write_bundle
from tuibench.arrays.difference import compare
from tuibench.core.model import ModelSummary, Reference
from tuibench.models.sample import RAW_BYTES

Run = Callable[[Feed, bool], dict[str, Any]]
"""Runs one sample, optimized or not, and returns its outputs; raises TrialError."""

WHOLE_BYTES = 64_000_000
_F32, _HALF, _QUANTIZED = 1e-3, 3e-2, 5e-2
_RANDOM = frozenset(
    {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"}
)


class TrialError(Exception):
    """The engine refused the model or a choice of inputs; the message is the engine's own."""

    def __init__(self, message: str, *, loading: bool = False, ran: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.loading = loading
        self.ran = ran
        """True if the model ran and only its outputs cannot be read."""


def make_reference(run: Run, feed: Feed, optimized: Mapping[str, Any], summary: ModelSummary, path: Path) -> Reference:
    """Write the reference outputs to `path`; if there can be none, return the reason and write no file."""
    reason = why_none(summary)
    if reason is not None:
        return Reference(None, None, None, reason)
    try:
        outputs = run(feed, False)
    except TrialError as error:
        return Reference(None, None, None, f"ONNX Runtime without optimizations: {error.message}")
    raw = {port.name: port.dtype for port in summary.outputs if port.dtype in RAW_BYTES}
    found = compare(outputs, optimized, raw)
    if not math.isfinite(found.value):
        return Reference(None, None, None, f"ONNX Runtime differs from itself without optimizations: {found.reason}")
    write_bundle(path, [shrink(outputs)], raw)
    return Reference(str(path), found.value, choose_tolerance(summary))


def why_none(summary: ModelSummary) -> str | None:
    """Return the reason why this model cannot have a reference, or None."""
    if summary.format == "ort":
        return "an .ort file is already optimized, so there is nothing to hold it against"
    drawn = sorted(_RANDOM.intersection(summary.operators or {}))
    return f"the model draws random numbers ({', '.join(drawn)})" if drawn else None


def choose_tolerance(summary: ModelSummary) -> float:
    """Return the allowed difference of outputs, from the coarsest number format that the model uses."""
    if summary.quantization is not None:
        return _QUANTIZED
    types = {port.dtype for port in (*summary.inputs, *summary.outputs)} | set(summary.weight_types or {})
    return _HALF if types & {"float16", "bfloat16"} else _F32


def shrink(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outputs to store: whole up to a limit, above it only the compared elements."""
    total = sum(v.nbytes for v in outputs.values() if isinstance(v, np.ndarray))
    if total <= WHOLE_BYTES:
        return dict(outputs)
    return {name: _subset(value) for name, value in outputs.items()}


def _subset(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.size > SUBSET_ELEMENTS:
        return Subset(pick(value), value.shape)
    return value
