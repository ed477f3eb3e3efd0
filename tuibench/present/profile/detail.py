"""All known facts of one layer as labels and values, for the view of a single row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tuibench.core.profile import LAYER, PRUNED_LEVELS, RESIDUAL, CostProfile, LossProfile, NodeCost, PerformanceProfile
from tuibench.core.profile_facts import find_withheld, int8_of, untold_words
from tuibench.core.spec import APPROXIMATED
from tuibench.core.text import show
from tuibench.core.units import count_of, ms, percent, scaled, short, size
from tuibench.present.column import NONE, UNKNOWN
from tuibench.present.profile.costs import CostRow, shapes_words
from tuibench.present.profile.estimate import BOUND, amdahl
from tuibench.present.profile.layers import ROOF_REACHED, LayerRow
from tuibench.present.profile.loss import HARM, LossRow, decibels, level_words

Pair = tuple[str, str]
"""(label, value), both safe to print."""
_LONGEST = 400
MOST_NODES = 40
"""Most nodes that the scrolling view lists."""
_QUANTILES = (5, 25, 50, 75, 90, 95, 100)


def layer_detail(
    profile: PerformanceProfile, row: LayerRow, costs: CostProfile | None = None, most: int | None = None
) -> tuple[Pair, ...]:
    """Return the facts of one row of a performance profile; after `most` nodes, only the number of the others."""
    nodes = {node.id: node for node in costs.nodes} if costs is not None else {}
    return tuple(
        pair for pair in (*_time(row), *_work(row), *_forms(profile, row), *_made_of(row, nodes, most)) if pair[1]
    )


def cost_detail(row: CostRow) -> tuple[Pair, ...]:
    """Return the facts of one node of the FLOPS profile."""
    node = row.node
    pairs = [
        ("operator", show(node.op, _LONGEST)),
        ("node", show(node.name, _LONGEST) or "without a name"),
        ("weight", _weight(node)),
        ("MACs", _count(row.macs)),
        ("FLOPs", _count(row.flops)),
        ("on single elements", _count(node.element_flops)),
        ("parameters", _parameters(node.parameters, node.zeros)),
        ("weights", size(node.weight_bytes)),
        ("activations", UNKNOWN if node.activation_bytes is None else size(node.activation_bytes)),
        ("FLOP/byte", "" if node.intensity is None else short(node.intensity)),
        ("runs", _runs(node.times)),
        ("shapes", shapes_words(node)),
        ("unknown because" if None in (node.flops, node.activation_bytes) else "note", show(node.why, _LONGEST)),
    ]
    return tuple(pair for pair in pairs if pair[1])


def loss_detail(loss: LossProfile, row: LossRow) -> tuple[Pair, ...]:
    """Return the facts of one layer of a loss profile: the measured values of each level and its proxy."""
    layer = row.layer
    pairs = [
        ("operator", show(layer.op, _LONGEST)),
        ("node", show(layer.name, _LONGEST) or "without a name"),
        ("weight", show(layer.weight, _LONGEST)),
        ("shape", "x".join(map(str, layer.shape))),
        ("parameters", _parameters(layer.parameters, layer.zeros)),
        ("|w| / greatest", _quantiles(layer.quantiles)),
        ("pruning", _pruned(loss.levels, layer.quantiles)),
        ("not known because", show(layer.reason, _LONGEST)),
    ]
    pairs += [(level_words(level), _level(loss, row, level)) for level in loss.levels]
    return tuple(pair for pair in pairs if pair[1])


def _time(row: LayerRow) -> Iterator[Pair]:
    yield "operator", show(row.layer.op, _LONGEST)
    half = row.layer.ms.half_width
    if row.ms is None:
        yield "time", f"{NONE} ({show(row.reason, _LONGEST)})"
    else:
        interval = f" ±{percent(half)} over {count_of(row.layer.ms.n, 'measurement')}" if half is not None else ""
        yield "time", f"{ms(row.ms)} per batch{interval}"
        yield "share", "" if row.share is None else f"{percent(row.share)} of the time"


def _work(row: LayerRow) -> Iterator[Pair]:
    layer = row.layer
    if layer.kind != LAYER:
        return
    yield "MACs", _count(layer.macs)
    yield "FLOPs", _count(layer.flops) + (f", {short(row.gflops)} GFLOP/s" if row.gflops is not None else "")
    yield "bytes moved", UNKNOWN if layer.bytes_moved is None else size(layer.bytes_moved)
    if layer.roof_ms is not None:
        share = row.roof_share
        words = "" if share is None else ROOF_REACHED + " %" if share > 0.995 else percent(share)
        yield (
            "roof",
            f"{ms(layer.roof_ms)} by {show(layer.roof, 20) or UNKNOWN}" + (f", {words} reached" if words else ""),
        )
    elif layer.roof_reason:
        yield "roof", f"{NONE} ({show(layer.roof_reason, _LONGEST)})"
    yield "parameters", _parameters(layer.parameters, layer.zeros)


def _forms(profile: PerformanceProfile, row: LayerRow) -> Iterator[Pair]:
    if find_withheld(profile) is not None:
        return
    form, share = int8_of(row.layer), row.share
    if form is not None and form.ratio.value is not None:
        half = form.ratio.half_width
        interval = f" ±{percent(half)}" if half is not None else ""
        time = f", {ms(row.int8_ms)} in the model" if row.int8_ms is not None else ""
        turned = f", {percent(form.around)} of that between floats and integers" if form.around is not None else ""
        yield "INT8, measured alone", f"{short(form.ratio.value)} of its time{interval}{time}{turned}"
    elif form is not None:
        yield "INT8, measured alone", f"{NONE} ({show(form.reason, _LONGEST) or UNKNOWN})"
    bound = amdahl(share) if share is not None else None
    if bound is None or profile.below_resolution or row.layer.kind == RESIDUAL:
        return
    untold = untold_words(profile)
    yield BOUND, f"{NONE} ({untold})" if untold else f"the model {short(bound)}× as fast at most, if it took no time"


def _made_of(row: LayerRow, nodes: dict[str, NodeCost], most: int | None) -> Iterator[Pair]:
    layer = row.layer
    yield "weight", (_weight(row.cost) if row.cost is not None and row.cost.weight else show(layer.weight, _LONGEST))
    yield "shapes", shapes_words(row.cost) if row.cost is not None else ""
    kernels = ", ".join(show(kernel, 120) for kernel in layer.kernels[:most])
    yield "kernel", f"{show(layer.kernel_op, 120)} ({kernels})" if kernels else show(layer.kernel_op, 120)
    for id_ in layer.nodes[:most]:
        node = nodes.get(id_)
        yield (
            "made of",
            show(id_, _LONGEST) if node is None else f"{show(node.op, 80)} {show(node.name or id_, _LONGEST)}",
        )
    if most is not None and layer.nodes[most:]:
        yield "made of", f"{count_of(len(layer.nodes) - most, 'more node')}: show --layer and CSV list all"


def _weight(node: NodeCost) -> str:
    return f"{show(node.weight, _LONGEST)} {'x'.join(map(str, node.weight_shape))}" if node.weight else ""


def _count(value: int | None) -> str:
    return UNKNOWN if value is None else scaled(value)


def _parameters(count: int | None, zeros: int | None) -> str:
    if count is None or zeros is None:
        return UNKNOWN
    return f"{scaled(count)}, {percent(zeros / count)} of them zero" if count else ""


def _runs(times: int | None) -> str:
    return "" if times == 1 else "how often is not known" if times is None else f"{times} times"


def _quantiles(quantiles: tuple[float, ...]) -> str:
    """Return the quantile curve of a layer's weights, in as many points as fit one line."""
    step = 100 / max(len(quantiles) - 1, 1)
    told = {round(at * step): value for at, value in enumerate(quantiles)}
    return ", ".join(f"{share} % {short(told[share])}" for share in _QUANTILES if share in told)


def _pruned(levels: Sequence[str], quantiles: tuple[float, ...]) -> str:
    """Return the weight size up to which each pruning sets zeros, where the curve has that point."""
    places = {share: share * (len(quantiles) - 1) for share in PRUNED_LEVELS if f"pruned {share:g}" in levels}
    told = [
        f"{percent(share)} up to {short(quantiles[round(place)])}" for share, place in places.items()
        if quantiles and abs(place - round(place)) < 1e-6
    ]  # fmt: skip
    return f"zeroes about {', '.join(told)} of the greatest" if told else ""


def _level(loss: LossProfile, row: LossRow, level: str) -> str:
    layer, point = row.layer, row.point(level)
    parts = []
    if level in layer.weight_sqnr_db:
        of_weights = layer.weight_sqnr_db[level]
        parts.append("weights unchanged" if of_weights is None else f"weights {of_weights:.1f} dB (proxy)")
    if loss.kind == APPROXIMATED:
        return ", ".join(parts) or (f"{NONE} ({show(point.reason, 200)})" if point is not None else "")
    if point is None or point.reason:
        words = HARM if point is not None and point.harm else NONE
        reason = show(point.reason, 200) if point is not None else "not measured"
        return ", ".join([f"outputs {words} ({reason})", *parts])
    found = [f"outputs {decibels(row.noise.get(level))}" + ("" if point.sqnr_db is None else " dB")]
    found += [f"cosine {point.cosine:.5f}"] if point.cosine is not None else []
    found += [f"KL {short(point.kl)}"] if point.kl is not None else []
    found += [f"same first class in {percent(point.top1)}"] if point.top1 is not None else []
    return ", ".join([*found, *parts])
