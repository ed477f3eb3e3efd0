"""Names read from the wire format, compared with onnx's parser and tested with invalid bytes."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engines import make
from tuibench.engines.openvino import read_names
from tuibench.model.inspection import input_ports


@pytest.mark.parametrize("build", make.PLAIN + make.ODD)
def test_names_match_those_that_onnx_reads(build: object, tmp_path: Path) -> None:
    assert callable(build)
    case = build()
    graph = case.model.graph
    assert read_names(case.save(tmp_path)) == ([i.name for i in graph.input], [o.name for o in graph.output])


def test_input_with_a_default_need_not_be_fed(tmp_path: Path) -> None:
    case = make.mlp()
    case.model.graph.input.insert(0, make.tensor("w1", [8, 16]))
    assert read_names(case.save(tmp_path)) == (["x"], ["y"])


def test_input_with_a_sparse_default_need_not_be_fed(tmp_path: Path) -> None:
    case = make.mlp()
    case.model.graph.input.insert(0, make.tensor("thin", [8, 16]))
    values = onnx.helper.make_tensor("thin", onnx.TensorProto.FLOAT, [1], [0.5])
    places = onnx.helper.make_tensor("places", onnx.TensorProto.INT64, [1], [3])
    case.model.graph.sparse_initializer.append(onnx.helper.make_sparse_tensor(values, places, [8, 16]))
    assert read_names(case.save(tmp_path)) == (["x"], ["y"])
    assert [port.name for port in input_ports(case.model.graph)] == ["x"]


def test_name_may_be_anything_but_invalid_utf8(tmp_path: Path) -> None:
    case = make.mlp()
    for node in case.model.graph.node:
        node.input[:] = ["\x1b[31mµ\n" if name == "x" else name for name in node.input]
    case.model.graph.input[0].name = "\x1b[31mµ\n"
    path = Path(case.save(tmp_path))
    assert read_names(str(path))[0] == ["\x1b[31mµ\n"]
    path.write_bytes(path.read_bytes().replace("µ".encode(), b"\xff\xff"))
    with pytest.raises(UnicodeDecodeError):
        read_names(str(path))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80)
@given(data=st.data())
def test_damaged_file_gives_names_or_a_value_error(data: st.DataObject, tmp_path: Path) -> None:
    whole = make.two_outputs().model.SerializeToString()
    cut = data.draw(st.integers(1, len(whole)))
    position, byte = data.draw(st.integers(0, cut - 1)), data.draw(st.binary(min_size=1, max_size=1))
    path = tmp_path / "damaged.onnx"
    path.write_bytes(whole[:position] + byte + whole[position + 1 : cut])
    try:
        names = read_names(str(path))
    except ValueError:
        return
    try:
        graph = onnx.load(path, load_external_data=False).graph
    except Exception:
        # Only onnx parses the nodes as well.
        return
    assert sorted(names[1]) == sorted(o.name for o in graph.output)


def test_empty_file_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "empty.onnx").touch()
    with pytest.raises(ValueError, match="empty"):
        read_names(str(tmp_path / "empty.onnx"))
