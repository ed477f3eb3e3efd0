"""Good values for inputs, found in the graph: rows of indexed tables and known categories."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import onnx

from tuibench.model.graph import text, walk_bodies

_MOST_UNFOLDED = 20_000


@dataclass(frozen=True, slots=True)
class Step:
    """One node; its tensor names are unique in the whole model, also inside a function."""

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Sequence[onnx.AttributeProto] = ()


def walk_steps(model: onnx.ModelProto) -> Iterator[Step]:
    """Yield every step of all graphs; replace a call by the steps of its function, which may come later."""
    functions = {(f.domain, f.name): f for f in model.functions}
    graphs = [body for body in walk_bodies(model.graph) if isinstance(body, onnx.GraphProto)]
    waiting = deque((node, "") for graph in graphs for node in graph.node)
    unfolded = 0
    while waiting:
        node, scope = waiting.popleft()
        inputs = tuple(_scoped(name, scope) for name in node.input)
        outputs = tuple(_scoped(name, scope) for name in node.output)
        function = functions.get((node.domain, node.op_type))
        # Without this limit, functions that call themselves or each other would never end.
        if function is None or unfolded >= _MOST_UNFOLDED:
            yield Step(text(node.op_type), inputs, outputs, node.attribute)
            continue
        unfolded += len(function.node) + 1
        inside = f"call {unfolded}/"
        yield from (Step("Identity", (o,), (_scoped(i, inside),)) for o, i in zip(inputs, function.input, strict=False))
        yield from (
            Step("Identity", (_scoped(i, inside),), (o,)) for o, i in zip(outputs, function.output, strict=False)
        )
        waiting.extend((inner, inside) for inner in function.node)


def _scoped(name: str | bytes, scope: str) -> str:
    return scope + text(name) if name else ""


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
            for attribute in node.attributes:
                if text(attribute.name) in _STRINGS and attribute.strings:
                    found.strings[name] = tuple(text(s) for s in attribute.strings)
                if text(attribute.name) in _INTEGERS and attribute.ints:
                    found.integers[name] = tuple(attribute.ints)
    return found


class _Tracer:
    def __init__(self, model: onnx.ModelProto) -> None:
        self._users: dict[str, list[tuple[Step, int]]] = {}
        self._makers: dict[str, Step] = {}
        self._dims: dict[str, tuple[int, ...]] = {}
        for body in walk_bodies(model.graph):
            if isinstance(body, onnx.GraphProto):
                self._dims.update({text(i.name): tuple(i.dims) for i in body.initializer})
        for node in walk_steps(model):
            for position, name in enumerate(node.inputs):
                self._users.setdefault(name, []).append((node, position))
            for name in node.outputs:
                self._makers[name] = node

    def uses(self, name: str, through: frozenset[str]) -> Iterator[tuple[Step, int]]:
        """Yield every node that `name` reaches through the operators in `through`, with its input position."""
        waiting, seen = [name], {name}
        while waiting:
            for node, position in self._users.get(waiting.pop(), []):
                yield node, position
                chooses = node.operator == "Where" and position > 0
                spreading = through is _SAME and (node.operator in _SPREADING or chooses)
                if (node.operator in through and position == 0) or spreading:
                    fresh = [out for out in node.outputs if out not in seen]
                    seen.update(fresh)
                    waiting.extend(fresh)

    def rows(self, node: Step, position: int) -> int | None:
        """Return the rows of the table in which `node` looks values up; None if it is no lookup."""
        if node.operator in ("Gather", "GatherBlockQuantized") and position == 1:
            dims = self._table(node.inputs[0])
            axis = next((a.i for a in node.attributes if a.name in ("axis", "gather_axis")), 0)
            return dims[axis] if dims and -len(dims) <= axis < len(dims) else None
        if node.operator in ("EmbedLayerNormalization", "SkipEmbedLayerNormalization"):
            table = _EMBED_TABLES.get(position)
            if table is not None and table < len(node.inputs):
                dims = self._table(node.inputs[table])
                return dims[0] if dims else None
        return None

    def expected_size(self, node: Step, position: int) -> tuple[int, int] | None:
        """Return the (axis, size) that the weights of `node` require of its first input."""
        if position != 0:
            return None
        if node.operator.startswith("TreeEnsemble"):
            used = [max(a.ints) for a in node.attributes if a.name == "nodes_featureids" and a.ints]
            return (-1, used[0] + 1) if used else None
        dims = self._table(node.inputs[1]) if len(node.inputs) > 1 else None
        if not dims or len(dims) < 2:
            return None
        number = {a.name: a.i for a in node.attributes}
        if node.operator in ("MatMul", "MatMulInteger"):
            return -1, dims[-2]
        if node.operator == "Gemm":
            return -1, dims[1] if number.get("transB", 0) else dims[0]
        if node.operator in ("LSTM", "GRU", "RNN") and len(dims) == 3:
            return -1, dims[2]
        return (1, dims[1] * number.get("group", 1)) if node.operator in ("Conv", "ConvInteger") else None

    def _table(self, name: str) -> tuple[int, ...] | None:
        for _ in range(8):
            if name in self._dims:
                return self._dims[name]
            maker = self._makers.get(name)
            if maker is None:
                return None
            if maker.operator == "Constant":
                return next((tuple(a.t.dims) for a in maker.attributes if a.HasField("t")), None)
            if maker.operator not in _TABLE_SAME or not maker.inputs:
                return None
            name = maker.inputs[0]
        return None
