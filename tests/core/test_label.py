from __future__ import annotations

from tests.runs.execution_data import asked
from tuibench.core.label import model_names, name_cell, varying_axes
from tuibench.core.spec import ModelSource


def test_cell_name_has_only_varying_and_important_parts() -> None:
    one, other = asked(dims={"n": 32}), asked(engine="openvino", dims={"n": 64}, model_sha256="b" * 64)
    assert name_cell(one, ()) == "sync, 2 cores, batch 1"
    axes = varying_axes([one, other])
    assert axes == ("model", "engine", "dims")
    assert name_cell(other, axes, model="m.onnx") == "m.onnx, openvino, sync, 2 cores, batch 1, n=64"
    assert varying_axes([one]) == varying_axes([]) == ()


def test_cell_name_has_the_streams_used_and_no_missing_batch() -> None:
    streams = asked(scenario="async", streams=4, batch=None, cores=1)
    assert name_cell(streams, ()) == "async, 1 core, 4 streams"
    assert name_cell(streams, (), streams=1) == "async, 1 core, 1 stream"
    was = asked(scenario="async", streams=2, batch=None, cores=1)
    assert name_cell(streams, (), was=was) == "async, 1 core, 2→4 streams"
    assert name_cell(streams, (), streams=2, was=was) == "async, 1 core, 2 streams"
    assert name_cell(streams, (), streams=3, was=was, was_streams=3) == "async, 1 core, 3 streams"


def test_brief_name_of_streams_has_cores_and_batch_only_if_varying() -> None:
    sync, streams = asked(cores=16), asked(scenario="async", cores=16, streams=4)
    assert name_cell(sync, (), brief=True) == "sync, 16 cores, batch 1"
    assert name_cell(streams, (), brief=True) == "async, 4 streams"
    assert name_cell(streams, ("cores", "batch"), brief=True) == "async, 16 cores, batch 1, 4 streams"


def test_foreign_names_in_a_cell_name_are_escaped() -> None:
    hostile = asked(engine="\x1b[2J", dims={"\n": 1})
    assert name_cell(hostile, ("model", "engine", "dims"), model="\r") == "\\r, \\e[2J, sync, 2 cores, batch 1, \\n=1"


def test_models_with_equal_file_names_keep_their_directories() -> None:
    assert model_names([ModelSource("a/m.onnx", ""), ModelSource("b/n.onnx", "")]) == ["m.onnx", "n.onnx"]
    assert model_names([ModelSource("a/m.onnx", ""), ModelSource("b/m.onnx", "")]) == ["a/m.onnx", "b/m.onnx"]
