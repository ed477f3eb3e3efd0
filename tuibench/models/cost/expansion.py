"""The model as it is counted: bodies in the place of calls of its functions, every node with a name of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import onnx
from onnx import inliner

from tuibench.core.profile import NODES, CountBound
from tuibench.models.cost.calls import MOST_NODES, UNEXPANDED, called, expanded_lengths, key_of, limit_calls
from tuibench.models.cost.site import Scope, Site, find_sites

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
    bound: CountBound | None = None
    """Set if calls were left out."""


def expand(model: onnx.ModelProto) -> Expansion:
    """Prepare a model for counting; the one that is passed stays as it is."""
    originals, top = find_sites(model.graph)
    flat = None
    if _calls(model, originals):
        bare = _without_weights(model)
        lengths = expanded_lengths(model.functions)
        # A function that calls itself has no end, so that its calls stay unknown.
        is_limited = lengths is not None and limit_calls(bare, lengths)
        flat = _inline(model, bare) if lengths is not None else None
    if flat is not None:
        sites, flat_top = find_sites(flat.graph)
        owners = _owners(bare, originals, sites)
        if owners is not None:
            bound = (
                CountBound(NODES, MOST_NODES, sum(site.node.overload != UNEXPANDED for site in sites))
                if is_limited
                else None
            )
            return replace(_name(flat, sites, flat_top, owners, originals), bound=bound)
    return _name(model, originals, top, originals, originals)


def to_bytes(expansion: Expansion) -> bytes:
    """The model with its nodes under the names that events are told by; its external weights stay where they are."""
    for site, name in zip(expansion.sites, expansion.names, strict=True):
        site.node.name = name
    serialized: bytes = expansion.model.SerializeToString()
    return serialized


def _without_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy for the inliner, which copies twice: weights are spared that."""
    bare = onnx.ModelProto(ir_version=model.ir_version, opset_import=model.opset_import, functions=model.functions)
    bare.graph.name = "taken apart"
    for field in ("node", "input", "output", "value_info"):
        getattr(bare.graph, field).extend(getattr(model.graph, field))
    return bare


def _inline(model: onnx.ModelProto, bare: onnx.ModelProto) -> onnx.ModelProto | None:
    """The model with bodies in the place of calls."""
    try:
        flat = inliner.inline_local_functions(bare)
    except MemoryError:
        raise
    except Exception:  # a C++ library refuses what is of another opset: calls then stay unknown
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
    known = set(map(key_of, model.functions))
    return any(called(site.node) in known for site in sites) if known else False


def _owners(bare: onnx.ModelProto, originals: list[Site], sites: list[Site]) -> list[Site] | None:
    """The inliner keeps the order: a call gives way to as many nodes as its body has, calls within it replaced too.

    None where it left calls as they were, or nothing of one.
    """
    lengths = expanded_lengths(bare.functions)
    if lengths is None or any(called(site.node) in lengths for site in sites):
        return None
    asked, _ = find_sites(bare.graph)
    counts = [lengths.get(called(site.node), 1) for site in asked]
    owners = [site for site, count in zip(originals, counts, strict=True) for _ in range(count)]
    return owners if len(owners) == len(sites) and all(counts) else None
