"""Runs and costs of a small model; each test sets only the values it needs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.build import QUIET, make_spec
from tuibench.core.model import Point, Reference
from tuibench.core.profile import (
    FOLDED,
    LAYER,
    LAYOUT,
    RUNTIME,
    CostProfile,
    KernelRow,
    LayerRun,
    NodeCost,
)
from tuibench.core.reason import Reason

POINT = Point("m0p0", 0, 2, 2, {"seq": 8}, {}, (), "m0p0.npz", 1, Reference(None, None, None))
SPEC = make_spec(Path("m.onnx"), engines=("onnxruntime",))
COSTS = CostProfile(
    (
        NodeCost("conv", 0, "Conv", "", "w", macs=1000, parameters=10, zeros=5, weight_bytes=40, activation_bytes=400),
        NodeCost("relu", 1, "Relu", "", element_flops=100, activation_bytes=800),
        NodeCost("gather", 2, "Gather", "", "table", parameters=9999, weight_bytes=1 << 20, activation_bytes=64),
        NodeCost("shape", 3, "Shape", ""),
    ),
    *(2, 2, {"seq": 8}, 1000, 100, 10009, 5, 0, 0, None, 0, Reason("traced")),
)


def row(key: str, us: float, *nodes: str, kind: str = LAYER, op: str = "Relu", **changes: Any) -> KernelRow:
    return replace(KernelRow(key, kind, op, nodes, (f"kernel of {key}",), op, us + 1, us), **changes)


def run(factor: float = 1.0, unprofiled_us: float = 1000.0, **changes: Any) -> LayerRun:
    rows = (
        row("conv", 700 * factor, "conv", "relu", activation_bytes=600),
        row("gather", 250 * factor, "gather", op="Gather", activation_bytes=64),
        row("reorder", 30 * factor, kind=RUNTIME, op=LAYOUT),
        KernelRow("beforehand", FOLDED, "done beforehand", ("shape",), (), "", 0.0, 0.0),
    )
    found = LayerRun(
        rows, unprofiled_us, 1100.0, 1.0, 10, 20, 3, 5.0, 2.0, 1 << 20, QUIET, "1.31.1", 1, (0,), ("avx2",)
    )
    return replace(found, **changes)
