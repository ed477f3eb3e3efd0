"""Assembly of a profile from its parts, with an interval for every layer."""

from __future__ import annotations

import math
import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tuibench.core.cell import Estimate, Grade
from tuibench.core.model import Point
from tuibench.core.profile import (
    COSTS,
    FOLDED,
    INT8,
    LAYER,
    LOSS,
    RESIDUAL,
    UNMAPPED,
    CostProfile,
    KernelRow,
    LayerRun,
    LayerTime,
    LossProfile,
    NodeCost,
    PerformanceProfile,
    Profile,
    ProfileSpec,
    PrunedPoint,
    Roofline,
    WhatIf,
    ZeroEffect,
    own_key,
)
from tuibench.core.profile_facts import (
    F32,
    LossFacts,
    assemble_loss,
    describe_data,
    find_idle,
    first_points,
    least_ms,
    worst_layers,
)
from tuibench.core.reason import Reason, because, legacy_text
from tuibench.core.spec import BenchmarkSpec
from tuibench.runs.profile.parts import Parts, order_levels
from tuibench.stats.grading import grade_noise
from tuibench.stats.interval import log_interval


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """One row, with the rows that each process found for it."""

    row: KernelRow
    found: tuple[KernelRow, ...]
    """One row per process; without time if the process did not run it."""


def unite_rows(runs: Sequence[LayerRun]) -> list[ProcessRow]:
    """Return every row of any process, each node in one row: layers, then the engine's work, then folded nodes.

    Processes report the same rows, unless a branch ran in some only, or one identified kernels only by name.
    """
    rows: dict[str, KernelRow] = {}
    found: list[dict[str, KernelRow]] = []
    home: dict[str, str] = {}
    for run in runs:
        merged: dict[str, KernelRow] = {}
        for row in run.rows:
            if row.kind == FOLDED:
                continue
            key = row.key if row.key in rows else next((home[node] for node in row.nodes if node in home), row.key)
            new = tuple(node for node in row.nodes if node not in home)
            home.update(dict.fromkeys(new, key))
            known = rows.get(key)
            rows[key] = row if known is None else replace(known, nodes=(*known.nodes, *new)) if new else known
            merged[key] = _together(merged[key], row) if key in merged else row
        found.append(merged)
    united = [ProcessRow(row, tuple(merged.get(key) or _idle(row) for merged in found)) for key, row in rows.items()]
    return sorted(united, key=lambda one: one.row.kind != LAYER) + _done_beforehand(runs, home)


def _together(one: KernelRow, other: KernelRow) -> KernelRow:
    calls = None if one.calls is None or other.calls is None else one.calls + other.calls
    return replace(one, raw_us=one.raw_us + other.raw_us, us=one.us + other.us, calls=calls)


def _idle(row: KernelRow) -> KernelRow:
    return replace(row, raw_us=0.0, us=0.0, calls=0.0)


def _done_beforehand(runs: Sequence[LayerRun], home: dict[str, str]) -> list[ProcessRow]:
    """Return the rows of folded nodes, without nodes that some process ran."""
    rows: dict[str, KernelRow] = {}
    for row in (row for run in runs for row in run.rows if row.kind == FOLDED):
        left = tuple(node for node in row.nodes if node not in home)
        home.update(dict.fromkeys(left, row.key))
        known = rows.get(row.key)
        if left:
            rows[row.key] = replace(row, nodes=(*known.nodes, *left) if known is not None else left)
    return [ProcessRow(row, tuple(_idle(row) for _ in runs)) for row in rows.values()]


def total_of(own: Sequence[NodeCost], figures: Sequence[int | None]) -> int | None:
    """Return the sum over all nodes; None if a figure or a node's number of runs is unknown."""
    total = 0
    for cost, figure in zip(own, figures, strict=True):
        if figure is None or (cost.times is None and figure):
            return None
        total += figure
    return total


def bytes_moved(row: KernelRow, own: Sequence[NodeCost]) -> int | None:
    """Return the bytes that kernels read and write in one inference, without tensors inside a fused row.

    Constants are read each time a node runs. The result is None if a tensor size or number of runs is unknown.
    """
    weights = total_of(own, [cost.constant_bytes for cost in own])
    activations = row.activation_bytes
    if activations is None:
        activations = total_of(own, [cost.activation_bytes for cost in own])
    return None if activations is None or weights is None else activations + weights


def least_of(
    layer: LayerTime, own: Sequence[NodeCost], roofline: Roofline, precision: str = ""
) -> tuple[float | None, str, Reason | None]:
    """Return the least time of one inference, its roof, and the reason for no time.

    In a loop it is the time of one iteration × their number, as only one iteration must fit into a cache.
    """
    turns = max((cost.times or 1 for cost in own), default=1)
    flops = None if layer.flops is None else layer.flops / turns
    moved = None if layer.bytes_moved is None else layer.bytes_moved / turns
    ms, roof, why = least_ms(flops, moved, layer.integer, roofline, precision)
    return None if ms is None else ms * turns, roof, why


MOST_SCALED = 0.15
"""Layer times are scaled to the unprofiled time if the factor differs from 1 by no more than this."""
_LEAST_SUM = 0.6
_MOST_BIAS, _NOTABLE_BIAS = 0.5, 0.1
_REST = "profiler and runtime residual"


@dataclass(frozen=True, slots=True)
class _Scaling:
    """The sum of the layer times compared with the unprofiled time."""

    sum_us: float
    unprofiled_us: float
    factor: float
    notes: tuple[Reason, ...]


def assemble_performance(
    *,
    spec: BenchmarkSpec,
    point: Point,
    costs: CostProfile,
    runs: Sequence[LayerRun],
    roofline: Roofline | None = None,
    zero_effect: ZeroEffect | None = None,
    what_if: Mapping[tuple[str, str], WhatIf] | None = None,
    pruned: Sequence[PrunedPoint] = (),
) -> PerformanceProfile:
    """Return the profile of at least one process; each row has the times from all processes."""
    if not runs:
        raise ValueError("a performance profile needs at least one process")
    below = is_below_resolution(runs)
    rows = unite_rows(runs)
    scaling = _scale(runs, rows, below)
    layers = _layers(costs, rows, scaling, roofline, what_if or {}, " + ".join(_precisions(runs)))
    found = _profile(spec, point, costs, runs, layers, scaling, below, roofline, zero_effect)
    return replace(found, pruned=tuple(sorted(pruned, key=lambda one: (one.is_part, one.zeros))))


def _profile(
    spec: BenchmarkSpec,
    point: Point,
    costs: CostProfile,
    runs: Sequence[LayerRun],
    layers: Sequence[LayerTime],
    scaling: _Scaling,
    below: bool,
    roofline: Roofline | None,
    zero_effect: ZeroEffect | None,
) -> PerformanceProfile:  # long: one field a line
    total = log_interval([run.unprofiled_us for run in runs], 1e-3)
    first = runs[0]
    return PerformanceProfile(
        engine=spec.engines[0],
        engine_version=first.engine_version,
        cores=len(first.cpus),
        cpus=first.cpus,
        threads=first.threads,
        isa=first.isa,
        precision=" + ".join(_precisions(runs)) or spec.precision,
        batch=point.batch,
        items=point.items,
        dims=dict(point.dims),
        ms=total,
        grade=_grade(runs),
        layers=(*layers, _residual(layers, total, scaling)),
        sum_ms=scaling.sum_us / 1000,
        scale=scaling.factor,
        bias_us=statistics.median(run.bias_us for run in runs),
        below_resolution=below,
        attributed=_attributed(layers, scaling),
        processes=len(runs),
        runs=min(run.runs for run in runs),
        load_ms=statistics.median(run.load_ms for run in runs),
        peak_bytes=max((run.peak_bytes for run in runs if run.peak_bytes is not None), default=None),
        roofline=roofline,
        zero_effect=zero_effect,
        notes=tuple(
            dict.fromkeys(
                [
                    *(note for run in runs for note in run.notes),
                    *scaling.notes,
                    *_beyond_roofs(runs),
                    *_untold_forms(spec, below),
                    *_uncounted(costs, layers),
                ]
            )
        ),
    )


def _layers(
    costs: CostProfile,
    rows: Sequence[ProcessRow],
    scaling: _Scaling,
    roofline: Roofline | None,
    what_if: Mapping[tuple[str, str], WhatIf],
    precision: str,
) -> list[LayerTime]:
    by_id = {cost.id: cost for cost in costs.nodes}
    # A row is known to be float32 or INT8. The rows in a third precision are unknown, so it applies to all rows.
    whole = "" if {*precision.split(" + ")} <= {"", F32, INT8} else precision
    layers = [_layer(one, by_id, scaling, roofline, what_if, whole) for one in rows]
    return layers + _unseen(costs, layers)


def _precisions(runs: Sequence[LayerRun]) -> list[str]:
    """Return the precisions of all processes without duplicates, the one with most time first."""
    return list(dict.fromkeys(name for run in runs for name in run.precision.split(" + ") if name))


def _beyond_roofs(runs: Sequence[LayerRun]) -> tuple[Reason, ...]:
    """Return a note if the model computes in a precision for which no roof was measured."""
    beyond = [name for name in _precisions(runs) if name not in (F32, INT8)]
    return (because("roofs_of_other_precisions", roofs=[F32, INT8], names=beyond),) if beyond else ()


def _untold_forms(spec: BenchmarkSpec, below: bool) -> tuple[Reason, ...]:
    """Return a note if layers were requested in another form but no layer time is known."""
    forms = spec.profile.what_if if spec.profile is not None else ()
    if not forms or not below:
        return ()
    return (because("no_time_for_a_form", forms=forms),)


def _uncounted(costs: CostProfile, layers: Sequence[LayerTime]) -> tuple[Reason, ...]:
    """Return a note if costs of layers are unknown because their nodes were not counted."""
    own = [layer for layer in layers if layer.kind == LAYER]
    if own and not costs.nodes:
        return (because("layer_costs_unknown", reasons=costs.notes),)
    counted = {cost.id for cost in costs.nodes}
    missing = sum(not counted.issuperset(layer.nodes) for layer in own)
    return (because("some_layer_costs_unknown", missing=missing, of=len(own)),) if missing else ()


def is_below_resolution(runs: Sequence[LayerRun]) -> bool:
    """Return whether the profiler adds so much to an inference that layer times mean nothing."""
    whole = statistics.median(run.unprofiled_us for run in runs)
    added = statistics.median(run.bias_us * run.kernels for run in runs)
    kept = statistics.median(_sum_us(run) for run in runs)
    return added > _MOST_BIAS * whole or (kept < _LEAST_SUM * whole and added > _NOTABLE_BIAS * whole)


def _sum_us(run: LayerRun) -> float:
    return math.fsum(row.us for row in run.rows)


def _scale(runs: Sequence[LayerRun], rows: Sequence[ProcessRow], below: bool) -> _Scaling:
    # Add up the layers' log means, as shown. If a process was disturbed, they are less than the log mean of sums.
    sum_us = math.fsum(log_interval([other.us for other in one.found]).value or 0.0 for one in rows)
    whole = log_interval([run.unprofiled_us for run in runs]).value or 0.0
    factor = whole / sum_us if sum_us > 0 and whole > 0 else math.inf
    if abs(factor - 1) <= MOST_SCALED and not below:
        return _Scaling(sum_us, whole, factor, ())
    if below:
        note = Reason("overhead_exceeds_kernels")
    else:
        share = sum_us / whole if whole > 0 else None
        note = because("sum_too_far_to_scale", share=share, has_bound=factor <= 1)
    return _Scaling(sum_us, whole, 1.0, (note,))


def _layer(
    one: ProcessRow,
    costs: Mapping[str, NodeCost],
    scaling: _Scaling,
    roofline: Roofline | None,
    what_if: Mapping[tuple[str, str], WhatIf],
    precision: str,
) -> LayerTime:
    row = one.row
    own = [costs[name] for name in row.nodes if name in costs]
    # The cost of nodes that were not counted is unknown, not zero.
    known = len(own) == len(row.nodes)
    heaviest = max(own, key=_weight_of, default=None)
    multiplies = heaviest is not None and bool(heaviest.macs)
    layer = LayerTime(
        key=row.key,
        kind=row.kind,
        op=heaviest.op if heaviest is not None and multiplies and row.kind != FOLDED else row.op,
        nodes=row.nodes,
        kernels=row.kernels,
        kernel_op=row.kernel_op,
        weight=heaviest.weight if heaviest is not None else "",
        ms=_ms(row, one.found, scaling),
        macs=total_of(own, [cost.macs for cost in own]) if known else None,
        element_flops=total_of(own, [cost.element_flops for cost in own]) if known else None,
        parameters=sum(cost.parameters for cost in own) if known else None,
        zeros=sum(cost.zeros for cost in own) if known else None,
        bytes_moved=bytes_moved(row, own) if known else None,
        integer=row.integer,
        what_if=tuple(found for (name, _), found in what_if.items() if name in row.nodes),
    )
    if roofline is None or layer.ms.value is None:
        return layer
    roof_ms, roof, why = least_of(layer, own, roofline, row.precision or precision)
    return replace(layer, roof_ms=roof_ms, roof=roof, roof_reason=why)


def _weight_of(cost: NodeCost) -> tuple[int, int]:
    return cost.macs or 0, cost.parameters


def _ms(row: KernelRow, found: Sequence[KernelRow], scaling: _Scaling) -> Estimate:
    if row.kind == FOLDED:
        return Estimate(None, reason=Reason("folded"))
    if all(other.raw_us <= 0 for other in found):
        return Estimate(None, reason=Reason(_why_no_time(found)))
    return log_interval([other.us for other in found], scaling.factor / 1000)


def _why_no_time(found: Sequence[KernelRow]) -> str:
    """Return the code of the reason why a row has no time.

    The profiler counts whole microseconds, so only the call count separates a short time from no run.
    """
    if any(other.calls for other in found):
        return "ran_too_short"
    unknown = any(other.calls is None for other in found)
    return "not_seen_to_run" if unknown else "did_not_run"


def _unseen(costs: CostProfile, layers: Sequence[LayerTime]) -> list[LayerTime]:
    """Return one row for counted nodes that no process reported; none unless the two saw different models."""
    seen = {name for layer in layers for name in layer.nodes}
    left = tuple(cost.id for cost in costs.nodes if cost.id not in seen)
    nothing = Estimate(None, reason=Reason("not_seen"))
    key = own_key("not seen", _names(layers) | {*left})
    return [LayerTime(key, FOLDED, "not seen", left, (), "", "", nothing)] if left else []


def _names(layers: Sequence[LayerTime]) -> set[str]:
    """Return all keys and nodes of layers; no other row may use one as its key."""
    return {name for layer in layers for name in (layer.key, *layer.nodes)}


def _grade(runs: Sequence[LayerRun]) -> Grade | None:
    seconds = sum(run.runs * run.profiled_us + run.unprofiled_runs * run.unprofiled_us for run in runs) / 1e6
    return grade_noise([run.noise for run in runs], seconds)


def _attributed(layers: Sequence[LayerTime], scaling: _Scaling) -> float | None:
    """Return the share of the time, before scaling, of rows with an operator name."""
    named = math.fsum(layer.ms.value or 0.0 for layer in layers if layer.op != UNMAPPED) * 1000 / scaling.factor
    whole = max(scaling.sum_us, scaling.unprofiled_us)
    return named / whole if whole > 0 else None


def _residual(layers: Sequence[LayerTime], total: Estimate, scaling: _Scaling) -> LayerTime:
    """Return the part of the time that no layer has; if there is none, its reason has the layers' share and scale."""
    left = (total.value or 0.0) - math.fsum(layer.ms.value or 0.0 for layer in layers)
    # A difference this small is rounding in the sum.
    value = left if left > 1e-9 * (total.value or 0.0) else 0.0
    reason = Reason("residual")
    if not value:
        share = scaling.sum_us / scaling.unprofiled_us if scaling.unprofiled_us > 0 else None
        reason = because("no_residual", share=share, factor=scaling.factor)
    key = own_key(RESIDUAL, _names(layers))
    return LayerTime(key, RESIDUAL, _REST, (), (), "", "", Estimate(value, n=total.n, reason=reason))


def make_profile(
    spec: BenchmarkSpec, parts: Parts, points: Sequence[Point], inputs_sha256: str | None = None
) -> Profile | None:
    """Return the profile from the existing parts; None without any. `inputs_sha256` is that of the input file."""
    asked = spec.profile
    if asked is None or not points or not parts.worth(asked):
        return None
    point = points[0]
    costs = parts.costs or _no_costs(point, parts)
    if asked.kind == LOSS:
        return Profile(asked.kind, costs, loss=_loss(spec, asked, parts, point, inputs_sha256 or ""))
    performance = assemble_performance(
        spec=spec,
        point=point,
        costs=costs,
        runs=[parts.runs[n] for n in sorted(parts.runs)],
        roofline=parts.roofline,
        zero_effect=parts.zeros,
        what_if=parts.what_if,
        pruned=tuple(parts.pruned.values()),
    )
    return Profile(asked.kind, costs, performance=performance)


def _no_costs(point: Point, parts: Parts) -> CostProfile:
    """Return empty costs with the reason why they could not be counted."""
    failure = parts.failures.get(COSTS)
    why = (failure.message if failure is not None else None) or Reason("not_counted")
    return CostProfile((), point.batch, point.items, dict(point.dims), 0, 0, 0, 0, 0, 0, None, 0, None, (why,))


def _loss(spec: BenchmarkSpec, asked: ProfileSpec, parts: Parts, point: Point, inputs_sha256: str) -> LossProfile:
    if asked.approximate:
        return assemble_loss(parts.weights or (), None, LossFacts(levels=asked.levels))
    points = [(one, found) for (one, _), found in parts.points.items()]
    line = parts.begin | parts.answer
    levels = order_levels(asked)
    # The data may have fewer samples than requested.
    samples = int(line.get("samples") or max((found.samples for _, found in points), default=0))
    facts = LossFacts(
        data=describe_data(samples, spec.inputs.seed, spec.inputs.file and os.path.basename(spec.inputs.file)),
        data_sha256=inputs_sha256,
        levels=levels,
        samples=samples,
        classes=bool(line.get("classes")),
        float32_db=line.get("float32_db"),
        notes=(*map(legacy_text, point.notes), *parts.notes),
        budget=asked.budget,
        worst=worst_layers(first_points(points, levels)) if asked.budget else (),
        idle=find_idle(parts.costs),
    )
    return assemble_loss(parts.weights or (), points, facts)
