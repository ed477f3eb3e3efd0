"""From the parts of a profile to the profile, and to the one line that says what it comes to."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tuibench.core.model import Point
from tuibench.core.profile import (
    ALREADY_INT8,
    LAYER,
    LOSS,
    CostProfile,
    LayerLoss,
    LossProfile,
    PerformanceProfile,
    Profile,
    ProfileSpec,
)
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.text import show
from tuibench.core.units import count_of, ms, percent, short
from tuibench.insight.assembly import assemble_performance
from tuibench.insight.loss import APPROXIMATED
from tuibench.insight.loss_assembly import (
    LossFacts,
    assemble_loss,
    describe_data,
    find_idle,
    first_points,
    worst_layers,
)
from tuibench.runs.profile_part import COSTS, Parts, order_levels

_LONGEST = 60
_MOST_WORDS = 200
_WHERE_KNOWN = ", where that is known"


def make_profile(
    spec: BenchmarkSpec, parts: Parts, points: Sequence[Point], inputs_sha256: str | None = None
) -> Profile | None:
    """All of it that there is; None where nothing was measured. `inputs_sha256` is of the file of inputs."""
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
    )
    return Profile(asked.kind, costs, performance=performance)


def _no_costs(point: Point, parts: Parts) -> CostProfile:
    """What is known of the costs where they could not be counted: why."""
    failure = parts.failures.get(COSTS)
    why = failure.message if failure is not None else "not counted"
    return CostProfile((), point.batch, point.items, dict(point.dims), 0, 0, 0, 0, 0, 0, None, 0, "", (why,))


def _loss(spec: BenchmarkSpec, asked: ProfileSpec, parts: Parts, point: Point, inputs_sha256: str) -> LossProfile:
    if asked.approximate:
        return assemble_loss(parts.weights or (), None, LossFacts(levels=asked.levels))
    points = [(one, found) for (one, _), found in parts.points.items()]
    told = parts.begin | parts.answer
    levels = order_levels(asked)
    # As many as there were: data may have fewer samples than were asked for.
    samples = int(told.get("samples") or max((found.samples for _, found in points), default=0))
    facts = LossFacts(
        data=describe_data(samples, spec.inputs.seed, spec.inputs.file and os.path.basename(spec.inputs.file)),
        data_sha256=inputs_sha256,
        levels=levels,
        samples=samples,
        classes=bool(told.get("classes")),
        float32_db=told.get("float32_db"),
        notes=(*point.notes, *(str(note) for note in told.get("notes", ()))),
        budget=asked.budget,
        worst=worst_layers(first_points(points, levels)) if asked.budget else (),
        idle=find_idle(parts.costs),
    )
    return assemble_loss(parts.weights or (), points, facts)


def profile_headline(profile: Profile | None) -> str:
    """`5.23 ms/batch ±0.8 % · 82 % Conv · grade A`, or the layer that a loss profile says to leave alone."""
    if profile is None:
        return "nothing measured"
    if profile.performance is not None:
        return " · ".join(filter(None, _performance_words(profile.performance)))
    return " · ".join(filter(None, _loss_words(profile.loss))) if profile.loss is not None else ""


def _performance_words(found: PerformanceProfile) -> list[str]:
    value, half = found.ms.value, found.ms.half_width
    words = ["no time" if value is None else f"{ms(value)}/batch" + ("" if half is None else f" ±{percent(half)}")]
    words.append("layers below the profiler's resolution" if found.below_resolution else _heaviest(found))
    words.append(f"grade {show(found.grade.letter, 4)}" if found.grade is not None and found.grade.letter else "")
    return words


def _heaviest(found: PerformanceProfile) -> str:
    """The operator that takes most of the time, with its share."""
    by_op: dict[str, float] = {}
    for layer in found.layers:
        by_op[layer.op] = by_op.get(layer.op, 0.0) + (layer.ms.value or 0.0)
    named = {layer.op for layer in found.layers if layer.kind == LAYER}
    total = sum(by_op.values())
    op = max(named, key=lambda one: by_op[one], default="")
    return f"{percent(by_op[op] / total)} {show(op, _LONGEST)}" if op and total > 0 else ""


def _loss_words(found: LossProfile) -> list[str]:
    """The layer to leave alone before all others; without any, why there is none."""
    if found.kind == APPROXIMATED:
        return _proxy_words(found)
    part = _part_words(found)
    points = [(point, layer) for layer in found.layers for point in layer.points]
    harmed = list(dict.fromkeys(layer.id for point, layer in points if point.harm))
    told = [
        (point.sqnr_db, point.level, layer) for point, layer in points
        if point.sqnr_db is not None and layer.id not in harmed
    ]  # fmt: skip
    words = []
    if harmed:
        first = next(layer for point, layer in points if point.harm)
        more = f" and {count_of(len(harmed) - 1, 'more layer')}" if len(harmed) > 1 else ""
        words = [f"{part}harm beyond dB: {_name(first)}{more}"]
    if told:
        db, level, layer = min(told, key=lambda one: one[0])
        most = "most sensitive of the others" if words else f"{part}most sensitive"
        return [*words, f"{most}: {_name(layer)}, {_at(db, level)}"]
    if words:
        return words
    reasons = [point.reason for point, _ in points if point.reason]
    if reasons and len(reasons) == len(points):
        return [f"not known of any layer: {show(reasons[0], _MOST_WORDS)}"]
    # Weights that are INT8 already lose nothing by being made that.
    unsure = any(reason != ALREADY_INT8 for reason in reasons)
    return [(f"{part}none" if part else "no layer") + " loses anything" + _WHERE_KNOWN * unsure]


def _part_words(found: LossProfile) -> str:
    """`of 17 of 26 layers ` where a profile ended before all were measured, else ''; of the others nothing is known."""
    asked = [layer for layer in found.layers if not layer.reason]
    measured = sum(bool(layer.points) for layer in asked)
    return f"of {measured} of {count_of(len(asked), 'layer')} " if measured < len(asked) else ""


def _proxy_words(found: LossProfile) -> list[str]:
    told = [
        (db, level, layer) for layer in found.layers for level, db in layer.weight_sqnr_db.items()
        if db is not None and not layer.reason
    ]  # fmt: skip
    if not told:
        known = [layer for layer in found.layers if not layer.reason]
        same = "no weights change" + _WHERE_KNOWN * (len(known) < len(found.layers))
        return [same if any(layer.weight_sqnr_db for layer in known) else "no change of weights is known", "a proxy"]
    db, level, layer = min(told, key=lambda one: one[0])
    return [f"largest change of weights: {_name(layer)}, {short(db)} dB at {show(level, 20)}", "a proxy"]


def _at(db: float, level: str) -> str:
    return f"{short(db)} dB SQNR at {show(level, 20)}"


def _name(layer: LayerLoss) -> str:
    return show(layer.weight or layer.name or layer.id, _LONGEST)
