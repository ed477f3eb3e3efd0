"""A summary of the model; broken and hostile files end in one line."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.model.factory import BF16, BOOL, F16, F32, I64, STRING, classifier, encoder, model, save, tensor, weight
from tests.refusal import require_shown
from tuibench.core.errors import ModelError
from tuibench.core.model import Port
from tuibench.core.reason import Reason, because
from tuibench.core.record import to_plain
from tuibench.model.inspection import ZeroBudget, inspect
from tuibench.model.preparation import why_none

RELU = [helper.make_node("Relu", ["x"], ["y"])]
X, Y = [tensor("x", F32, [1, 4])], [tensor("y", F32, [1, 4])]


def refusal(path: Path | str) -> Reason:
    with pytest.raises(ModelError) as caught:
        inspect(path)
    return require_shown(caught.value.reason)


def test_summary_has_the_figures_of_the_model(tmp_path: Path) -> None:
    path = save(encoder(rows=50), tmp_path / "m.onnx")
    found = inspect(path)
    assert found.sha256 == hashlib.sha256(Path(path).read_bytes()).hexdigest()
    assert (found.nodes, found.parameters, found.ir_version, found.opsets) == (5, 201, 8, {"ai.onnx": 17})
    assert found.operators == {"Cast": 2, "Gather": 1, "ReduceSum": 1, "Mul": 1}
    assert found.weight_types == {"float32": 200, "int64": 1}
    assert found.inputs[0] == Port("ids", "tensor", "int32", ("batch", "seq"))
    assert found.quantization is None and found.reason is None and found.external_bytes == 0


def test_subgraphs_constants_and_other_domains_are_counted(tmp_path: Path) -> None:
    inner = helper.make_node("Relu", ["x"], ["z"])
    branch = helper.make_graph([inner], "b", [], [tensor("z", F32, [1, 4])], [weight("w", np.zeros(3, np.float32))])
    constant = helper.make_node("Constant", [], ["c"], value=weight("", np.ones((2, 2), np.float32)))
    nodes = [
        helper.make_node("If", ["x"], ["y"], then_branch=branch, else_branch=branch),
        constant,
        helper.make_node("Foo", ["x"], ["q"], domain="com.acme"),
    ]
    found = inspect(save(model(nodes, X, Y), tmp_path / "m.onnx"))
    assert found.nodes == 5 and found.parameters == 10 and found.zeros == 6
    assert found.operators == {"Relu": 2, "If": 1, "Constant": 1, "com.acme::Foo": 1}


def test_function_bodies_are_counted_once(tmp_path: Path) -> None:
    constant = helper.make_node("Constant", [], ["c"], value=weight("", np.zeros((2, 2), np.float32)))
    branch = helper.make_graph([helper.make_node("Relu", ["a"], ["z"])], "b", [], [tensor("z", F32, [1, 4])])
    choice = helper.make_node("If", ["a"], ["q"], then_branch=branch, else_branch=branch)
    noise = helper.make_node("RandomNormal", [], ["b"], shape=[1, 4])
    opsets = [helper.make_opsetid("", 17)]
    body = helper.make_function("own", "Noise", ["a"], ["b"], [constant, choice, noise], opsets)
    calls = [helper.make_node("Noise", [a], [b], domain="own") for a, b in (("x", "h"), ("h", "y"))]
    built = model(calls, X, Y)
    built.functions.append(body)
    built.opset_import.append(helper.make_opsetid("own", 1))
    found = inspect(save(built, tmp_path / "m.onnx"))
    assert found.operators == {"own::Noise": 2, "Constant": 1, "If": 1, "RandomNormal": 1, "Relu": 2}
    assert (found.nodes, found.parameters, found.zeros) == (7, 4, 4)
    assert why_none(found) == because("draws_random_numbers", ops=["RandomNormal"])


def test_weights_among_the_inputs_are_not_fed(tmp_path: Path) -> None:
    add = [helper.make_node("Add", ["x", "w"], ["y"])]
    built = model(add, [*X, tensor("w", F32, [4])], Y, [weight("w", np.ones(4, np.float32))])
    assert [port.name for port in inspect(save(built, tmp_path / "m.onnx")).inputs] == ["x"]


def test_every_kind_of_input_and_dim_is_described(tmp_path: Path) -> None:
    of = helper.make_tensor_type_proto
    made = helper.make_value_info
    values = [
        tensor("fixed", F16, [2, "n", None]),
        tensor("scalar", BOOL, []),
        tensor("open", STRING, None),
        tensor("minus", BF16, [-1, 4]),
        tensor("mark", F32, ["?", 4]),
        made("sequence", helper.make_sequence_type_proto(of(F32, ["a", 3]))),
        made("map", helper.make_map_type_proto(I64, of(F32, []))),
        made("optional", helper.make_optional_type_proto(helper.make_sequence_type_proto(of(F32, None)))),
    ]
    found = inspect(save(model([], values, []), tmp_path / "m.onnx")).inputs
    assert found == (
        Port("fixed", "tensor", "float16", (2, "n", None)),
        Port("scalar", "tensor", "bool", ()),
        Port("open", "tensor", "string", None),
        Port("minus", "tensor", "bfloat16", (None, 4)),
        Port("mark", "tensor", "float32", (None, 4)),
        Port("sequence", "sequence", "float32", ("a", 3), "tensor"),
        Port("map", "map", "int64->float32", None, "tensor"),
        Port("optional", "optional", "float32", None, "sequence"),
    )


@pytest.mark.parametrize(
    ("nodes", "weights", "expected"),
    [
        (["QuantizeLinear", "DequantizeLinear"], [weight("w", np.ones((4, 4), np.int8))], "QDQ int8"),
        (["DynamicQuantizeLinear", "MatMulInteger"], [], "dynamic int8"),
        (["QLinearConv"], [], "QOperator int8"),
        (["DequantizeLinear"], [weight("w", np.ones((4, 4), np.uint8))], "weight-only uint8"),
        (["MatMulNBits"], [], "weight-only (MatMulNBits)"),
        (["Relu"], [weight("w", np.ones((4, 4), np.int8))], None),
    ],
)
def test_quantization_is_detected_by_operators(
    tmp_path: Path, nodes: list[str], weights: list[onnx.TensorProto], expected: str | None
) -> None:
    built = model([helper.make_node(name, ["x"], ["y"]) for name in nodes], X, Y, weights)
    assert inspect(save(built, tmp_path / "m.onnx")).quantization == expected


def test_zeros_of_every_element_type_are_counted(tmp_path: Path) -> None:
    half = np.array([0.0, -0.0, 1.0, 2.0], np.float16)
    brain = onnx.TensorProto(name="brain", data_type=BF16, dims=[2], raw_data=bytes([0, 0, 0x80, 0x3F]))
    nibbles = onnx.TensorProto(name="nibbles", data_type=onnx.TensorProto.INT4, dims=[4], raw_data=b"\x10\x00")
    typed = helper.make_tensor("typed", F32, [3], [0.0, 5.0, -0.0])
    text = onnx.TensorProto(name="text", data_type=STRING, dims=[1], string_data=[b""])
    weights = [weight("half", half), brain, nibbles, typed, text, weight("big", np.zeros(100, np.int64))]
    found = inspect(save(model(RELU, X, Y, weights), tmp_path / "m.onnx"))
    assert {name: zeros for name, _, zeros in found.zero_tensors} == {
        "half": 2,
        "brain": 1,
        "nibbles": 3,
        "typed": 2,
        "big": 100,
    }
    assert found.zeros == 108 and found.zero_tensors[0] == ("big", 100, 100)


@pytest.mark.parametrize(
    ("elements", "data", "zeros"),
    [(3, b"\x11\x01", 0), (3, b"\x01\x00", 2), (3, b"\x01\x10", 2), (1, b"\x00", 1), (4, b"\x11\x01", 1), (0, b"", 0)],
)
def test_padding_half_byte_after_an_odd_count_is_no_zero(
    tmp_path: Path, elements: int, data: bytes, zeros: int
) -> None:
    packed = onnx.TensorProto(name="w", data_type=onnx.TensorProto.INT4, dims=[elements], raw_data=data)
    assert inspect(save(model(RELU, X, Y, [packed]), tmp_path / "m.onnx")).zeros == zeros


def test_bytes_behind_an_external_weight_are_not_counted(tmp_path: Path) -> None:
    path = external(tmp_path, "w.bin", length=0)
    (tmp_path / "m" / "w.bin").write_bytes(np.array([0, 1, 2, 0], np.float32).tobytes() + bytes(400))
    assert inspect(path).zeros == 2


def test_zero_count_over_its_budget_is_given_up_with_a_reason(tmp_path: Path) -> None:
    path = save(encoder(), tmp_path / "m.onnx")
    small = inspect(path, budget=ZeroBudget(total_bytes=10))
    assert small.zeros is None and small.reason and small.parameters == 201
    ticks = iter(range(100))
    slow = inspect(path, budget=ZeroBudget(seconds=0, clock=lambda: next(ticks)))
    assert slow.zeros is None and slow.reason == because("weights_took_too_long", s=0)


def external(tmp_path: Path, location: str, offset: int = 0, length: int = 16) -> str:
    built = model(RELU, X, Y, [weight("w", np.array([0, 1, 2, 0], np.float32))])
    held = built.graph.initializer[0]
    held.ClearField("raw_data")
    held.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", str(offset)), ("length", str(length or ""))):
        held.external_data.add(key=key, value=value)
    (tmp_path / "m").mkdir(exist_ok=True)
    return save(built, tmp_path / "m" / "m.onnx")


def test_external_data_is_read_hashed_and_counted(tmp_path: Path) -> None:
    path = external(tmp_path, "w.bin", offset=4)
    data = b"head" + np.array([0, 1, 2, 0], np.float32).tobytes()
    (tmp_path / "m" / "w.bin").write_bytes(data)
    found = inspect(path)
    assert found.external_files == ("w.bin",) and found.external_bytes == 20 and found.zeros == 2
    assert found.sha256 == hashlib.sha256(Path(path).read_bytes() + data).hexdigest()


def test_external_data_behind_cache_links_is_found(tmp_path: Path) -> None:
    real = Path(external(tmp_path, "w.bin"))
    (tmp_path / "m" / "blob").write_bytes(bytes(16))
    cache = tmp_path / "snapshot"
    cache.mkdir()
    (cache / "m.onnx").symlink_to(real)
    (cache / "w.bin").symlink_to(tmp_path / "m" / "blob")
    assert inspect(cache / "m.onnx").external_bytes == 16


@pytest.mark.parametrize("location", ["../w.bin", "/etc/hostname", "a/../../w.bin", "", "link.bin", "../m/inside.bin"])
def test_external_data_outside_the_model_directory_is_refused(tmp_path: Path, location: str) -> None:
    path = external(tmp_path, location)
    (tmp_path / "w.bin").write_bytes(bytes(16))
    (tmp_path / "m" / "link.bin").symlink_to(tmp_path / "w.bin")
    (tmp_path / "m" / "inside.bin").write_bytes(bytes(16))
    code = "external_data_outside" if location else "external_data_no_name"
    assert refusal(path) == because(code, path=str(path), location=location)


def test_missing_and_short_external_data_name_the_file(tmp_path: Path) -> None:
    path = external(tmp_path, "w.bin")
    data = tmp_path / "m" / "w.bin"
    missing = because("external_data", path=str(data), model=str(path))
    assert refusal(path) == because("path_missing", what=missing)
    data.write_bytes(bytes(15))
    assert (refusal(path).code, refusal(path).fields["path"]) == ("external_data_too_short", str(data))
    assert refusal(external(tmp_path, "w.bin", offset=-4)).fields["path"] == str(data)


def test_unreadable_bytes_are_refused_as_no_model(tmp_path: Path) -> None:
    whole = encoder().SerializeToString()
    for name, data, code in (
        ("cut", whole[: len(whole) * 6 // 10], "model_unparsable"),
        ("noise", bytes(range(256)) * 16, "model_unparsable"),
        ("bare", b"\x08\x08", "model_without_graph"),
    ):
        (tmp_path / name).write_bytes(data)
        assert refusal(tmp_path / name).code == code


def test_names_with_any_bytes_are_kept(tmp_path: Path) -> None:
    built = model(
        [helper.make_node("Relu", ["\x1b[31mNAME"], ["y"])], [tensor("\x1b[31mNAME", F32, ["[red]", 4])], Y
    ).SerializeToString()
    (tmp_path / "m.onnx").write_bytes(built.replace(b"NAME", b"\xff\xfe\n\0"))
    found = inspect(tmp_path / "m.onnx")
    assert found.inputs[0].name == "\x1b[31m\udcff\udcfe\n\0" and found.inputs[0].shape == ("[red]", 4)
    assert json.loads(json.dumps(to_plain(found)))["inputs"][0]["name"] == found.inputs[0].name


def test_negative_weight_dim_is_refused(tmp_path: Path) -> None:
    built = classifier()
    built.graph.initializer.add(name="w", data_type=F32, dims=[-1, 4])
    assert refusal(save(built, tmp_path / "m.onnx")).code == "weight_with_negative_dim"


def test_ort_file_has_an_interface_and_a_reason(tmp_path: Path) -> None:
    (tmp_path / "m.ort").write_bytes(b"\x10\0\0\0ORTM" + bytes(100))
    port = Port("x", "tensor", "float32", ("b", 4))
    found = inspect(tmp_path / "m.ort", lambda path, kind: ((port,), (port,)))
    assert found.format == "ort" and found.inputs == (port,) and found.nodes is None and found.reason
    assert refusal(tmp_path / "m.ort") == because("ort_needs_engine", path=str(tmp_path / "m.ort"))
