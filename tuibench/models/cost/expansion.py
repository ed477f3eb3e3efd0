"""The model as it is counted: bodies in the place of calls of its functions, every node with a name of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass

import onnx
from onnx import inliner

from tuibench.models.cost.site import Scope, Site, find_sites
from tuibench.models.graph import text

# Whatever else a name may hold would have to survive the profiler's JSON.
_PLAIN = re.compile(r"[\w./:+-]{1,400}", re.ASCII)


@dataclass
class Expansion:
    """What is run and counted, and whose each of its nodes is."""

    model: onnx.ModelProto
    sites: list[Site]
    top: Scope
    owners: list[Site]
    """For each of `sites` the node of the original that it belongs to."""
    originals: list[Site]
    names: list[str]
    """Of each of `sites` in the profiler's events."""
    renamed: bool
    """Whether those are others than in the file."""


def expand(model: onnx.ModelProto) -> Expansion:
    """Prepare a model for counting; the one that is passed stays as it is."""
    originals, top = find_sites(model.graph)
    flat = _inline(model) if _calls(model, originals) else None
    if flat is not None:
        sites, flat_top = find_sites(flat.graph)
        owners = _owners(model, originals, sites)
        if owners is not None:
            return _name(flat, sites, flat_top, owners, originals)
    return _name(model, originals, top, originals, originals)


def to_bytes(expansion: Expansion) -> bytes:
    """The model with its nodes under the names that events are told by; its external weights stay where they are."""
    for site, name in zip(expansion.sites, expansion.names, strict=True):
        site.node.name = name
    serialized: bytes = expansion.model.SerializeToString()
    return serialized


def _inline(model: onnx.ModelProto) -> onnx.ModelProto | None:
    """A copy with bodies in the place of calls; weights are spared the way through the inliner, which copies twice."""
    bare = onnx.ModelProto(ir_version=model.ir_version, opset_import=model.opset_import, functions=model.functions)
    bare.graph.name = "taken apart"
    for field in ("node", "input", "output", "value_info"):
        getattr(bare.graph, field).extend(getattr(model.graph, field))
    try:
        flat = inliner.inline_local_functions(bare)
    except MemoryError:
        raise
    except Exception:  # a C++ library refuses what calls itself or is of another opset: calls then stay unknown
        return None
    flat.graph.initializer.extend(model.graph.initializer)
    flat.graph.sparse_initializer.extend(model.graph.sparse_initializer)
    return flat


def _name(
    model: onnx.ModelProto, sites: list[Site], top: Scope, owners: list[Site], originals: list[Site]
) -> Expansion:
    names = [site.name for site in sites]
    renamed = len(set(names)) < len(names) or not all(_PLAIN.fullmatch(name) for name in names)
    if renamed:
        names = [f"node{site.index}" for site in sites]
    return Expansion(model, sites, top, owners, originals, names, renamed or sites is not originals)


def _calls(model: onnx.ModelProto, sites: list[Site]) -> bool:
    known = set(map(_key, model.functions))
    return any(_called(site.node) in known for site in sites) if known else False


_Key = tuple[str, str, str]
"""By what a function is called: one name may stand for several forms of it."""


def _key(function: onnx.FunctionProto) -> _Key:
    return text(function.domain), text(function.name), text(function.overload)


def _called(node: onnx.NodeProto) -> _Key:
    return text(node.domain), text(node.op_type), text(node.overload)


def _owners(model: onnx.ModelProto, originals: list[Site], sites: list[Site]) -> list[Site] | None:
    """The inliner keeps the order: a call gives way to as many nodes as its body has, calls within it replaced too.

    None where it left calls as they were, or nothing of one.
    """
    known = set(map(_key, model.functions))
    if any(_called(site.node) in known for site in sites):
        return None
    lengths = _Lengths(model)
    counts = [lengths.of_node(site.node, own_subgraphs=False) for site in originals]
    owners = [site for site, count in zip(originals, counts, strict=True) for _ in range(count)]
    return owners if len(owners) == len(sites) and all(counts) else None


class _Lengths:
    """How many nodes a node becomes."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._functions = {_key(function): function for function in model.functions}
        self._known: dict[_Key, int] = {}

    def of_node(self, node: onnx.NodeProto, own_subgraphs: bool = True) -> int:
        """One, or the length of the function that it calls; nodes in its subgraphs beside that."""
        key = _called(node)
        own = self._of_function(key) if key in self._functions else 1
        if not own_subgraphs:
            return own
        graphs = [g for a in node.attribute for g in ([a.g] if a.HasField("g") else list(a.graphs))]
        return own + sum(self.of_node(inner) for graph in graphs for inner in graph.node)

    def _of_function(self, key: _Key) -> int:
        if key not in self._known:
            # Functions that call themselves are not inlined.
            self._known[key] = sum(self.of_node(node) for node in self._functions[key].node)
        return self._known[key]
