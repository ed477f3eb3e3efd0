"""Calls of a model's own functions: their expanded lengths, and the calls to leave out if there are too many nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import onnx

from tuibench.models.graph import Body, text, walk_bodies

MOST_NODES = 20_000
"""Total limit of nodes that calls expand to: about 2 s and 60 MB of counting."""
UNEXPANDED = "tuibench: left out"
"""Overload of a call that is not expanded; no function has this overload."""
_PART = "tuibench: part "
"""Prefix of the overload of a partly expanded function."""
_ENDLESS = 1 << 62
"""Largest length that is counted."""

Key = tuple[str, str, str]
"""Domain, name and overload; one name may have several overloads."""


def key_of(function: onnx.FunctionProto) -> Key:
    """Return the key of a function."""
    return text(function.domain), text(function.name), text(function.overload)


def called(node: onnx.NodeProto) -> Key:
    """Return the key of the function that a node would call."""
    return text(node.domain), text(node.op_type), text(node.overload)


def expanded_lengths(functions: Iterable[onnx.FunctionProto]) -> dict[Key, int] | None:
    """Return the number of nodes that each function expands to; None if a function calls itself."""
    known = {key_of(function): Counter(map(called, _nodes(function))) for function in functions}
    lengths: dict[Key, int] = {}
    for first in known:
        waiting, open_ = [first], set[Key]()
        while waiting:
            key = waiting[-1]
            missing = [callee for callee in known[key] if callee in known and callee not in lengths]
            if key in lengths or not missing:
                waiting.pop()
                open_.discard(key)
                total = sum(count * lengths.get(callee, 1) for callee, count in known[key].items())
                lengths[key] = min(total, _ENDLESS)
            elif key in open_:
                return None
            else:
                open_.add(key)
                waiting += missing
    return lengths


def limit_calls(model: onnx.ModelProto, lengths: Mapping[Key, int], budget: int = MOST_NODES) -> bool:
    """Leave out calls, in the model's order, so that the rest expands to `budget` nodes; return False if all fit.

    The first call that does not fit is expanded in part, so that its innermost nodes are counted too.
    """
    if sum(lengths.get(called(node), 0) for node in _nodes(model.graph)) <= budget:
        return False
    functions = {key_of(function): function for function in model.functions}
    body: Body | None = model.graph
    depth, left = 0, budget
    while body is not None:
        part: Key | None = None
        nodes = list(_nodes(body))
        left -= sum(called(node) not in lengths for node in nodes) if depth else 0
        for node in nodes:
            key = called(node)
            length = lengths.get(key)
            if length is None:
                continue
            if length <= left:
                left -= length
            elif part is None and left > 0:
                part, node.overload = key, f"{_PART}{depth}"
            else:
                node.overload = UNEXPANDED
        body = None
        if part is not None:
            body = model.functions.add()
            body.CopyFrom(functions[part])
            body.overload = f"{_PART}{depth}"
            depth += 1
    return True


def _nodes(body: Body) -> Iterator[onnx.NodeProto]:
    for inner in walk_bodies(body):
        yield from inner.node
