"""Layer times of DeepSparse: its kernels merge nodes, and it hands nodes that it does not support to ONNX Runtime."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
from onnx import numpy_helper

from tuibench.core.cell import Estimate, Noise
from tuibench.core.errors import ModelError
from tuibench.core.profile import FOLDED, HANDED, LAYER, LAYOUT, RUNTIME, KernelRow, LayerRun, PrunedPoint, own_key
from tuibench.core.reason import Reason, because
from tuibench.core.record import from_plain
from tuibench.core.value import dataclass
from tuibench.engines.protocol import LayerOrder, Tell
from tuibench.model.loss.change import prune, write_model
from tuibench.model.loss.layers import WeightReader, find_layers
from tuibench.model.profile.apart import CopiedModel, copied_model
from tuibench.model.profile.events import Flat
from tuibench.model.profile.mapping import is_product

_WHOLE, _LAYERS = "tuibench.engines.deepsparse_layers:time_whole", "tuibench.engines.deepsparse_layers:time_layers"
_HANDED_OWN = f"{HANDED} (runtime)"
_NAIVE = "Naive Subgraph"


def make_timer() -> DeepSparseTimer:
    """Create DeepSparse's layer timer, for the registry."""
    return DeepSparseTimer()


class DeepSparseTimer:
    """Times layers in DeepSparse's interpreter, on a copy of the model."""

    def time_layers(self, order: LayerOrder, tell: Tell) -> LayerRun:
        """Profile a model in processes of its own."""
        with copied_model(order, "deepsparse") as copied:
            whole = copied.call(_WHOLE, tell)
            runs = max(1, min(order.runs, int(order.max_s * 1e6 / 3 / whole["us"])))
            found = copied.call(_LAYERS, tell, runs=runs)
            return to_run(order, whole, found, _rows_of(copied, found, whole["supported"] == 1))

    def time_pruned(self, order: LayerOrder, zeros: float, tell: Tell) -> PrunedPoint:
        """Measure the model once as if each weight had a share of zeros."""
        with copied_model(order, "deepsparse") as copied:
            found = copied.call(_LAYERS, tell, zeros=zeros)
            return _point(zeros, found, _rows_of(copied, found, False))

    def time_zeroed(self, order: LayerOrder, nodes: Collection[str], zeros: float, tell: Tell) -> PrunedPoint:
        """Measure a copy in which only the weights of these nodes have a share of zeros."""
        with copied_model(order, "deepsparse") as copied:
            own = {layer.weight for layer in find_layers(copied.model.graph) if layer.id in nodes}
            write_zeros(Path(copied.job.setting.model_path), own, zeros)
            found = copied.call(_LAYERS, tell)
            rows = _rows_of(copied, found, False)
            us = sum(row.us for row in rows if not set(nodes).isdisjoint(row.nodes))
            return replace(_point(zeros, found, rows), part_ms=us * _fastest(found, rows) / 1000)


def _point(zeros: float, found: Mapping[str, Any], rows: Sequence[KernelRow]) -> PrunedPoint:
    factor = _fastest(found, rows)
    operators: dict[str, float] = {}
    for row in rows:
        operators[row.op] = operators.get(row.op, 0.0) + row.us * factor / 1000
    time = Estimate(found["least_us"] / 1000, n=found["runs"], reason=Reason("one_process"))
    return PrunedPoint(zeros, time, operators, found["load_ms"])


def _fastest(found: Mapping[str, Any], rows: Sequence[KernelRow]) -> float:
    """Return the factor from mean times of layers to the fastest run, which other processes disturbed least."""
    whole = sum(row.us for row in rows)
    return float(found["least_us"]) / whole if whole else 1.0


def write_zeros(path: Path, weights: Collection[str], share: float) -> None:
    """Change a model file: in tensors of these names, the share of values that are nearest to zero becomes zero."""
    model, reader = onnx.load(path, load_external_data=False), WeightReader(path)
    layers = [layer for layer in find_layers(model.graph) if layer.weight in weights and layer.reason is None]
    tensors = [(layer.root.constant, layer) for layer in layers]
    found = [(tensor, layer) for tensor, layer in tensors if tensor is not None]
    if not found:
        raise ModelError("weights_not_found", names=sorted(weights))
    for tensor, layer in found:
        tensor.CopyFrom(numpy_helper.from_array(prune(reader.weight(layer), share), tensor.name))
    write_model(model, path)


def _rows_of(copied: CopiedModel, found: Mapping[str, Any], is_whole: bool) -> list[KernelRow]:
    """Return the model's rows with the times that the engine found."""
    layers = [Layer(one["name"], tuple(one["tensors"]), float(one["us"])) for one in found["layers"]]
    return map_layers(copied.original, copied.copy, layers, is_whole)


def to_run(
    order: LayerOrder, whole: Mapping[str, Any], found: Mapping[str, Any], rows: Sequence[KernelRow]
) -> LayerRun:
    """Return the answer for an order, from the whole's times, the profiled ones and the rows."""
    share = whole["supported"]
    return LayerRun(
        rows=tuple(rows),
        unprofiled_us=whole["us"],
        profiled_us=found["us"],
        bias_us=0.0,
        runs=found["runs"],
        unprofiled_runs=whole["runs"],
        kernels=round(sum(row.calls or 0 for row in rows)),
        load_ms=whole["load_ms"],
        first_ms=whole["first_ms"],
        peak_bytes=None,
        noise=from_plain(Noise, whole["noise"]),
        engine_version=whole["version"],
        threads=whole["threads"],
        cpus=order.cpus,
        notes=(because("operators_supported", engine="deepsparse", share=share),)
        if share is not None and share < 1
        else (),
        precision="f32",
    )


@dataclass(frozen=True, slots=True)
class Layer:
    """One kernel as DeepSparse lists it."""

    name: str
    tensors: tuple[str, ...]
    """Outputs of the nodes of its copy that it computes, as far as it tells."""
    us: float
    own_kernel: str = ""
    """The kernel, if the name does not tell it."""

    @property
    def is_handed(self) -> bool:
        """True if ONNX Runtime computes it; also the passing of inputs and outputs."""
        return self.name.startswith(_NAIVE)

    @property
    def kernel(self) -> str:
        """Its kernel, or its name without its number."""
        return self.own_kernel or re.sub(r"_\d+$", "", self.name)


def map_layers(
    original: Flat, copy: Flat, layers: Sequence[Layer], is_whole: bool, *, to_reader: bool = False
) -> list[KernelRow]:
    """Return rows with each node of the model in exactly one; `is_whole` means that ONNX Runtime runs no node.

    `to_reader` gives a node without a layer to the first one that needs its output: layers name their last node only.
    """
    rows = _Rows(original, len(layers))
    origin = _origins(original, copy)
    for at, layer in enumerate(layers):
        rows.claim(at, sorted({origin[tensor] for tensor in layer.tensors if tensor in origin}))
    handed = [at for at, layer in enumerate(layers) if layer.is_handed]
    rows.spread(handed[1:-1] if is_whole else handed, to_reader)
    return rows.build(layers)


def _origins(original: Flat, copy: Flat) -> dict[str, int]:
    """Map each tensor of the copy to the node of the model that it belongs to, also inside of expanded nodes."""
    found: dict[str, int] = {name: number for (scope, name), number in original.producer.items() if not scope}
    for number, placed in reversed(list(enumerate(copy.nodes))):
        own = next((found[name] for name in placed.node.output if name in found), None)
        if placed.scope or own is None:
            continue
        for _, name in copy.inputs[number]:
            found.setdefault(name, own)
    return found


class _Rows:
    """Gives each node of a model to one of the engine's layers; layers that share a node become one row."""

    def __init__(self, original: Flat, layers: int) -> None:
        self._original = original
        self._dynamic = original.dynamic()
        self._row: list[int | None] = [None] * len(original.nodes)
        self._joined = list(range(layers))
        """For each layer the first layer of its row."""

    def claim(self, layer: int, nodes: Sequence[int]) -> None:
        """Give a layer its nodes; join it with the layer that has one of them already."""
        for number in nodes:
            if self._row[number] is None:
                self._row[number] = self._joined[layer]
            else:
                self._join(layer, self._row[number] or 0)

    def _join(self, layer: int, other: int) -> None:
        first, last = sorted((self._joined[layer], other))
        self._joined = [first if row == last else row for row in self._joined]
        self._row = [first if row == last else row for row in self._row]

    def spread(self, handed: Sequence[int], to_reader: bool) -> None:
        """Give each remaining node that depends on the input to ONNX Runtime's layer in its place, else to a neighbour.

        Nodes of subgraphs belong to the row of the node around them.
        """
        behind = self._behind()
        for number, placed in enumerate(self._original.nodes):
            if placed.parent or self._row[number] is not None or not self._dynamic[number]:
                continue
            before = self._before(number)
            fitting = [layer for layer in handed if before < layer < behind[number]]
            last = len(self._joined) - 1
            chosen = fitting[0] if fitting else before if before >= 0 else min(behind[number], last)
            if to_reader and behind[number] <= last:
                chosen = behind[number]
            self._row[number] = self._joined[chosen]
        for number in range(len(self._row)):
            above = self._original.parent(number)
            if above is not None:
                self._row[number] = self._row[above]

    def _before(self, number: int) -> int:
        """Return the last layer that makes an input of a node; -1 if there is none."""
        made = (self._original.producer.get(tensor) for tensor in self._original.inputs[number])
        rows = (self._row[one] for one in made if one is not None)
        return max((row for row in rows if row is not None), default=-1)

    def _behind(self) -> list[int]:
        """Return for each node the first layer that needs its output; the number of layers if there is none."""
        found = [len(self._joined)] * len(self._row)
        for number in reversed(range(len(self._row))):
            own = self._row[number]
            for tensor in self._original.inputs[number]:
                made = self._original.producer.get(tensor)
                if made is not None:
                    found[made] = min(found[made], found[number] if own is None else own)
        return found

    def build(self, layers: Sequence[Layer]) -> list[KernelRow]:
        """Return the rows in the order of the layers, and at the end the nodes that cost no time at inference."""
        nodes = self._original.nodes
        taken = {placed.id for placed in nodes}
        rows = []
        for first in sorted(set(self._joined)):
            own = [layer for at, layer in enumerate(layers) if self._joined[at] == first]
            inside = [number for number, row in enumerate(self._row) if row == first]
            rows.append(self._row_of(own, inside) if inside else _own_row(own, taken))
        for number, row in enumerate(self._row):
            if row is None:
                one = nodes[number]
                rows.append(KernelRow(one.id, FOLDED, one.op, (one.id,), (), "", 0.0, 0.0, calls=0.0))
        return rows

    def _row_of(self, own: Sequence[Layer], inside: Sequence[int]) -> KernelRow:
        placed = [self._original.nodes[number] for number in inside]
        chief = next((one for one in placed if is_product(one.op)), placed[0])
        us = sum(layer.us for layer in own)
        handed = all(layer.is_handed for layer in own)
        kind = HANDED if handed else next(layer.kernel for layer in own if not layer.is_handed)
        ids, names = tuple(one.id for one in placed), tuple(layer.name for layer in own)
        return KernelRow(placed[0].id, LAYER, chief.op, ids, names, kind, us, us, calls=float(len(own)))


def _own_row(own: Sequence[Layer], taken: Collection[str]) -> KernelRow:
    """Return the row of a layer without nodes: passing tensors, or their layout."""
    (layer,) = own
    op = _HANDED_OWN if layer.is_handed else LAYOUT
    return KernelRow(own_key(layer.name, taken), RUNTIME, op, (), (layer.name,), op, layer.us, layer.us, calls=1.0)
