"""Derives the headline of a result from its cells and comparisons, or from its profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tuibench.core.cell import CellResult, Estimate, best_by_metric, main_number, measured, metric_of, ran_elsewhere
from tuibench.core.headline import BATCH_TIME, Headline, HeadlineNumber, ProfileFacts
from tuibench.core.label import names_by_sha256, varying_axes
from tuibench.core.profile import ALREADY_INT8, LAYER, LayerLoss, LossProfile, PerformanceProfile, Profile
from tuibench.core.reason import Failure, Reason, Verdict
from tuibench.core.result import Comparison, RunResult
from tuibench.core.spec import APPROXIMATED, PERFORMANCE

_MAX_CHARS = 300
"""Longest foreign text kept, in characters, because lists hold it for every benchmark."""
_MISSING = ("failed", "partial", "skipped")


def headline_of(result: RunResult) -> Headline:
    """Return the facts of a result's headline."""
    if result.spec.profile is not None:
        found = profile_headline(result.profile)
    elif result.foreign:
        found = _foreign_headline(result)
    else:
        found = cells_headline(result.cells, names_by_sha256(result), result.comparisons)
    return replace(found, status=result.status)


def cells_headline(
    cells: Sequence[CellResult], names: Mapping[str, str], comparisons: Sequence[Comparison] = ()
) -> Headline:
    """Return the facts of measured cells; `names` has the name of each model by its sha256."""
    able = measured(cells)
    missing = {status: count for status in _MISSING if (count := sum(c.status == status for c in cells))}
    if not able:
        failed = [c.failure for c in cells if c.failure is not None]
        first = _shortened(failed[0]) if failed else None
        return Headline(missing=missing, cells=len(cells), failure=first, more_failures=max(len(failed) - 1, 0))
    best = best_by_metric(able)
    axes = varying_axes(c.asked for c in cells)
    return Headline(
        numbers=tuple(_number(metric, choice.estimate, choice.cell, axes, names) for metric, choice in best),
        varied=axes,
        grade=max((c.cell.grade.letter for _, c in best if c.cell.grade is not None), default=""),
        differs=any(c.cell.check is not None and c.cell.check.state == "differs" for _, c in best),
        elsewhere=next((c.cell.asked.engine for _, c in best if ran_elsewhere(c.cell)), ""),
        missing=missing,
        cells=len(cells),
        verdict=_only_verdict(comparisons, cells, names),
    )


def _only_verdict(
    comparisons: Sequence[Comparison], cells: Sequence[CellResult], names: Mapping[str, str]
) -> Verdict | None:
    """Return the verdict of a single comparison; several are shown as a table."""
    if len(comparisons) != 1:
        return None
    found = comparisons[0]
    by_key = {cell.key: cell.asked for cell in cells}
    sides = [by_key[key] for key in (found.base, found.new) if key in by_key]
    if len({one.engine for one in sides}) > 1:
        called = [one.engine for one in sides]
    else:
        called = [names.get(one.model_sha256, one.model_sha256[:12]) for one in sides]
    if found.verdict.base or len(called) != 2:
        return found.verdict
    # Records of older versions do not name the operands.
    return replace(found.verdict, base=called[0], new=called[1])


def _number(
    metric: str, estimate: Estimate, cell: CellResult, axes: Sequence[str], names: Mapping[str, str]
) -> HeadlineNumber:
    asked = cell.asked
    return HeadlineNumber(
        metric=metric,
        value=estimate.value or 0.0,
        half_width=estimate.half_width,
        engine=_cut(asked.engine),
        scenario=_cut(asked.scenario),
        cores=asked.cores,
        batch=asked.batch,
        streams=asked.streams if cell.used is None else cell.used.streams,
        model=names.get(asked.model_sha256, asked.model_sha256[:12]) if "model" in axes else "",
        dims={_cut(name): size for name, size in asked.dims.items()} if "dims" in axes else {},
        precision=_cut(asked.precision) if "precision" in axes else "",
        pin=_cut(asked.pin) if "pin" in axes else "",
        options={_cut(name): _cut(one) for name, one in asked.options.items()} if "options" in axes else {},
    )


def _foreign_headline(result: RunResult) -> Headline:
    """Return the pooled number of the only cell: another tool stores no executions."""
    known = [(cell, cell.pooled) for cell in result.cells[:1] if cell.pooled is not None]
    numbers = []
    for cell, pooled in known:
        value = main_number(cell).of_pooled(pooled)
        numbers.append(_number(metric_of(cell), Estimate(value), cell, (), {}))
    return Headline(numbers=tuple(numbers), cells=len(result.cells), tool=result.foreign)


def profile_headline(profile: Profile | None) -> Headline:
    """Return the facts of a profile; without one nothing was measured."""
    if profile is None:
        return Headline()
    if profile.performance is not None:
        return _performance_headline(profile.performance)
    return Headline(profile=_loss_facts(profile.loss)) if profile.loss is not None else Headline()


def _performance_headline(found: PerformanceProfile) -> Headline:
    value = found.ms.value
    by_op: dict[str, float] = {}
    for layer in found.layers:
        by_op[layer.op] = by_op.get(layer.op, 0.0) + (layer.ms.value or 0.0)
    total = sum(by_op.values())
    op = max({layer.op for layer in found.layers if layer.kind == LAYER}, key=lambda one: by_op[one], default="")
    known = bool(op) and total > 0 and not found.below_resolution
    return Headline(
        numbers=() if value is None else (HeadlineNumber(BATCH_TIME, value, found.ms.half_width),),
        grade=found.grade.letter if found.grade is not None else "",
        profile=ProfileFacts(
            PERFORMANCE,
            op=op if known else "",
            share=by_op[op] / total if known else 0.0,
            below_resolution=found.below_resolution,
        ),
    )


def _loss_facts(found: LossProfile) -> ProfileFacts:
    if found.kind == APPROXIMATED:
        return _proxy_facts(found)
    asked = [layer for layer in found.layers if not layer.reason]
    points = [(point, layer) for layer in found.layers for point in layer.points]
    harmed = list({layer.id: layer for point, layer in points if point.harm}.values())
    spoiled = {layer.id for layer in harmed}
    measured = [(p.sqnr_db, p.level, one) for p, one in points if p.sqnr_db is not None and one.id not in spoiled]
    db, level, layer = min(measured, key=lambda one: one[0]) if measured else (None, "", None)
    reasons = [point.reason for point, _ in points if point.reason is not None]
    return ProfileFacts(
        found.kind,
        asked=len(asked),
        measured=sum(bool(layer.points) for layer in asked),
        harmed=_name(harmed[0]) if harmed else "",
        harmed_count=len(harmed),
        layer=_name(layer) if layer is not None else "",
        level=level,
        db=db,
        unknown=_cut_fields(reasons[0]) if reasons and len(reasons) == len(points) else None,
        # Weights that are INT8 already lose nothing when converted to INT8.
        unsure=any(reason != ALREADY_INT8 for reason in reasons),
    )


def _proxy_facts(found: LossProfile) -> ProfileFacts:
    known = [layer for layer in found.layers if not layer.reason]
    measured = [(db, level, layer) for layer in known for level, db in layer.weight_sqnr_db.items() if db is not None]
    db, level, layer = min(measured, key=lambda one: one[0]) if measured else (None, "", None)
    return ProfileFacts(
        found.kind,
        layer=_name(layer) if layer is not None else "",
        level=level,
        db=db,
        known=any(layer.weight_sqnr_db for layer in known),
        unsure=len(known) < len(found.layers),
    )


def _name(layer: LayerLoss) -> str:
    return _cut(layer.weight or layer.name or layer.id)


def _shortened(failure: Failure) -> Failure:
    return replace(failure, message=_cut_fields(failure.message) if failure.message else None, log_tail=None)


def _cut_fields(reason: Reason) -> Reason:
    return Reason(
        reason.code, {name: _cut(one) if isinstance(one, str) else one for name, one in reason.fields.items()}
    )


def _cut(text: str) -> str:
    # One more than is shown, so that the display marks it as cut.
    return text[: _MAX_CHARS + 1]
