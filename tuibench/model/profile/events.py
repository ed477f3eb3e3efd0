"""The profiler's events as kernel times per run, and the model as one flat graph."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import onnx

from tuibench.core.value import dataclass
from tuibench.model.graph import Placed, walk

Tensor = tuple[str, str]
"""(scope, name): names are unique within a graph; inner graphs see the names of outer ones."""


class Flat:
    """The nodes of a graph and of all its subgraphs, with the tensors between them."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self.nodes = list(walk(graph))
        self.producer: dict[Tensor, int] = {}
        self.inputs: list[list[Tensor]] = []
        """The tensors each node reads; for a node with subgraphs also their outside reads and their outputs."""
        self.named: dict[Tensor, list[int]] = defaultdict(list)
        """Maps (scope, node name) to the nodes with that name."""
        self.giving: dict[str, list[int]] = defaultdict(list)
        """Maps a tensor name to all nodes in any graph that produce a tensor with it."""
        self._scope_of: dict[str, str] = {}
        self._by_id = {placed.id: number for number, placed in enumerate(self.nodes)}
        self._own: dict[str, set[str]] = {"": _given(graph)}
        self._given_back: dict[str, set[str]] = {}
        for number, placed in enumerate(self.nodes):
            self._learn(number, placed)
        for placed in self.nodes:
            self.inputs.append(self._read(placed))
        for number, placed in enumerate(self.nodes):
            self._reach_out(number, placed)
        self.fed = {("", value.name) for value in graph.input} - {("", tensor.name) for tensor in graph.initializer}

    def parent(self, number: int) -> int | None:
        """Return the node whose subgraph contains this one, or None at the top."""
        above = self.nodes[number].parent
        return self._by_id[above] if above else None

    def within(self, scope: str) -> str | None:
        """Return the scope that contains a scope."""
        return self._scope_of.get(scope)

    def dynamic(self, still: frozenset[int] = frozenset()) -> list[bool]:
        """Per node, return whether its output depends on the inputs; treat the nodes in `still` as constant."""
        found = [False] * len(self.nodes)
        waiting = [number for number, placed in enumerate(self.nodes) if placed.op in _RANDOM or self._is_fed(number)]
        readers: dict[int, list[int]] = defaultdict(list)
        for number, tensors in enumerate(self.inputs):
            for tensor in tensors:
                if (made := self.producer.get(tensor)) is not None:
                    readers[made].append(number)
        # Visit each node once, however deep its subgraphs are.
        while waiting:
            number = waiting.pop()
            if not found[number] and number not in still:
                found[number] = True
                waiting.extend(readers[number])
        return found

    def _is_fed(self, number: int) -> bool:
        """Return whether a node reads a model input, or a loop variable that changes with each iteration."""
        for tensor in self.inputs[number]:
            given = tensor[0] and tensor[1] in self._own.get(tensor[0], ())
            if tensor in self.fed or (given and tensor not in self.producer):
                return True
        return False

    def _learn(self, number: int, placed: Placed) -> None:
        if placed.scope not in self._own:
            self._own[placed.scope] = _given(placed.graph)
        if placed.parent:
            self._scope_of[placed.scope] = self.nodes[self._by_id[placed.parent]].scope
        if placed.node.name:
            self.named[placed.scope, placed.node.name].append(number)
        for name in placed.node.output:
            if name:
                self.producer[placed.scope, name] = number
                self.giving[name].append(number)

    def _read(self, placed: Placed) -> list[Tensor]:
        return [self.resolve(placed.scope, name) for name in placed.node.input if name]

    def resolve(self, scope: str, name: str) -> Tensor:
        """Return the tensor that a name refers to within a scope."""
        at: str | None = scope
        while at is not None:
            if (at, name) in self.producer or name in self._own.get(at, ()):
                return at, name
            at = self._scope_of.get(at)
        return "", name

    def _reach_out(self, number: int, placed: Placed) -> None:
        """Add a node's outer reads to the nodes that contain it, and its graph's outputs to its parent."""
        above = self.parent(number)
        while above is not None:
            outer = self.nodes[above]
            for name in placed.node.input:
                tensor = self.resolve(placed.scope, name)
                if name and outer.scope.startswith(tensor[0]):
                    self.inputs[above].append(tensor)
            above = self.parent(above)
        direct = self.parent(number)
        if direct is not None:
            if placed.scope not in self._given_back:
                self._given_back[placed.scope] = {value.name for value in placed.graph.output}
            given = self._given_back[placed.scope]
            self.inputs[direct].extend((placed.scope, name) for name in placed.node.output if name in given)


_RANDOM = frozenset({"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial"})


def _given(graph: onnx.GraphProto) -> set[str]:
    """Return the names a graph defines without a node: inputs and initializers."""
    sparse = {tensor.values.name for tensor in graph.sparse_initializer}
    return {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer} | sparse


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
            fields = details if isinstance(details, dict) else {}
            sizes = _whole(fields.get("activation_size")) + _whole(fields.get("output_size"))
            op = str(fields.get("op_name", ""))
            types = (_first_type(fields.get("input_type_shape")), _precision(fields))
            _take(pending, _Event(name.removesuffix(_SUFFIX), op, start, _whole(event.get("dur")), sizes, *types))
        elif name == "model_run":
            if start >= since_us:
                yield _sum_up([kernel for kernel in pending if kernel.start >= start])
            pending = []


def take_runs(session: Any) -> list[Run]:
    """End the profiling of a session; return its runs and delete the profile file."""
    path = session.end_profiling()
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            return list(split_runs(read_events(lines)))
    finally:
        os.unlink(path)


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


def _first_type(types: object) -> str:
    """Return the element type of the first tensor in the profiler's list of types and shapes."""
    first = types[0] if isinstance(types, list) and types else None
    return str(next(iter(first), "")) if isinstance(first, dict) else ""


def _precision(fields: dict[str, object]) -> str:
    """Return the widest float type other than 32 bits among the kernel's tensors; '' if there is none."""
    tensors = [tensor for key in ("input_type_shape", "output_type_shape") for tensor in _listed(fields.get(key))]
    kinds = {kind for tensor in tensors if isinstance(tensor, dict) for kind in tensor}
    return next((short for kind, short in _PRECISIONS.items() if kind in kinds), "")


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _whole(value: object) -> int:
    """Parse a number of the profiler, which writes those in details as text."""
    if isinstance(value, str):
        return int(value) if value.isdecimal() else 0
    return int(value) if isinstance(value, (int, float)) else 0
