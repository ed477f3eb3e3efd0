"""Copies in the form that an engine takes: they compute the same, and the user's files stay as they are."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper

from tests.engines import make
from tests.engines.make import Case
from tests.model import exports
from tests.refusal import refused
from tests.runs.child_task import call_here
from tuibench.core.engine import FIXED, SYMBOLIC, ModelForm
from tuibench.core.errors import ModelError
from tuibench.core.record import to_plain
from tuibench.model import adaptation
from tuibench.runs.task import StopSwitch
from tuibench.worker.bundle import write_bundle

OLD = ModelForm(FIXED, highest_opset=18, highest_ir=9)
NAMED = ModelForm(SYMBOLIC)


def adapt(case: Case, form: ModelForm, folder: Path) -> Path:
    """Return the copy that the child task writes."""
    (folder / "models").mkdir(exist_ok=True)
    (folder / "copies").mkdir(exist_ok=True)
    path, target, bundle = case.save(folder / "models"), folder / "copies" / "copy.onnx", folder / "inputs.npz"
    write_bundle(bundle, case.feeds)
    request = {"path": path, "form": to_plain(form), "bundle": str(bundle), "target": str(target)}
    call_here("adapt", request, timeout_s=60, stop=StopSwitch())
    return target


def run(path: Path | str, feed: Any) -> list[Any]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return list(session.run(None, feed))


def assert_equal_outputs(case: Case, target: Path) -> None:
    for feed in case.feeds[:1]:
        expected = run(target.parent.parent / "models" / f"{case.name}.onnx", feed)
        for one, other in zip(expected, run(target, feed), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)


MORE = ((exports.normalized, 23), (exports.sampled, 20), (exports.causal, 23))


@exports.expanded
@pytest.mark.parametrize(("build", "opset"), [*exports.EXPORTS, *MORE])
def test_newer_exports_compute_the_same_in_an_older_opset(
    build: Callable[[int], Case], opset: int, tmp_path: Path
) -> None:
    case = build(opset)
    target = adapt(case, OLD, tmp_path)
    copy = onnx.load(target)
    assert copy.ir_version == 9 and [one.version for one in copy.opset_import] == [18]
    assert "CastLike" not in {node.op_type for node in copy.graph.node}
    onnx.checker.check_model(copy)
    assert_equal_outputs(case, target)


def test_new_operator_without_body_is_refused_by_name(tmp_path: Path) -> None:
    path = exports.joined_text(20).save(tmp_path)
    with refused(ModelError, "operator_too_new", operator="StringConcat", opset=20, highest=18):
        adaptation.write_copy(path, OLD, None, tmp_path / "copy.onnx")


def test_changed_attribute_is_refused_unless_it_says_the_default(tmp_path: Path) -> None:
    ports = [make.tensor("x", [4, 8])], [make.tensor("y", [4, 8])]
    for block, taken in ((0, True), (2, False)):
        nodes = [
            exports.op("QuantizeLinear", "x s", "q", block_size=block, axis=0),
            exports.op("DequantizeLinear", "q s", "y", block_size=block, axis=0),
        ]
        scale = np.ones((2, 8) if block else (), np.float32)
        case = exports.build(f"quantized{block}", 21, nodes, ports, s=scale)
        if taken:
            assert_equal_outputs(case, adapt(case, OLD, tmp_path))
            continue
        with refused(ModelError, "operator_too_new", operator="QuantizeLinear"):
            adaptation.write_copy(case.save(tmp_path), OLD, None, tmp_path / "copy.onnx")


@pytest.mark.parametrize("build", make.PLAIN)
def test_fixed_dims_are_those_of_the_sample(build: Callable[[], Case], tmp_path: Path) -> None:
    case = build()
    target = adapt(case, OLD, tmp_path)
    for port in onnx.load(target).graph.input:
        sizes = tuple(dim.dim_value for dim in port.type.tensor_type.shape.dim)
        assert sizes == case.feeds[0][port.name].shape
    assert_equal_outputs(case, target)


@pytest.mark.parametrize("build", make.PLAIN)
def test_symbolic_dims_all_have_names(build: Callable[[], Case], tmp_path: Path) -> None:
    case = build()
    target = adapt(case, NAMED, tmp_path)
    for port in onnx.load(target).graph.input:
        assert all(dim.dim_param for dim in port.type.tensor_type.shape.dim)
    assert_equal_outputs(case, target)


def test_named_copy_has_named_nodes_and_no_weights_as_inputs(tmp_path: Path) -> None:
    case = make.mlp()
    case.model.ir_version = 3
    case.model.graph.node[0].name = "Relu_1"
    case.model.graph.input.append(make.tensor("w1", [8, 16]))
    target = adapt(case, NAMED, tmp_path)
    copy = onnx.load(target)
    assert [node.name for node in copy.graph.node] == ["Relu_1", "Relu_2", "MatMul_2"]
    assert [value.name for value in copy.graph.input] == ["x"]
    assert_equal_outputs(case, target)


def test_wrong_dims_of_an_output_are_left_out(tmp_path: Path) -> None:
    case = make.mlp()
    case.model.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 11
    target = adapt(case, OLD, tmp_path)
    copy = onnx.load(target)
    assert all(not dim.WhichOneof("value") for dim in copy.graph.output[0].type.tensor_type.shape.dim)
    assert_equal_outputs(case, target)


def test_name_with_nul_is_refused(tmp_path: Path) -> None:
    case = make.mlp()
    case.model.graph.output[0].name = case.model.graph.node[-1].output[0] = "y\0z"
    with refused(ModelError, "port_name_with_nul", role="output", name="y\0z"):
        adaptation.write_copy(case.save(tmp_path), OLD, None, tmp_path / "copy.onnx")


def test_unknown_opset_and_ir_version_are_refused(tmp_path: Path) -> None:
    for what, number in (("opset", 999), ("IR version", 99)):
        case = make.mlp()
        if what == "opset":
            case.model.opset_import[0].version = number
        else:
            case.model.ir_version = number
        with refused(ModelError, "version_unknown", what=what, number=number):
            adaptation.write_copy(case.save(tmp_path), OLD, None, tmp_path / "copy.onnx")


@pytest.mark.parametrize("form", [OLD, NAMED])
def test_input_that_is_no_tensor_is_refused(form: ModelForm, tmp_path: Path) -> None:
    with refused(ModelError, "port_not_a_tensor", role="input", name="x", kind="sequence"):
        adaptation.write_copy(make.sequence().save(tmp_path), form, None, tmp_path / "copy.onnx")


def test_identity_of_a_weight_is_folded(tmp_path: Path) -> None:
    nodes = [make.op("Identity", "w", "same"), make.op("Identity", "same", "again"), make.op("Mul", "x again", "y")]
    case = Case(
        "identity",
        make.build(nodes, [make.tensor("x", [1, 4])], [make.tensor("y", [1, 4])], w=make.normal(4)),
        ({"x": make.normal(1, 4)},),
    )
    target = adapt(case, NAMED, tmp_path)
    assert [(node.op_type, list(node.input)) for node in onnx.load(target).graph.node] == [("Mul", ["x", "w"])]
    assert_equal_outputs(case, target)


def test_calls_of_local_functions_become_nodes(tmp_path: Path) -> None:
    case = make.mlp()
    body = [make.op("Relu", "a", "r"), make.op("Neg", "r", "b")]
    twice = helper.make_function("own", "Twice", ["a"], ["b"], body, [helper.make_opsetid("", 17)])
    case.model.functions.append(twice)
    case.model.opset_import.append(helper.make_opsetid("own", 1))
    case.model.graph.node[1].CopyFrom(helper.make_node("Twice", ["a"], ["b"], domain="own"))
    target = adapt(case, OLD, tmp_path)
    copy = onnx.load(target)
    assert [node.op_type for node in copy.graph.node] == ["MatMul", "Relu", "Neg", "MatMul"] and not copy.functions
    assert_equal_outputs(case, target)


@pytest.mark.parametrize("most", [adaptation._MOST_EMBEDDED, 0])
def test_external_weights_follow_and_the_files_stay(most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adaptation, "_MOST_EMBEDDED", most)
    case = make.mlp(256)
    source = tmp_path / "models" / f"{case.name}.onnx"
    source.parent.mkdir()
    onnx.save(case.model, source, save_as_external_data=True, location="weights.bin", size_threshold=0)
    before = _digests(source.parent)
    write_bundle(tmp_path / "inputs.npz", case.feeds)
    target = tmp_path / "copies" / "copy.onnx"
    target.parent.mkdir()
    adaptation.write_copy(str(source), OLD, str(tmp_path / "inputs.npz"), target)
    assert sorted(one.name for one in target.parent.iterdir()) == [
        "copy.onnx",
        *(["copy.onnx.0.data"] if most == 0 else []),
    ]
    assert _digests(source.parent) == before
    assert_equal_outputs(case, target)


def test_weights_keep_their_bytes(tmp_path: Path) -> None:
    case = exports.perceptron(20)
    copy = onnx.load(adapt(case, OLD, tmp_path))
    held = {weight.name: weight for weight in copy.graph.initializer}
    for weight in case.model.graph.initializer:
        assert np.array_equal(numpy_helper.to_array(weight), numpy_helper.to_array(held[weight.name]))


def _digests(folder: Path) -> dict[str, tuple[str, int]]:
    return {
        one.name: (hashlib.sha256(one.read_bytes()).hexdigest(), one.stat().st_mtime_ns) for one in folder.iterdir()
    }
