"""Nodes of a model as plain steps, with calls of the model's own functions expanded."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import onnx

from tuibench.models.graph import text, walk_bodies

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
