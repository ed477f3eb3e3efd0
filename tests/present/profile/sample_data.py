"""Hand-made profiles of any length: a small CNN of repeated parts with every kind of row."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from tuibench.core.cell import Estimate, Grade
from tuibench.core.profile import (
    FOLDED,
    INT8,
    LAYER,
    LAYOUT,
    LEVELS,
    LOSS,
    PERFORMANCE,
    RESIDUAL,
    RUNTIME,
    CostProfile,
    LayerLoss,
    LayerTime,
    LossPoint,
    LossProfile,
    NodeCost,
    PerformanceProfile,
    Profile,
    Roofline,
    WhatIf,
    ZeroEffect,
)
from tuibench.core.reason import Reason, legacy_text

QUIET = Grade("A", legacy_text("quiet"), 0.001, 0.0, False)
ROOFLINE = Roofline(
    2,
    400.0,
    1600.0,
    60.0,
    ((500_000, 180.0), (4_000_000, 120.0)),
    "Some CPU",
    "2026-11-18T21:00:00+00:00",
    grade=QUIET,
)
NO_GAIN = ZeroEffect(
    "onnxruntime",
    "1.31.1",
    Estimate(0.998, 0.985, 1.011, 5),
    False,
    legacy_text("Zeros gain nothing on onnxruntime 1.31.1 here: 90 % zeros take 0.998 of the time (0.985 to 1.011)"),
    "2026-11-18T21:00:00+00:00",
    QUIET,
)


@dataclass(frozen=True, slots=True)
class Part:
    """A repeated row: its operator, the operators fused into it, and its figures."""

    op: str
    ms: float
    macs: int | None = 0
    element_flops: int | None = 0
    weight_shape: tuple[int, ...] = ()
    output_shape: tuple[int, ...] | None = (1, 64, 56, 56)
    fused: tuple[str, ...] = ()
    kernel_op: str = ""
    int8: float | None = None
    roof: str = "f32"
    bytes_moved: int | None = 1_605_632
    why: str = ""


PARTS = (
    Part("Conv", 1.31, 118_013_952, 1_605_632, (64, 3, 7, 7), (1, 64, 112, 112), ("Relu",), "FusedConv", 0.52),
    Part("MaxPool", 0.21, 0, 1_806_336, roof="DRAM", bytes_moved=4_014_080),
    Part("Conv", 1.05, 115_605_504, 401_408, (64, 64, 3, 3), (1, 64, 56, 56), ("Relu",), "FusedConv", 0.45),
    Part("Conv", 1.04, 115_605_504, 0, (64, 64, 3, 3), (1, 64, 56, 56), ("Add", "Relu"), "FusedConv", 0.46),
    Part("Conv", 0.24, 1_806_336, 0, (64, 1, 3, 3), int8=None, roof="cache"),
    Part("Conv", 0.13, 12_845_056, 0, (256, 64, 1, 1), (1, 256, 28, 28), int8=0.6),
    Part("Transpose", 0.20, 0, 0, output_shape=(1, 784, 256), roof="cache"),
    Part("MatMul", 0.31, 51_380_224, 0, (256, 256), (1, 784, 256), int8=0.5),
    Part("LayerNormalization", 0.06, 0, 1_605_632, (), (1, 784, 256), roof="cache"),
    Part("ReduceMean", 0.03, 0, 200_704, (), (1, 256), roof="cache"),
    Part("Gemm", 0.04, 256_000, 1_000, (256, 1000), (1, 1000), roof="DRAM", bytes_moved=1_033_000),
    Part("com.example.Rank", 0.02, None, None, (), None, roof="", bytes_moved=None, why="no rule for this operator"),
)
_ROOFS = {"f32": 400.0, "DRAM": 60.0, "cache": 180.0}


def part_of(number: int) -> Part:
    """Return the part at a place in a model of any length."""
    return PARTS[number % len(PARTS)]


def node_ids(number: int) -> tuple[str, ...]:
    """Return the nodes of one row: its own, then the fused ones."""
    return (f"out{number}", *(f"out{number}_{op.lower()}" for op in part_of(number).fused))


def make_costs(n: int = 12) -> CostProfile:
    """Return the theory of a model whose performance profile has `n` layers and one folded node."""
    nodes: list[NodeCost] = []
    for number in range(n):
        part, ids = part_of(number), node_ids(number)
        nodes.append(_node_cost(number, len(nodes)))
        for id_, op in zip(ids[1:], part.fused, strict=True):
            # The first node carries the work of the fused ones, so that sums are easy to follow.
            nodes.append(NodeCost(id_, len(nodes), op, f"/{id_}", output_shape=part.output_shape))
    nodes.append(NodeCost("folded", len(nodes), "Shape", "/folded", output_shape=(4,)))
    return CostProfile(
        nodes=tuple(nodes),
        batch=1,
        items=1,
        dims={},
        macs=sum(node.macs or 0 for node in nodes),
        element_flops=sum(node.element_flops or 0 for node in nodes),
        parameters=sum(node.parameters for node in nodes),
        zeros=sum(node.zeros for node in nodes),
        weight_bytes=sum(node.weight_bytes for node in nodes),
        activation_bytes=sum(node.activation_bytes or 0 for node in nodes),
        peak_activation_bytes=6_422_528,
        unknown=sum(node.macs is None for node in nodes),
        shapes_from=Reason("traced"),
    )


def make_performance(n: int = 12, *, what_if: bool = True, slower: float = 1.0) -> PerformanceProfile:
    """Return `n` layers, two runtime rows, one folded row and the residual; all times times `slower`."""
    layers = [_layer_time(number, what_if, slower) for number in range(n)]
    layers += [
        _row(f"Reorder{way}", RUNTIME, LAYOUT, 0.05 * slower, (f"Reorder{way}_token_1",)) for way in ("Input", "Output")
    ]
    done_before = Estimate(None, reason=legacy_text("done before the model runs"))
    folded = LayerTime("folded", FOLDED, "Shape", ("folded",), (), "", "", done_before)
    layers += [folded, _row("residual", RESIDUAL, "residual", 0.02 * slower, ())]
    total = math.fsum(layer.ms.value or 0.0 for layer in layers)
    residual = 0.02 * slower
    return PerformanceProfile(
        engine="onnxruntime",
        engine_version="1.31.1",
        cores=2,
        cpus=(0, 1),
        threads=2,
        isa=("AVX2", "AVX512", "VNNI"),
        precision="f32",
        batch=1,
        items=1,
        dims={},
        ms=_estimate(total),
        grade=QUIET,
        layers=tuple(layers),
        sum_ms=(total - residual) / 1.012,
        scale=1.012,
        bias_us=1.2,
        below_resolution=False,
        attributed=(total - residual) / total,
        processes=3,
        runs=10,
        load_ms=118.0,
        peak_bytes=182_000_000,
        roofline=ROOFLINE,
        zero_effect=NO_GAIN,
    )


def make_loss(n: int = 12, *, measured: bool = True) -> LossProfile:
    """Return the layers with weights of the same model; pruning hurts later layers more."""
    layers: list[LayerLoss] = []
    for node in make_costs(n).nodes:
        if not node.weight:
            continue
        number = len(layers)
        points = tuple(_loss_point(number, level) for level in LEVELS) if measured else ()
        layers.append(
            LayerLoss(
                id=node.id,
                op=node.op,
                name=node.name,
                weight=node.weight,
                shape=node.weight_shape,
                parameters=node.parameters,
                zeros=node.zeros,
                quantiles=tuple(i / 20 for i in range(21)),
                weight_sqnr_db={level: _weight_db(number, level) for level in LEVELS},
                points=points,
            )
        )
    return LossProfile(
        kind="measured" if measured else "approximated",
        data="2 samples of synthetic data (seed 0), which need not rank the layers as real data would"
        if measured
        else "",
        levels=LEVELS,
        layers=tuple(layers),
        samples=2 if measured else 0,
        classes=measured,
        float32_db=92.0 if measured else None,
    )


def make_profile(n: int = 12, kind: str = PERFORMANCE) -> Profile:
    """Return theory and one of the two measured profiles."""
    if kind == LOSS:
        return Profile(LOSS, make_costs(n), loss=make_loss(n))
    return Profile(PERFORMANCE, make_costs(n), performance=make_performance(n))


def disturbed(profile: PerformanceProfile) -> PerformanceProfile:
    """Return the same profile from a machine under other load."""
    return replace(profile, grade=Grade("D", legacy_text("waited 31 % of the time for a CPU"), 0.31, 0.0, False))


def untold(profile: PerformanceProfile, rest_ms: float = 40.0) -> PerformanceProfile:
    """Return the same profile with that many ms in no layer."""
    layers = (replace(row, ms=Estimate(rest_ms)) if row.kind == RESIDUAL else row for row in profile.layers)
    return replace(profile, layers=tuple(layers), ms=_estimate(4.74 + rest_ms), scale=1.0)


def _weight_of(number: int) -> tuple[str, int]:
    part = part_of(number)
    if not part.weight_shape:
        return "", 0
    return f"stage{number // 12}.block{number}.{part.op.lower()}.weight", math.prod(part.weight_shape)


def _node_cost(number: int, index: int) -> NodeCost:
    part, (weight, count) = part_of(number), _weight_of(number)
    return NodeCost(
        id=node_ids(number)[0],
        index=index,
        op=part.op,
        name=f"/stage{number // 12}/block{number}/{part.op}",
        weight=weight,
        weight_shape=part.weight_shape,
        input_shapes=((1, 64, 56, 56), *filter(None, (part.weight_shape,))),
        output_shape=part.output_shape,
        macs=part.macs,
        element_flops=part.element_flops,
        parameters=count,
        zeros=count // 10,
        weight_bytes=4 * count,
        activation_bytes=part.bytes_moved,
        why=legacy_text(part.why) if part.why else None,
    )


def _layer_time(number: int, what_if: bool, slower: float) -> LayerTime:
    part = part_of(number)
    ids, (weight, count) = node_ids(number), _weight_of(number)
    forms: tuple[WhatIf, ...] = ()
    if what_if and part.int8 is not None:
        forms = (WhatIf(INT8, Estimate(part.int8, 0.97 * part.int8, 1.03 * part.int8, 5)),)
    elif what_if and part.roof == "cache" and part.macs:
        forms = (WhatIf(INT8, Estimate(None), legacy_text("its group count has no INT8 kernel")),)
    return LayerTime(
        key=ids[0],
        kind=LAYER,
        op=part.op,
        nodes=ids,
        kernels=(f"kernel{number}",),
        kernel_op=part.kernel_op or part.op,
        weight=weight,
        ms=_estimate(part.ms * slower),
        macs=part.macs,
        element_flops=part.element_flops,
        parameters=count,
        zeros=count // 10,
        bytes_moved=None if part.bytes_moved is None else part.bytes_moved + 4 * count,
        roof_ms=_roof_ms(part, count),
        roof=part.roof,
        what_if=forms,
    )


def _roof_ms(part: Part, count: int) -> float | None:
    if part.roof == "f32":
        return (2 * (part.macs or 0) + (part.element_flops or 0)) / _ROOFS["f32"] / 1e6
    return (part.bytes_moved or 0) / _ROOFS[part.roof] / 1e6 + 4e-6 * count / _ROOFS[part.roof] if part.roof else None


def _row(key: str, kind: str, op: str, time_ms: float, kernels: tuple[str, ...]) -> LayerTime:
    return LayerTime(key, kind, op, (), kernels, key, "", _estimate(time_ms))


def _estimate(value: float) -> Estimate:
    return Estimate(value, 0.99 * value, 1.01 * value, 3)


def _weight_db(number: int, level: str) -> float:
    return 40.0 - 6.0 * LEVELS.index(level) - number % 8 if level != INT8 else 44.0 - number % 8


def _loss_point(number: int, level: str) -> LossPoint:
    db = 50.0 - 8.0 * LEVELS.index(level) - 3.0 * (number % 6) if level != INT8 else 48.0 - 3.0 * (number % 6)
    return LossPoint(level, db, 1 - 10 ** (-db / 10) / 2, 10 ** (-db / 10), 1.0 if db > 10 else 0.5, samples=2)
