"""Rows cut out of a model, and the ratio of two alternating sessions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.model.factory import save
from tests.model.profile.graphs import GRAPHS
from tuibench.core.cell import Estimate
from tuibench.core.profile import WhatIf
from tuibench.engines.error_words import is_of_engine
from tuibench.model.graph import walk
from tuibench.model.profile.calibration import Bias
from tuibench.model.profile.events import Kernel, Run
from tuibench.model.profile.int8 import NotSeparable, unchanged_form
from tuibench.model.profile.layers import setting_for
from tuibench.model.profile.small_session import Turn
from tuibench.model.profile.what_if import ModelValues, compare_sessions

NO_BIAS = Bias(0.0, 0.0)
X = np.ones((1, 2, 4, 4), np.float32)


def model() -> onnx.ModelProto:
    """Return a convolution with weights made of constants and a residual; two other nodes read its output."""
    nodes = [
        helper.make_node("Add", ["half", "half"], ["w"]),
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1] * 4),
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Add", ["c", "r"], ["sum"]),
        helper.make_node("Relu", ["sum"], ["y"]),
        helper.make_node("Neg", ["c"], ["n"]),
        helper.make_node("Exp", ["y"], ["e"]),
    ]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, X.shape) for name in ("x", "e", "n")]
    half = numpy_helper.from_array(np.full((2, 2, 3, 3), 0.5, np.float32), "half")
    graph = helper.make_graph(nodes, "g", values[:1], values[1:], [half])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


def source(given: onnx.ModelProto, feed: dict[str, Any], wanted: Sequence[str], directory: Path) -> ModelValues:
    path = save(given, directory / "m.onnx")
    found = ModelValues(given, path, feed, setting_for(path, (0,), 1, str(directory)))
    found.run(wanted)
    return found


def test_row_is_cut_out_with_all_fused_nodes(tmp_path: Path) -> None:
    names = ["c", "sum", "y"]
    whole = model()
    row = source(whole, {"x": X}, names, tmp_path).cut(names)
    assert [node.op_type for node in row.nodes] == ["Conv", "Add", "Relu"]
    assert list(row.constants) == ["w"] and row.constants["w"].max() == 1.0, "made of constants, so it is one"
    assert sorted(row.fed) == ["r", "x"]
    assert list(row.outputs) == ["c", "y"], "what others read of it keeps the engine from hiding it"
    plain = unchanged_form(row)
    got = onnxruntime.InferenceSession(plain.model).run(None, plain.feed)
    whole.graph.output.extend([onnx.ValueInfoProto(name="c"), onnx.ValueInfoProto(name="y")])
    expected = onnxruntime.InferenceSession(whole.SerializeToString()).run(["c", "y"], {"x": X})
    assert all(np.array_equal(one, other) for one, other in zip(got, expected, strict=True))


@pytest.mark.parametrize(
    ("name", "pick", "reason"),
    [
        ("branches", lambda one: one.op == "If", "runs_subgraphs"),
        ("branches", lambda one: bool(one.parent), "node_in_subgraph"),
        ("branches", None, "node_not_in_model"),
    ],
)
def test_row_that_cannot_be_cut_out_has_a_reason(name: str, pick: Any, reason: str, tmp_path: Path) -> None:
    given = GRAPHS[name]
    found = source(given, {}, [], tmp_path)
    wanted = [next(one.id for one in walk(given.graph) if pick(one))] if pick is not None else ["nowhere"]
    with pytest.raises(NotSeparable, match=reason):
        found.cut(wanted)


def test_engine_failure_on_the_model_is_the_reason_of_every_row(tmp_path: Path) -> None:
    found = source(model(), {"x": X[:, :1]}, ["c"], tmp_path)
    with pytest.raises(NotSeparable, match="inputs_not_computed"):
        found.cut(["c"])


def runs(turns: int, *kernels: tuple[str, float]) -> tuple[list[Run], list[Turn]]:
    """Return as many turns of three calls after two uncounted ones, each running these kernels."""
    own: Run = {(f"{at}",): Kernel((f"{at}",), op, us, 1) for at, (op, us) in enumerate(kernels)}
    first: Run = {(f"{at}",): Kernel((f"{at}",), op, 100 * us, 1) for at, (op, us) in enumerate(kernels)}
    return [first, first, own, own, own] * turns, [Turn(2, (1.0, 1.0, 1.0))] * turns


def of(*kernels: tuple[str, float], plain: Sequence[tuple[str, float]], ops: str) -> WhatIf:
    before, after = runs(5, *plain), runs(5, *kernels)
    return compare_sessions((before[0], after[0]), (before[1], after[1]), NO_BIAS, frozenset(ops.split()))


def test_ratio_counts_all_work_of_the_row_without_layout_changes() -> None:
    found = of(
        ("QuantizeLinear", 5.0), ("Transpose", 50.0), ("QLinearConv", 25.0), ("DequantizeLinear", 10.0), ("Add", 10.0),
        plain=[("ReorderInput", 90.0), ("Conv", 90.0), ("Add", 10.0)], ops="Conv Add",
    )  # fmt: skip
    assert found.ratio.value == pytest.approx(0.5) and found.ratio.n == 5
    assert found.around == pytest.approx(0.3) and not found.reason


def test_transposes_of_the_row_itself_are_counted() -> None:
    found = of(
        ("Transpose", 40.0), ("MatMulIntegerToFloat", 20.0),
        plain=[("Transpose", 40.0), ("MatMul", 80.0)], ops="Transpose MatMul",
    )  # fmt: skip
    assert found.ratio.value == pytest.approx(0.5) and found.around == 0.0


def test_products_that_stay_floats_give_no_ratio() -> None:
    with pytest.raises(NotSeparable, match="products_in_floats"):
        of(("QuantizeLinear", 5.0), ("Conv", 25.0), plain=[("Conv", 90.0)], ops="Conv")


def test_row_of_negligible_time_gives_no_ratio() -> None:
    with pytest.raises(NotSeparable, match="too_short_alone"):
        of(("QLinearConv", 2.0), plain=[("Conv", 4.0)], ops="Conv")


def test_only_engine_errors_are_reasons() -> None:
    with pytest.raises(Exception) as refused:
        onnxruntime.InferenceSession(b"no model")
    assert is_of_engine(refused.value) and is_of_engine(RuntimeError("from C++"))
    for ours in (TypeError("len() of unsized object"), ZeroDivisionError(), KeyError("x"), NotImplementedError()):
        assert not is_of_engine(ours)


def test_programming_error_is_not_the_reason_of_a_layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tuibench.core.model import Point, Reference
    from tuibench.model.profile import what_if

    def wrong(*_: object) -> WhatIf:
        raise ZeroDivisionError

    monkeypatch.setattr(what_if, "measure_ratio", wrong)
    monkeypatch.setattr(what_if, "calibrate", lambda *_: NO_BIAS)
    bundle = tmp_path / "inputs.npz"
    np.savez(bundle, x=X)
    monkeypatch.setattr(what_if, "read_bundle", lambda _: [{"x": X}])
    point = Point("p", 0, 1, 1, {}, {}, (), str(bundle), 8, Reference(None, None, None))
    said: list[tuple[str, Estimate]] = []
    said_at: list[str] = []
    path = save(model(), tmp_path / "m.onnx")
    with pytest.raises(ZeroDivisionError):
        what_if.measure_what_if(
            path,
            point,
            [0],
            1,
            {"c": ["c"]},
            str(tmp_path),
            1.0,
            said_at.append,
            lambda row, found: said.append((row, found.ratio)),
        )
    assert said == [] and said_at == ["c"] and os.path.exists(path)
