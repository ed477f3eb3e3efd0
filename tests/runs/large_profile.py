"""Profiles of any number of nodes, with the names and figures of an exported transformer."""

from __future__ import annotations

from dataclasses import replace

from tests.runs.profile_script import make_profile_result, make_run
from tuibench.core.profile import LAYER, PERFORMANCE, CostProfile, KernelRow, LayerRun, NodeCost, Profile
from tuibench.core.reason import Reason
from tuibench.core.result import RunResult
from tuibench.runs.profile.result import assemble_performance

_PARTS = (
    "self_attn/q_proj/MatMul",
    "self_attn/k_proj/MatMul",
    "self_attn/Softmax",
    "mlp/gate_proj/MatMul",
    "mlp/act/Mul",
)


def make_large_costs(count: int) -> CostProfile:
    """Return the costs of an exported transformer with `count` nodes, named like an exporter's."""
    nodes = tuple(_make_node(place) for place in range(count))
    macs = sum(node.macs or 0 for node in nodes)
    return CostProfile(nodes, 1, 1, {"batch": 1, "sequence": 128}, macs, 0, 1, 0, 1, 1, 1, 0, Reason("traced"))


def _make_node(place: int) -> NodeCost:
    name = f"/model/layers.{place // len(_PARTS)}/{_PARTS[place % len(_PARTS)]}"
    op = name.rpartition("/")[2]
    multiplies = op == "MatMul"
    return NodeCost(
        id=f"{name}_output_0",
        index=place,
        op=op,
        name=name,
        weight=f"onnx::MatMul_{70_000 + place}" if multiplies else "",
        weight_shape=(768, 768) if multiplies else (),
        input_shapes=((1, 128, 768), (768, 768)) if multiplies else ((1, 12, 128, 128),),
        output_shape=(1, 128, 768) if multiplies else (1, 12, 128, 128),
        macs=128 * 768 * 768 if multiplies else 0,
        element_flops=0 if multiplies else 12 * 128 * 128,
        parameters=768 * 768 if multiplies else 0,
        zeros=(place * 7919) % 1000 if multiplies else 0,
        weight_bytes=4 * 768 * 768 if multiplies else 0,
        activation_bytes=786_432 + place % 977,
    )


def _make_rows(costs: CostProfile, n: int) -> tuple[KernelRow, ...]:
    """Return a row for each node, timed by process `n`."""
    return tuple(
        KernelRow(
            node.id, LAYER, node.op, (node.id,), (f"{node.name}_kernel_time",), node.op,
            raw_us := 10 + (node.index * 7919 * n % 10_007) / 1.7, raw_us - 0.5317, False, node.activation_bytes,
        )
        for node in costs.nodes
    )  # fmt: skip


def make_large_run(costs: CostProfile, n: int) -> LayerRun:
    """Return the layer times that process `n` found."""
    return replace(make_run(1e3 * len(costs.nodes)), rows=_make_rows(costs, n))


def make_large_result(count: int) -> RunResult:
    """Return a performance profile of that many nodes from three processes, as a run leaves it."""
    costs, small = make_large_costs(count), make_profile_result(1)
    runs = [make_large_run(costs, n) for n in (1, 2, 3)]
    performance = assemble_performance(spec=small.spec, point=small.points[0], costs=costs, runs=runs)
    return replace(small, profile=Profile(PERFORMANCE, costs, performance=performance))
