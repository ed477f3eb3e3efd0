"""A profile as CSV: one row per layer, or per layer and level, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Iterator, Sequence

from tuibench.core.profile import CostProfile, LossProfile, Profile
from tuibench.core.profile_facts import int8_of
from tuibench.core.units import number
from tuibench.present.csv_export import safe_text
from tuibench.present.profile.costs import CostRow, shape_words
from tuibench.present.profile.layers import LayerRow
from tuibench.present.profile.loss import LossRow
from tuibench.present.profile.rows import cut, shown_costs, shown_layers, shown_losses
from tuibench.present.profile.shown import Shown, shown_profile

LAYER_COLUMNS = (
    "number", "kind", "op", "node", "weight", "ms", "ms_low", "ms_high", "share", "macs", "element_flops", "flops",
    "gflop_per_s", "parameters", "zeros", "bytes_moved", "roof", "roof_ms", "roof_share", "roof_reason", "int8_ratio",
    "int8_ms", "int8_around", "int8_reason", "integer", "kernel_op", "input_shapes", "output_shape", "nodes", "kernels",
    "reason",
)  # fmt: skip
COST_COLUMNS = (
    "number", "op", "node", "weight", "macs", "element_flops", "flops", "share", "parameters", "zeros", "weight_bytes",
    "activation_bytes", "flop_per_byte", "times", "input_shapes", "output_shape", "id", "unknown_because",
)  # fmt: skip
_SHARES = range(0, 101, 5)
"""Per cent of a layer's weights at which its curve of |w| / greatest has points."""
LOSS_COLUMNS = (
    "number", "op", "node", "weight", "shape", "parameters", "zeros", "level", "weight_sqnr_db_proxy", "sqnr_db",
    "cosine", "kl", "top1", "samples", "id", "harm", "reason",
    *(f"weight_quantile_{share}" for share in _SHARES),
)  # fmt: skip


_WHOLE = Shown(top=None)


def profile_csv(profile: Profile, shown: Shown = _WHOLE) -> str:
    """Return the measured table as text: every row in the order of the model, unless `shown` chooses otherwise."""
    return _dumps(profile_csv_rows(profile, shown))


def cost_csv(costs: CostProfile, shown: Shown = _WHOLE) -> str:
    """Return the FLOPS profile as text; counts are per inference if a node's number of runs is known."""
    return _dumps(cost_csv_rows(costs, shown))


def loss_csv(loss: LossProfile, shown: Shown = _WHOLE) -> str:
    """Return a loss profile as text, measured or approximated."""
    return _dumps(loss_csv_rows(loss, shown))


def profile_csv_rows(profile: Profile, shown: Shown = _WHOLE) -> Iterator[tuple[str, ...]]:
    """Yield the header, then one row per layer, or per layer and level of a loss profile."""
    profile = shown_profile(profile)
    if profile.performance is not None:
        yield LAYER_COLUMNS
        yield from map(_layer, cut(shown_layers(profile.performance, profile.costs, shown, usual=""), shown))
    elif profile.loss is not None:
        yield from loss_csv_rows(profile.loss, shown)
    else:
        yield from cost_csv_rows(profile.costs, shown)


def cost_csv_rows(costs: CostProfile, shown: Shown = _WHOLE) -> Iterator[tuple[str, ...]]:
    """Yield the header, then one row per node."""
    yield COST_COLUMNS
    yield from map(_cost, cut(shown_costs(costs, shown, usual=""), shown))


def loss_csv_rows(loss: LossProfile, shown: Shown = _WHOLE) -> Iterator[tuple[str, ...]]:
    """Yield the header, then one row per layer and level."""
    yield LOSS_COLUMNS
    for row in cut(shown_losses(loss, shown, usual=""), shown):
        yield from _levels(loss, row)


def _dumps(rows: Iterable[tuple[str, ...]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def _layer(row: LayerRow) -> tuple[str, ...]:
    layer, form = row.layer, int8_of(row.layer)
    shown = row.ms is not None
    return (
        _count(row.number), *map(safe_text, (layer.kind, layer.op, row.name, layer.weight)),
        *map(_number, (row.ms, layer.ms.low if shown else None, layer.ms.high if shown else None, row.share)),
        *map(_count, (layer.macs, layer.element_flops, layer.flops)), _number(row.gflops),
        *map(_count, (layer.parameters, layer.zeros, layer.bytes_moved)), safe_text(layer.roof),
        *map(_number, (layer.roof_ms, row.roof_share)), safe_text(layer.roof_reason),
        *map(_number, (form.ratio.value if form else None, row.int8_ms, form.around if form else None)),
        safe_text(form.reason if form else ""), str(layer.integer).lower(), safe_text(layer.kernel_op),
        safe_text(" ".join(map(shape_words, row.cost.input_shapes)) if row.cost else ""),
        safe_text(shape_words(row.cost.output_shape) if row.cost else ""),
        _all_of(layer.nodes), _all_of(layer.kernels), safe_text(row.reason),
    )  # fmt: skip


def _cost(row: CostRow) -> tuple[str, ...]:
    node = row.node
    return (
        str(row.number), *map(safe_text, (node.op, node.name, node.weight)),
        *map(_count, (row.macs, node.element_flops, row.flops)), _number(row.share),
        *map(_count, (node.parameters, node.zeros, node.weight_bytes, node.activation_bytes)), _number(node.intensity),
        _count(node.times), safe_text(" ".join(map(shape_words, node.input_shapes))),
        safe_text(shape_words(node.output_shape)), safe_text(node.id), safe_text(node.why),
    )  # fmt: skip


def _levels(loss: LossProfile, row: LossRow) -> Iterator[tuple[str, ...]]:
    layer = row.layer
    named = (
        str(row.number), *map(safe_text, (layer.op, layer.name, layer.weight)), safe_text(shape_words(layer.shape))
    )  # fmt: skip
    curve = tuple(map(number, layer.quantiles)) if len(layer.quantiles) == len(_SHARES) else ("",) * len(_SHARES)
    for level in loss.levels:
        point = row.point(level)
        measured = (point.sqnr_db, point.cosine, point.kl, point.top1) if point else (None,) * 4
        yield (
            *named, str(layer.parameters), str(layer.zeros), safe_text(level),
            _number(layer.weight_sqnr_db.get(level)), *map(_number, measured),
            _count(point.samples if point else None), safe_text(layer.id), "true" if point and point.harm else "",
            safe_text("; ".join(filter(None, (layer.reason, point.reason if point else "")))), *curve,
        )  # fmt: skip


def _all_of(names: Sequence[str]) -> str:
    """Return all names, however many: programs look names up in this cell."""
    return safe_text(" ".join(names), sys.maxsize)


def _number(value: float | None) -> str:
    return "" if value is None else number(value)


def _count(value: int | None) -> str:
    return "" if value is None else str(value)
