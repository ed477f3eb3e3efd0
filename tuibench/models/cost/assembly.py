"""Builds the cost profile of a model from nodes, shapes and weights: one cost per node, totals of the known costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from tuibench.core.profile import LEFT_OUT, CostProfile, CountBound, NodeCost
from tuibench.core.text import show
from tuibench.models.cost.branch import choose_branches
from tuibench.models.cost.call import Call, Work
from tuibench.models.cost.calls import UNEXPANDED
from tuibench.models.cost.catalog import count_call
from tuibench.models.cost.constant import Constants
from tuibench.models.cost.expansion import Expansion
from tuibench.models.cost.known import Execution, Known
from tuibench.models.cost.liveness import find_peak
from tuibench.models.cost.parameter import Holding
from tuibench.models.cost.quantized import multiplies_integers
from tuibench.models.cost.site import Site


@dataclass(frozen=True)
class Setting:
    """Batch, items and dims of a cost profile, and the origin of its shapes."""

    batch: int | None
    items: int
    dims: Mapping[str, int]
    shapes_from: str
    notes: tuple[str, ...] = ()
    bound: CountBound | None = None


def assemble(
    expansion: Expansion, known: Known, constants: Constants, holdings: Sequence[Holding], setting: Setting
) -> CostProfile:
    """Return the cost profile of a model."""
    costs = [_cost(site, known, constants, held) for site, held in zip(expansion.sites, holdings, strict=True)]
    if not known.traced:
        choose_branches(expansion.sites, costs)
    peak = find_peak(expansion.sites, expansion.top, constants, known)
    grouped = groupby(zip(expansion.owners, costs, strict=True), key=lambda pair: pair[0].index)
    nodes = tuple(
        _merge(site, [cost for _, cost in group], expansion.bound is not None)
        for site, (_, group) in zip(expansion.originals, ((i, list(g)) for i, g in grouped), strict=True)
    )
    return CostProfile(
        nodes=nodes,
        batch=setting.batch,
        items=setting.items,
        dims=dict(setting.dims),
        macs=sum(node.macs or 0 for node in nodes),
        element_flops=sum(node.element_flops or 0 for node in nodes),
        parameters=sum(node.parameters for node in nodes),
        zeros=sum(node.zeros for node in nodes),
        weight_bytes=_weight_bytes(expansion.sites, constants),
        activation_bytes=sum(node.activation_bytes or 0 for node in nodes),
        peak_activation_bytes=peak,
        unknown=sum(_is_unknown(node) for node in nodes),
        shapes_from=setting.shapes_from,
        notes=setting.notes,
        bound=setting.bound,
    )


def _weight_bytes(sites: Sequence[Site], constants: Constants) -> int:
    """Return the bytes of all constants that any node reads, each counted once."""
    seen = {constant for site in sites for constant in constants.sources(site)}
    return sum(constant.size for constant in seen)


def _is_unknown(node: NodeCost) -> bool:
    return node.times is None or node.macs is None or node.element_flops is None or node.activation_bytes is None


def _cost(site: Site, known: Known, constants: Constants, held: Holding) -> NodeCost:
    executions = known.executions(site)
    first = executions[0]
    work, why, times = Work(), known.reasons.get(site.index, ""), known.times[site.index]
    moved: int | None = 0
    if times != 0:
        work = _work(site, executions)
        moved, lacking = (0, "") if site.inner else _moved(site, executions, constants)
        why = LEFT_OUT if site.node.overload == UNEXPANDED else work.why or lacking or why
        if times is None and not why:
            why = "how often it runs is not known: its figures are those of one time"
    return NodeCost(
        id=site.id,
        index=site.index,
        op=site.op,
        name=site.name,
        weight=held.weight,
        weight_shape=held.shape,
        input_shapes=tuple(t.shape if t is not None else None for t in first.inputs),
        output_shape=first.outputs[0].shape if first.outputs and first.outputs[0] is not None else None,
        macs=work.macs,
        element_flops=work.element_flops,
        parameters=held.parameters,
        zeros=held.zeros,
        weight_bytes=held.weight_bytes,
        activation_bytes=moved,
        times=times,
        integer=work.integer,
        why=why,
    )


def _work(site: Site, executions: Sequence[Execution]) -> Work:
    """Return the work of a node, summed over its executions."""
    quantized = multiplies_integers(site)
    works = [(count_call(Call(site.node, e.inputs, e.outputs, quantized)), e.times) for e in executions]
    return Work(
        macs=_sum([(work.macs, times) for work, times in works]),
        element_flops=_sum([(work.element_flops, times) for work, times in works]),
        integer=any(work.integer for work, _ in works),
        why=next((work.why for work, _ in works if work.why), ""),
    )


def _sum(figures: Sequence[tuple[int | None, int]]) -> int | None:
    total = 0
    for figure, times in figures:
        if figure is None:
            return None
        total += figure * times
    return total


def _known_sum(figures: Sequence[tuple[int | None, int]]) -> int | None:
    known = [(figure, times) for figure, times in figures if figure is not None]
    return _sum(known) if known else None


def _moved(site: Site, executions: Sequence[Execution], constants: Constants) -> tuple[int | None, str]:
    """Return the bytes read and written except constants, or None and the missing size."""
    constant = [not name or constants.find(site.scope, name) is not None for name in site.inputs]
    total = 0
    for execution in executions:
        for name, tensor, skip in (
            *zip(site.inputs, execution.inputs, constant, strict=True),
            *((name, tensor, False) for name, tensor in zip(site.outputs, execution.outputs, strict=True)),
        ):
            if tensor is None or skip:
                continue
            if tensor.size is None:
                return None, f"the size of '{show(name, 60)}' is not known"
            total += tensor.size * execution.times
    return total, ""


def _merge(site: Site, parts: list[NodeCost], is_limited: bool) -> NodeCost:
    """Return the cost of one node of the file, for a call the sum over its function; a lower bound if limited."""
    if len(parts) == 1 and parts[0].id == site.id:
        own, named = parts[0], (site.index, site.op, site.name)
        # The result of an expansion has another index, and a function's only node another operator.
        if (own.index, own.op, own.name) == named:
            return own
        return replace(own, index=site.index, op=site.op, name=site.name)
    large = max(parts, key=lambda part: (part.macs or 0, part.parameters))
    is_part = is_limited and any(map(_is_unknown, parts))
    add = _known_sum if is_part else _sum
    return replace(
        large,
        id=site.id,
        index=site.index,
        op=site.op,
        name=site.name,
        input_shapes=tuple(site.scope.tensor(name).shape for name in site.inputs),
        output_shape=parts[-1].output_shape,
        macs=add([(part.macs, 1) for part in parts]),
        element_flops=add([(part.element_flops, 1) for part in parts]),
        parameters=sum(part.parameters for part in parts),
        zeros=sum(part.zeros for part in parts),
        weight_bytes=sum(part.weight_bytes for part in parts),
        activation_bytes=add([(part.activation_bytes, 1) for part in parts]),
        times=None if is_part else _times([part.times for part in parts]),
        integer=any(part.integer for part in parts),
        why=next((part.why for part in parts if _is_unknown(part)), ""),
    )


def _times(parts: Sequence[int | None]) -> int | None:
    return None if None in parts else max((part for part in parts if part is not None), default=0)
