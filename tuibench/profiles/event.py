"""ONNX Runtime's profile events, one per line, as the exclusive time of each kernel in each run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

CONTROL = frozenset(
    {"If", "Loop", "Scan", "SequenceMap", "BeamSearch", "GreedySearch", "Sampling", "WhisperBeamSearch"}
)
"""Operators whose events include those of their subgraphs."""

_SUFFIX = "_kernel_time"
_PRECISIONS = {"double": "f64", "bfloat16": "bf16", "float16": "f16"}

Path = tuple[str, ...]
"""A kernel's name, after the names of the kernels around it, outermost first."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel of a run: its exclusive time, summed over all its calls."""

    path: Path
    op: str
    us: float
    calls: int
    bytes: int = 0
    """Bytes read and written, constants aside."""
    reads: str = ""
    """The element type of its first input, as the engine names it."""
    precision: str = ""
    """The float type that it reads or writes, unless 32 bits."""


@dataclass(slots=True)
class _Event:
    name: str
    op: str
    start: int
    us: int
    bytes: int = 0
    reads: str = ""
    precision: str = ""
    inner_us: int = 0
    below: list[_Event] | None = None


Run = dict[Path, Kernel]


def read_events(lines: Iterable[str]) -> Iterator[dict[str, object]]:
    """Yield the events of a profile file; skip other lines, such as the brackets around them."""
    for line in lines:
        text = line.strip().rstrip(",")
        if not text.startswith("{"):
            continue
        try:
            event = json.loads(text)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event


def split_runs(events: Iterable[dict[str, object]], since_us: float = 0.0) -> Iterator[Run]:
    """Yield the kernels of each run; the profiler writes a run's own event after those of all its kernels.

    Skip runs that began before `since_us` on the profiler's clock.
    """
    pending: list[_Event] = []
    for event in events:
        name, start = str(event.get("name")), _whole(event.get("ts"))
        if event.get("cat") == "Node" and name.endswith(_SUFFIX):
            details = event.get("args")
            told = details if isinstance(details, dict) else {}
            sizes = _whole(told.get("activation_size")) + _whole(told.get("output_size"))
            op = str(told.get("op_name", ""))
            types = (_first_type(told.get("input_type_shape")), _precision(told))
            _take(pending, _Event(name.removesuffix(_SUFFIX), op, start, _whole(event.get("dur")), sizes, *types))
        elif name == "model_run":
            if start >= since_us:
                yield _sum_up([kernel for kernel in pending if kernel.start >= start])
            pending = []


def _take(pending: list[_Event], event: _Event) -> None:
    """Append an event; move events that began within a control-flow kernel inside it."""
    if event.op in CONTROL:
        first = len(pending)
        while first and pending[first - 1].start >= event.start:
            first -= 1
        event.below = pending[first:]
        event.inner_us = sum(kernel.us for kernel in event.below)
        del pending[first:]
    pending.append(event)


def _sum_up(top: list[_Event]) -> Run:
    found: Run = {}
    waiting: list[tuple[Path, _Event]] = [((), event) for event in reversed(top)]
    while waiting:
        above, event = waiting.pop()
        path = (*above, event.name)
        known = found.get(path)
        own = float(max(0, event.us - event.inner_us))
        before = known or Kernel(path, event.op, 0.0, 0)
        own_us, moved = before.us + own, before.bytes + event.bytes
        found[path] = Kernel(path, event.op, own_us, before.calls + 1, moved, event.reads, event.precision)
        waiting.extend((path, inner) for inner in reversed(event.below or []))
    return found


def _first_type(told: object) -> str:
    """Return the element type of the first tensor in the profiler's list of types and shapes."""
    first = told[0] if isinstance(told, list) and told else None
    return str(next(iter(first), "")) if isinstance(first, dict) else ""


def _precision(told: dict[str, object]) -> str:
    """Return the widest float type other than 32 bits among the kernel's tensors; '' if there is none."""
    tensors = [tensor for key in ("input_type_shape", "output_type_shape") for tensor in _listed(told.get(key))]
    kinds = {kind for tensor in tensors if isinstance(tensor, dict) for kind in tensor}
    return next((short for kind, short in _PRECISIONS.items() if kind in kinds), "")


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _whole(value: object) -> int:
    """Parse a number of the profiler, which writes those in details as text."""
    if isinstance(value, str):
        return int(value) if value.isdecimal() else 0
    return int(value) if isinstance(value, (int, float)) else 0
