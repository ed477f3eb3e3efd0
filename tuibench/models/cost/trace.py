"""What one run of ONNX Runtime without optimization told: which nodes ran how often, and on which shapes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tuibench.models.cost.tensor import Tensor, profiler_dtype

_SUFFIX = "_kernel_time"
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

    def times(self, name: str) -> int:
        """How often a node ran."""
        return sum(self.variants[name].values()) if name in self.variants else 0


def read_trace(events: Iterable[Mapping[str, Any]]) -> Trace:
    """Sort the profiler's events of one run by node."""
    trace = Trace()
    for event in events:
        name = str(event.get("name", ""))
        if event.get("cat") != "Node" or not name.endswith(_SUFFIX):
            continue
        found = trace.variants.setdefault(name.removesuffix(_SUFFIX), Counter())
        told = event.get("args", {})
        variant = (_tensors(told.get("input_type_shape")), _tensors(told.get("output_type_shape")))
        if variant not in found and len(found) >= MOST_VARIANTS:
            variant = next(reversed(found))
        found[variant] += 1
    return trace


def last_run(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events of the last run that came to its end."""
    runs = [event for event in events if event.get("name") == "model_run"]
    if not runs:
        return []
    start, end = runs[-1]["ts"], runs[-1]["ts"] + runs[-1]["dur"]
    return [event for event in events if start <= event.get("ts", -1) <= end]


def _tensors(told: Any) -> tuple[Tensor, ...]:
    return tuple(
        Tensor(profiler_dtype(str(dtype)), tuple(int(dim) for dim in shape))
        for item in told or ()
        for dtype, shape in item.items()
    )
