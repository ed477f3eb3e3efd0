"""Model to count: calls replaced by function bodies, unique node names, limited loops, relocated weights."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import onnx
from onnx import inliner

from tuibench.core.profile import NODES, CountBound
from tuibench.model.cost.executions import Trace, scalar
from tuibench.model.cost.structure import (
    MOST_NODES,
    UNEXPANDED,
    Scope,
    Site,
    called,
    ends,
    expanded_lengths,
    find_sites,
    key_of,
    limit_calls,
)
from tuibench.model.file import extent, is_external
from tuibench.model.graph import walk_weights

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
    inlined = inline(model) if _calls(model, originals) else None
    if inlined is not None:
        bare, flat, is_limited = inlined
        flat.graph.initializer.extend(model.graph.initializer)
        flat.graph.sparse_initializer.extend(model.graph.sparse_initializer)
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


def inline(model: onnx.ModelProto) -> tuple[onnx.ModelProto, onnx.ModelProto, bool] | None:
    """Return a copy without weights, the same with its calls replaced by their bodies, and whether some were left out.

    None if that fails.
    """
    bare = _without_weights(model)
    lengths = expanded_lengths(model.functions)
    # A function that calls itself has no end, so its calls stay unknown.
    if lengths is None:
        return None
    is_limited = limit_calls(bare, lengths)
    try:
        return bare, inliner.inline_local_functions(bare), is_limited
    except MemoryError:
        raise
    except Exception:  # the C++ library rejects functions of another opset: their calls stay unknown
        return None


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


MOST_EXECUTED = 75_000
"""Limit of node executions in one loop: the profiler keeps about 2 kB for each, and a model is run twice."""
LOOPS = ("Loop", "Scan")


@contextmanager
def limited_loops(expansion: Expansion) -> Iterator[Mapping[int, int]]:
    """Limit loops that have no lower limit while the block runs; yield the turns by loop index.

    A limit that only a run can show stays unchanged.
    """
    limits = _limits(expansion.sites)
    before = {index: list(expansion.sites[index].node.input) for index in limits}
    weights = expansion.model.graph.initializer
    count = len(weights)
    for index, turns in limits.items():
        node, name = expansion.sites[index].node, f"tuibench: limit of node {index}"
        weights.append(onnx.helper.make_tensor(name, onnx.TensorProto.INT64, [], [turns]))
        _set_inputs(node, [name, *before[index][1:]])
    try:
        yield limits
    finally:
        for index, inputs in before.items():
            _set_inputs(expansion.sites[index].node, inputs)
        del weights[count:]


def reached(expansion: Expansion, limits: Mapping[int, int], trace: Trace) -> bool:
    """Return whether a loop ran as often as its limit allows."""
    names = expansion.names
    return any(
        trace.times(names[site.index]) >= limits.get(site.scope.owner, MOST_EXECUTED + 1) for site in expansion.sites
    )


def _limits(sites: list[Site]) -> dict[int, int]:
    last, limits = ends(sites), {}
    for site in sites:
        if site.op != "Loop" or not site.node.input:
            continue
        turns = max(MOST_EXECUTED // max(last[site.index] - site.index - 1, 1), 1)
        given = scalar(site.scope, site.inputs[0]) if site.inputs[0] else None
        if not site.inputs[0] or (given is not None and given > turns):
            limits[site.index] = turns
    return limits


def _set_inputs(node: onnx.NodeProto, names: list[str]) -> None:
    del node.input[:]
    node.input.extend(names)


def locate_weights(expansion: Expansion, path: Path) -> tuple[bytes, str]:
    """Return the bytes of the model to run, and the folder of its external weights.

    A download cache links to files elsewhere; the engine follows such links only for a model loaded from a path.
    """
    serialized = to_bytes(expansion)
    real = _real_paths(expansion.model, path)
    beside = str(path.parent.resolve())
    if all(os.path.dirname(found) == beside for found in real.values()):
        return serialized, beside
    folder = os.path.commonpath([os.path.dirname(found) for found in real.values()])
    # Change a copy, since zeros are still read from the model's own locations.
    moved = onnx.ModelProto.FromString(serialized)
    for tensor in walk_weights(moved):
        for entry in tensor.external_data:
            if entry.key == "location" and is_external(tensor):
                entry.value = os.path.relpath(real[entry.value], folder)
    found: bytes = moved.SerializeToString()
    return found, folder


def _real_paths(model: onnx.ModelProto, path: Path) -> dict[str, str]:
    """Return the real path of each location in the model; raise ModelError if a file is missing or elsewhere."""
    sizes: dict[Path, int] = {}
    return {
        entry.value: os.path.realpath(extent(tensor, path, sizes).path)
        for tensor in walk_weights(model)
        if is_external(tensor)
        for entry in tensor.external_data
        if entry.key == "location"
    }
