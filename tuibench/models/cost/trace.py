"""What one run of ONNX Runtime without optimization told: which nodes ran how often, and on which shapes."""

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
"""ONNX Runtime's profiler writes so many and drops what comes after."""
MOST_VARIANTS = 256
"""Different shapes of one node in a run that are kept apart; more are counted as the last of them."""

Variant = tuple[tuple[Tensor, ...], tuple[Tensor, ...]]
"""What a node read and wrote in one execution, without what is left out."""


@dataclass
class Trace:
    """By the name of the node."""

    variants: dict[str, Counter[Variant]] = field(default_factory=dict)
    outputs: dict[str, Tensor] = field(default_factory=dict)
    """Of the model."""
    events: int = 0
    is_converted: bool = False
    """Whether the engine converts types around nodes, so that the events tell of others than the model's."""

    is_cut: bool = False
    """Whether the profiler stopped writing before any run was over, which it tells last."""

    def times(self, name: str) -> int:
        """How often a node ran."""
        return sum(self.variants[name].values()) if name in self.variants else 0


def read_profile(path: str | os.PathLike[str]) -> Trace:
    """Sort by node what the profiler wrote of the last run that came to its end.

    It writes a line for each event, which are read one at a time: whole, a loop's profile takes gigabytes.
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
    """When it began and ended, the end before the beginning where there is none; and the events of all runs."""
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
    """One event; nothing where a name that the engine made of a tensor's breaks the line, as names of ours do not."""
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
