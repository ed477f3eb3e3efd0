"""Model with its function calls replaced by their bodies and a unique name for every node."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import onnx
from onnx import inliner

from tuibench.core.profile import NODES, CountBound
from tuibench.models.cost.calls import MOST_NODES, UNEXPANDED, called, expanded_lengths, key_of, limit_calls
from tuibench.models.cost.site import Scope, Site, find_sites

# Any other character would have to survive the profiler's JSON.
_PLAIN = re.compile(r"[\w./:+-]{1,400}", re.ASCII)


@dataclass
class Expansion:
    """Expanded model with, for each of its nodes, the node of the original that it belongs to."""

    model: onnx.ModelProto
    sites: list[Site]
    top: Scope
    owners: list[Site]
    """The original node for each of `sites`."""
    originals: list[Site]
    names: list[str]
    """Names of `sites` in the profiler's events."""
    renamed: bool
    """True if the names differ from those in the file."""
    bound: CountBound | None = None
    """Set if calls were left out."""


def expand(model: onnx.ModelProto) -> Expansion:
    """Prepare a model for counting, without changing the one passed in."""
    originals, top = find_sites(model.graph)
    flat = None
    if _calls(model, originals):
        bare = _without_weights(model)
        lengths = expanded_lengths(model.functions)
        # A function that calls itself has no end, so its calls stay unknown.
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
    """Return the model with its nodes under the names used in events; its external weights stay in place."""
    for site, name in zip(expansion.sites, expansion.names, strict=True):
        site.node.name = name
    serialized: bytes = expansion.model.SerializeToString()
    return serialized


def _without_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy without weights for the inliner, which copies its input twice."""
    bare = onnx.ModelProto(ir_version=model.ir_version, opset_import=model.opset_import, functions=model.functions)
    bare.graph.name = "taken apart"
    for field in ("node", "input", "output", "value_info"):
        getattr(bare.graph, field).extend(getattr(model.graph, field))
    return bare


def _inline(model: onnx.ModelProto, bare: onnx.ModelProto) -> onnx.ModelProto | None:
    """Return the model with its calls replaced by their bodies, or None if that fails."""
    try:
        flat = inliner.inline_local_functions(bare)
    except MemoryError:
        raise
    except Exception:  # the C++ library rejects functions of another opset: their calls stay unknown
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
    """Return the original node of each expanded node; the inliner keeps the order of nodes.

    A call becomes as many nodes as its expanded body has. Return None if the inliner kept a call or dropped one.
    """
    lengths = expanded_lengths(bare.functions)
    if lengths is None or any(called(site.node) in lengths for site in sites):
        return None
    asked, _ = find_sites(bare.graph)
    counts = [lengths.get(called(site.node), 1) for site in asked]
    owners = [site for site, count in zip(originals, counts, strict=True) for _ in range(count)]
    return owners if len(owners) == len(sites) and all(counts) else None
