"""Assembles a profile from its parts."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tuibench.core.model import Point
from tuibench.core.profile import (
    LOSS,
    CostProfile,
    LossProfile,
    Profile,
    ProfileSpec,
)
from tuibench.core.profile_facts import (
    LossFacts,
    assemble_loss,
    describe_data,
    find_idle,
    first_points,
    worst_layers,
)
from tuibench.core.spec import BenchmarkSpec
from tuibench.runs.profile.assembly import assemble_performance
from tuibench.runs.profile.parts import COSTS, Parts, order_levels


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
    )
    return Profile(asked.kind, costs, performance=performance)


def _no_costs(point: Point, parts: Parts) -> CostProfile:
    """Return empty costs with the reason why they could not be counted."""
    failure = parts.failures.get(COSTS)
    why = failure.message if failure is not None else "not counted"
    return CostProfile((), point.batch, point.items, dict(point.dims), 0, 0, 0, 0, 0, 0, None, 0, "", (why,))


def _loss(spec: BenchmarkSpec, asked: ProfileSpec, parts: Parts, point: Point, inputs_sha256: str) -> LossProfile:
    if asked.approximate:
        return assemble_loss(parts.weights or (), None, LossFacts(levels=asked.levels))
    points = [(one, found) for (one, _), found in parts.points.items()]
    told = parts.begin | parts.answer
    levels = order_levels(asked)
    # The data may have fewer samples than requested.
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
