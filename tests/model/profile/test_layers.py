"""Measuring tasks of the child on small models: shares and ratios only, no times."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import onnx
import onnxruntime
import pytest

from tests.model.factory import save
from tests.model.profile.graphs import GRAPHS
from tests.refusal import ChildError
from tests.test_child import Answer, call, make_points
from tuibench.core.cell import Estimate
from tuibench.core.errors import ExitCode
from tuibench.core.profile import LayerRun, Roofline, ZeroEffect
from tuibench.core.reason import ERROR, because
from tuibench.core.record import from_plain, to_plain
from tuibench.model.graph import walk
from tuibench.model.profile.roofline import describe, dram_working_set, judge

CPU = min(os.sched_getaffinity(0))
PLACED = {"cpus": [CPU], "threads": 1, "engine": "onnxruntime"}
BRIEF_S = 0.3
"""As good as no time: for tests that read which rows there are, not how long they take."""
SAMPLES = Path(__file__).parents[3] / "tuibench" / "data" / "samples"


def ask(task: str, path: str, run_dir: Path, **more: Any) -> Answer:
    point = to_plain(make_points(path, run_dir)[0])
    return call(task, {"path": path, "point": point, "run_dir": str(run_dir), "max_s": 10, **PLACED, **more})


@pytest.fixture(scope="module")
def cnn(tmp_path_factory: pytest.TempPathFactory) -> tuple[Answer, list[str]]:
    run_dir = tmp_path_factory.mktemp("run")
    answer = ask("layers", str(SAMPLES / "cnn.onnx"), run_dir, runs=4)
    return answer, sorted(os.listdir(run_dir))


def test_every_node_of_a_model_has_a_time(cnn: tuple[Answer, list[str]]) -> None:
    found = from_plain(LayerRun, cnn[0].result)
    nodes = [name for row in found.rows for name in row.nodes]
    assert sorted(nodes) == sorted(one.id for one in walk(onnx.load(SAMPLES / "cnn.onnx").graph))
    assert found.runs == 4 and found.unprofiled_runs > 4 and found.kernels >= len([r for r in found.rows if r.kernels])
    assert found.engine_version == onnxruntime.__version__ and found.cpus == (CPU,) and found.threads == 1
    assert found.bias_us > 0 and found.load_ms > 0 and found.noise.blocks >= 2 and found.peak_bytes
    convolutions = [row for row in found.rows if row.op == "Conv"]
    assert convolutions and all(row.raw_us > row.us > 0 and row.activation_bytes for row in convolutions)
    assert all(row.us <= row.raw_us for row in found.rows) and found.precision == "f32"


def test_stages_are_reported_and_no_other_file_is_left(cnn: tuple[Answer, list[str]]) -> None:
    stages = [line["stage"] for line in cnn[0].lines if "stage" in line]
    assert stages[:4] == ["loading", "first", "checking", "profiling"]
    assert all(name.startswith("m0p0.") for name in cnn[1])


def test_names_that_break_the_profilers_file_lose_no_time(tmp_path: Path) -> None:
    model = onnx.load(SAMPLES / "cnn.onnx")
    for number, node in enumerate(model.graph.node):
        node.name = f'a "quoted" \\ {number}\n\x1b[2J'
    path = Path(save(model, tmp_path / "model.onnx"))
    before = path.read_bytes()
    (tmp_path / "run").mkdir()
    found = from_plain(LayerRun, ask("layers", str(path), tmp_path / "run", runs=4, max_s=BRIEF_S).result)
    convolutions = [row for row in found.rows if row.op == "Conv"]
    assert len(convolutions) >= 15 and all(row.raw_us > 0 for row in convolutions)
    nodes = [name for row in found.rows for name in row.nodes]
    assert sorted(nodes) == sorted(one.id for one in walk(model.graph))
    assert path.read_bytes() == before
    assert all(name.startswith("m0p0.") for name in os.listdir(tmp_path / "run"))
    kernels = [name for row in found.rows for name in row.kernels]
    assert any("quoted" in name for name in kernels) and not any("tuibench" in name for name in kernels)


def test_engine_error_on_a_renamed_copy_does_not_mention_the_copy(tmp_path: Path) -> None:
    good = onnx.load(SAMPLES / "cnn.onnx")
    (tmp_path / "run").mkdir()
    point = to_plain(make_points(save(good, tmp_path / "good.onnx"), tmp_path / "run")[0])
    good.graph.node[0].name = "strange name"
    good.graph.node[1].name = good.graph.node[2].name = "dup"
    path = save(good, tmp_path / "model.onnx")
    told = {"path": path, "point": point, "run_dir": str(tmp_path / "run"), "max_s": 10, "runs": 2, **PLACED}
    error = call("layers", told).error
    assert error.code == ERROR and "(dup)" in error.fields["text"], error
    assert not any(word in error.fields["text"] for word in ("named.onnx", "ONNXRuntimeError", "Load model"))


def test_rows_state_their_float_types(tmp_path: Path) -> None:
    nodes = [
        onnx.helper.make_node("MatMul", ["x", "x"], ["m"]),
        onnx.helper.make_node("Cast", ["m"], ["c"], to=onnx.TensorProto.FLOAT),
        onnx.helper.make_node("MatMul", ["c", "c"], ["y"]),
    ]
    ends = [("x", onnx.TensorProto.DOUBLE), ("y", onnx.TensorProto.FLOAT)]
    values = [onnx.helper.make_tensor_value_info(name, kind, [8, 8]) for name, kind in ends]
    graph = onnx.helper.make_graph(nodes, "g", values[:1], values[1:])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=10)
    found = from_plain(
        LayerRun, ask("layers", save(model, tmp_path / "m.onnx"), tmp_path, runs=2, max_s=BRIEF_S).result
    )
    assert {node: row.precision for row in found.rows for node in row.nodes} == {"m": "f64", "c": "", "y": ""}


def test_rows_are_matched_by_name_if_the_optimized_model_is_missing(tmp_path: Path) -> None:
    # A directory blocks the path of the optimized model.
    (tmp_path / "optimized.onnx").mkdir()
    found = from_plain(
        LayerRun,
        ask("layers", save(GRAPHS["convolutions"], tmp_path / "m.onnx"), tmp_path, runs=3, max_s=BRIEF_S).result,
    )
    assert "mapped_by_names" in [note.code for note in found.notes]
    assert sorted(n for row in found.rows for n in row.nodes) == sorted(
        o.id for o in walk(GRAPHS["convolutions"].graph)
    )
    assert sum(row.us for row in found.rows if "c1" in row.nodes) > 0


def test_ort_file_is_refused_with_a_reason(tmp_path: Path) -> None:
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "m.ort")
    options.add_session_config_entry("session.save_model_format", "ORT")
    onnxruntime.InferenceSession(save(GRAPHS["folding"], tmp_path / "m.onnx"), options)
    error = ask("layers", str(tmp_path / "m.ort"), tmp_path, runs=3).error
    assert error == ChildError(because("ort_without_graph", path=str(tmp_path / "m.ort")), ExitCode.MODEL)


def test_single_layers_give_a_ratio_or_a_reason(tmp_path: Path) -> None:
    path = str(SAMPLES / "cnn.onnx")
    nodes = [one for one in walk(onnx.load(path).graph) if one.op in ("Conv", "Relu", "Gemm")]
    wanted = [nodes[0].id, next(one.id for one in nodes if one.op == "Relu"), "nowhere"]
    rows = {one: [one] for one in wanted}
    lines = ask("what_if", path, tmp_path, form="int8", rows=rows, max_s=1).lines
    told = [line["what_if"] for line in lines[1:-1:2]]
    assert [line["at"]["id"] for line in lines[:-1:2]] == wanted, "which is next is said before it can die of it"
    assert [one["id"] for one in told] == wanted and lines[-1] == {"ok": True, "result": None}
    ratio = from_plain(Estimate, told[0]["ratio"])
    assert told[0]["reason"] == "" and ratio.value is not None and 0.01 < ratio.value < 20 and ratio.n >= 5
    assert 0 < told[0]["around"] < 1
    assert told[1]["ratio"]["value"] is None and told[1]["reason"]
    assert told[2]["ratio"]["value"] is None and told[2]["reason"]
    assert all(name.startswith("m0p0.") for name in os.listdir(tmp_path))


def test_unknown_what_if_form_is_refused(tmp_path: Path) -> None:
    error = ask("what_if", str(SAMPLES / "tiny.onnx"), tmp_path, form="int3", rows={}).error
    assert error == ChildError(because("unknown_form", form="int3", names=["int8"]), ExitCode.USAGE)


def test_roofline_has_values_of_this_machine() -> None:
    found = from_plain(Roofline, call("roofline", {**PLACED, "max_s": 1, "memory_bytes": 1 << 30}).result)
    assert found.cores == 1 and found.f32_gflops and found.int8_gops and found.measured_utc
    assert bool(found.dram_gb_s) == bool(dram_working_set(os.sysconf, 1 << 30)[0])
    assert [size for size, _ in found.cache_gb_s] == [1 << 19, 1 << 22] and min(gb for _, gb in found.cache_gb_s) > 0
    assert found.reason == dram_working_set(os.sysconf, 1 << 30)[1]


def test_effect_of_zeros_is_measured() -> None:
    found = from_plain(ZeroEffect, call("zeros", {**PLACED, "max_s": 0.5}).result)
    assert found.ratio.value is not None and 0.2 < found.ratio.value < 5 and found.ratio.n >= 3
    assert found.engine == "onnxruntime" and found.exploits is judge(found.ratio)
    assert found.sentence == describe("onnxruntime", found.ratio, found.exploits)
