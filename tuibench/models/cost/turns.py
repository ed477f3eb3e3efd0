"""Loop limits for runs that find shapes: an endless loop ends after a known number of turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import onnx

from tuibench.models.cost.branch import ends
from tuibench.models.cost.expansion import Expansion
from tuibench.models.cost.site import Site
from tuibench.models.cost.trace import Trace
from tuibench.models.cost.trips import scalar

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
