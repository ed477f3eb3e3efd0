"""Trace of one ONNX Runtime run without optimization: how often each node ran, and on which shapes."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tuibench.models.cost.tensor import Tensor, profiler_dtype

_SUFFIX = "_kernel_time"
_CONVERSION = "InsertedPrecisionFreeCast_"
MOST_EVENTS = 1_000_000
"""Limit of ONNX Runtime's profiler, which drops later events."""
MOST_VARIANTS = 256
"""Different shapes of one node kept apart per run; further ones count as the last of them."""

Variant = tuple[tuple[Tensor, ...], tuple[Tensor, ...]]
"""Tensors that a node read and wrote in one execution, without omitted ones."""


@dataclass
class Trace:
    """Executions per node, by node name."""

    variants: dict[str, Counter[Variant]] = field(default_factory=dict)
    outputs: dict[str, Tensor] = field(default_factory=dict)
    """Outputs of the model."""
    events: int = 0
    is_converted: bool = False
    """True if the engine converts types around nodes, so that events have other types than the model."""

    is_cut: bool = False
    """True if the profiler stopped before any run ended; the event of the whole run comes last."""

    def times(self, name: str) -> int:
        """Return how often a node ran."""
        return sum(self.variants[name].values()) if name in self.variants else 0


def read_profile(path: str | os.PathLike[str]) -> Trace:
    """Read the profile of the last complete run, sorted by node.

    Each event is a line, and lines are read one at a time: a loop's whole profile would take gigabytes.
    """
    start, end, events = _last_run(path)
    trace = Trace()
    if end < start:
        trace.is_cut = events >= MOST_EVENTS
        return trace
    for line in _lines(path, '"Node"'):
        trace.is_converted = trace.is_converted or _CONVERSION in line
        event = _parse(line)
        name = str(event.get("name", ""))
        if name.endswith(_SUFFIX) and start <= event.get("ts", -1) <= end:
            _add(trace, name.removesuffix(_SUFFIX), event.get("args") or {})
    return trace


def _last_run(path: str | os.PathLike[str]) -> tuple[int, int, int]:
    """Return start and end of the last run, and the events of all runs; the end is before the start if no run ended."""
    start, end, events = 0, -1, 0
    for line in _lines(path, "{"):
        events += 1
        event = _parse(line) if '"model_run"' in line else {}
        if event.get("name") == "model_run":
            start, end = int(event["ts"]), int(event["ts"]) + int(event["dur"])
    return start, end, events


def _lines(path: str | os.PathLike[str], word: str) -> Iterator[str]:
    with open(path, encoding="utf-8", errors="replace") as file:
        yield from (line for line in file if word in line)


def _parse(line: str) -> dict[str, Any]:
    """Parse one event; {} for a line broken by an engine-made tensor name. Names assigned by tuibench break no line."""
    try:
        event = json.loads(line.strip().rstrip(","))
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}


def _add(trace: Trace, name: str, told: dict[str, Any]) -> None:
    found = trace.variants.setdefault(name, Counter())
    variant = (_tensors(told.get("input_type_shape")), _tensors(told.get("output_type_shape")))
    if variant not in found and len(found) >= MOST_VARIANTS:
        variant = next(reversed(found))
    found[variant] += 1
    trace.events += 1


def _tensors(told: Any) -> tuple[Tensor, ...]:
    return tuple(
        Tensor(profiler_dtype(str(dtype)), tuple(int(dim) for dim in shape))
        for item in told or ()
        for dtype, shape in item.items()
    )
