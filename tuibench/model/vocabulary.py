"""Good values for inputs, found in the graph: rows of indexed tables and known categories."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import onnx

from tuibench.model.cost.expansion import inline
from tuibench.model.graph import text, walk_bodies

# Operators that pass on the values of their first input unchanged; those in _SPREADING do so for every input.
_SAME = frozenset(
    {"Cast", "Identity", "Reshape", "Unsqueeze", "Squeeze", "Clip", "Flatten", "Transpose", "Slice", "Expand", "Tile",
     "CastLike", "Dropout", "Split", "Gather", "GatherElements", "GatherND", "Pad"}
)  # fmt: skip
_SPREADING = frozenset({"Concat", "Max", "Min"})
_SHAPE_SAME = frozenset(
    {"Cast", "Identity", "Clip", "Dropout", "CastLike", "Relu", "DynamicQuantizeLinear", "QuantizeLinear"}
)
_TABLE_SAME = frozenset({"Cast", "Identity", "DequantizeLinear", "CastLike"})
_EMBED_TABLES = {0: 2, 1: 4}
"""com.microsoft EmbedLayerNormalization: the input with the table for each input of ids."""
_STRINGS = ("cats_strings", "keys_strings", "classlabels_strings", "string_vocabulary", "classes_strings")
_INTEGERS = ("cats_int64s", "keys_int64s", "int64_vocabulary", "cats_int64")


@dataclass(slots=True)
class Vocabulary:
    """Known values per input name: the smallest indexed table, and the categories it is looked up in."""

    limits: dict[str, int] = field(default_factory=dict)
    strings: dict[str, tuple[str, ...]] = field(default_factory=dict)
    integers: dict[str, tuple[int, ...]] = field(default_factory=dict)
    sizes: dict[tuple[str, int], int] = field(default_factory=dict)
    """Sizes that the first weights after an input require, by (input, axis); a negative axis counts from the end."""


def find_vocabulary(model: onnx.ModelProto | None, inputs: tuple[str, ...]) -> Vocabulary:
    """Follow each input through operators that keep its values, to the place where they are looked up."""
    found = Vocabulary()
    if model is None:
        return found
    tracer = _Tracer(model)
    for name in inputs:
        for node, position in tracer.uses(name, _SHAPE_SAME):
            size = tracer.expected_size(node, position)
            if size is not None:
                found.sizes.setdefault((name, size[0]), size[1])
        for node, position in tracer.uses(name, _SAME):
            rows = tracer.rows(node, position)
            if rows is not None:
                found.limits[name] = min(rows, found.limits.get(name, rows))
            for attribute in node.attribute:
                if text(attribute.name) in _STRINGS and attribute.strings:
                    found.strings[name] = tuple(text(s) for s in attribute.strings)
                if text(attribute.name) in _INTEGERS and attribute.ints:
                    found.integers[name] = tuple(attribute.ints)
    return found


class _Tracer:
    def __init__(self, model: onnx.ModelProto) -> None:
        self._users: dict[str, list[tuple[onnx.NodeProto, int]]] = {}
        self._makers: dict[str, onnx.NodeProto] = {}
        self._dims: dict[str, tuple[int, ...]] = {}
        for body in walk_bodies(model.graph):
            if isinstance(body, onnx.GraphProto):
                self._dims.update({text(i.name): tuple(i.dims) for i in body.initializer})
        inlined = inline(model) if model.functions else None
        for body in walk_bodies(inlined[1].graph if inlined is not None else model.graph):
            for node in body.node:
                for position, name in enumerate(node.input):
                    self._users.setdefault(text(name), []).append((node, position))
                self._makers.update((text(name), node) for name in node.output)

    def uses(self, name: str, through: frozenset[str]) -> Iterator[tuple[onnx.NodeProto, int]]:
        """Yield every node that `name` reaches through the operators in `through`, with its input position."""
        waiting, seen = [name], {name}
        while waiting:
            for node, position in self._users.get(waiting.pop(), []):
                yield node, position
                chooses = node.op_type == "Where" and position > 0
                spreading = through is _SAME and (node.op_type in _SPREADING or chooses)
                if (node.op_type in through and position == 0) or spreading:
                    fresh = [out for out in node.output if out not in seen]
                    seen.update(fresh)
                    waiting.extend(fresh)

    def rows(self, node: onnx.NodeProto, position: int) -> int | None:
        """Return the rows of the table in which `node` looks values up; None if it is no lookup."""
        if node.op_type in ("Gather", "GatherBlockQuantized") and position == 1:
            dims = self._table(node.input[0])
            axis = next((a.i for a in node.attribute if a.name in ("axis", "gather_axis")), 0)
            return dims[axis] if dims and -len(dims) <= axis < len(dims) else None
        if node.op_type in ("EmbedLayerNormalization", "SkipEmbedLayerNormalization"):
            table = _EMBED_TABLES.get(position)
            if table is not None and table < len(node.input):
                dims = self._table(node.input[table])
                return dims[0] if dims else None
        return None

    def expected_size(self, node: onnx.NodeProto, position: int) -> tuple[int, int] | None:
        """Return the (axis, size) that the weights of `node` require of its first input."""
        if position != 0:
            return None
        if node.op_type.startswith("TreeEnsemble"):
            used = [max(a.ints) for a in node.attribute if a.name == "nodes_featureids" and a.ints]
            return (-1, used[0] + 1) if used else None
        dims = self._table(node.input[1]) if len(node.input) > 1 else None
        if not dims or len(dims) < 2:
            return None
        number = {a.name: a.i for a in node.attribute}
        if node.op_type in ("MatMul", "MatMulInteger"):
            return -1, dims[-2]
        if node.op_type == "Gemm":
            return -1, dims[1] if number.get("transB", 0) else dims[0]
        if node.op_type in ("LSTM", "GRU", "RNN") and len(dims) == 3:
            return -1, dims[2]
        return (1, dims[1] * number.get("group", 1)) if node.op_type in ("Conv", "ConvInteger") else None

    def _table(self, name: str) -> tuple[int, ...] | None:
        for _ in range(8):
            if name in self._dims:
                return self._dims[name]
            maker = self._makers.get(name)
            if maker is None:
                return None
            if maker.op_type == "Constant":
                return next((tuple(a.t.dims) for a in maker.attribute if a.HasField("t")), None)
            if maker.op_type not in _TABLE_SAME or not maker.input:
                return None
            name = maker.input[0]
        return None
