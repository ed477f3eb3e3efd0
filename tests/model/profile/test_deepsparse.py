"""Layers of DeepSparse as rows: merged kernels, nodes left to ONNX Runtime, nodes inside of expanded operators."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from tests.engines import make
from tests.engines.make import Case
from tests.model import exports
from tests.test_child import call
from tuibench.core.cell import Estimate
from tuibench.core.errors import EngineError, ModelError
from tuibench.core.model import Point, Reference
from tuibench.core.profile import FOLDED, HANDED, LAYER, LAYOUT, RUNTIME, LayerRun, PrunedPoint, ZeroEffect
from tuibench.core.record import from_plain, to_plain
from tuibench.engines.installation import interpreter_of
from tuibench.engines.protocol import LayerOrder, Tell
from tuibench.model.graph import walk
from tuibench.model.profile.deepsparse import Layer, map_layers, write_zeros
from tuibench.model.profile.events import Flat
from tuibench.model.profile.pruning import Part, time_all, time_parts
from tuibench.present.reason import reason_words
from tuibench.worker.bundle import write_bundle

IN, OUT = Layer("Naive Subgraph 0", (), 5.0), Layer("Naive Subgraph 9", (), 4.0)


def chain(*ops: str) -> onnx.ModelProto:
    """Return nodes behind each other, with outputs t0, t1, …; a MatMul reads a weight as well."""
    names = ["x", *(f"t{at}" for at in range(len(ops)))]
    nodes = [make.op(op, f"{names[at]} w" if op == "MatMul" else names[at], names[at + 1]) for at, op in enumerate(ops)]
    ports = [make.tensor("x", [4, 4])], [make.tensor(names[-1], [4, 4])]
    return make.build(nodes, *ports, w=make.normal(4, 4))


def rows_of(
    model: onnx.ModelProto, *layers: Layer, is_whole: bool = True
) -> list[tuple[str, str, tuple[str, ...], float]]:
    graph = Flat(model.graph)
    found = map_layers(graph, graph, [IN, *layers, OUT], is_whole)
    assert sorted(name for row in found for name in row.nodes) == sorted(one.id for one in walk(model.graph))
    return [(row.kind, row.kernel_op, row.nodes, row.us) for row in found]


def test_merged_kernel_has_all_its_nodes() -> None:
    found = rows_of(chain("MatMul", "Relu", "MatMul"), Layer("pyramid_0", ("t0", "t1", "t2"), 7.0))
    assert (LAYER, "pyramid", ("t0", "t1", "t2"), 7.0) in found


def test_node_without_kernel_belongs_to_the_kernel_before_it() -> None:
    found = rows_of(chain("MatMul", "Relu", "MatMul"), Layer("gemm_0", ("t0",), 3.0), Layer("gemm_1", ("t2",), 2.0))
    assert [row for row in found if row[0] == LAYER] == [
        (LAYER, "gemm", ("t0", "t1"), 3.0),
        (LAYER, "gemm", ("t2",), 2.0),
    ]


def test_node_between_kernels_belongs_to_onnx_runtime_there() -> None:
    middle = Layer("Naive Subgraph 1", (), 6.0)
    layers = Layer("gemm_0", ("t0",), 3.0), middle, Layer("gemm_1", ("t2",), 2.0)
    found = rows_of(chain("MatMul", "Sin", "MatMul"), *layers, is_whole=False)
    assert (LAYER, HANDED, ("t1",), 6.0) in found
    assert [row[0] for row in found].count(RUNTIME) == 2


def test_kernels_of_one_node_are_one_row() -> None:
    found = rows_of(
        chain("MatMul"), Layer("a_0", ("t0",), 3.0), Layer("b_1", ("t0",), 2.0), Layer("shuffle_2", (), 1.0)
    )
    assert (LAYER, "a", ("t0",), 5.0) in found and (RUNTIME, LAYOUT, (), 1.0) in found


def test_constant_node_takes_no_time() -> None:
    model = chain("MatMul")
    model.graph.node.insert(0, make.op("Neg", "w", "n"))
    model.graph.node[1].input[1] = "n"
    assert (FOLDED, "", ("n",), 0.0) in rows_of(model, Layer("gemm_0", ("t0",), 3.0))


def test_tensor_inside_of_an_expanded_operator_belongs_to_it() -> None:
    original, copy = chain("MatMul", "Elu"), chain("MatMul", "Elu")
    del copy.graph.node[1]
    copy.graph.node.extend([make.op("Exp", "t0", "inner"), make.op("Neg", "inner", "t1")])
    layers = [IN, Layer("gemm_0", ("t0",), 3.0), Layer("pyramid_1", ("inner",), 2.0), OUT]
    found = map_layers(Flat(original.graph), Flat(copy.graph), layers, True)
    assert [(row.nodes, row.us) for row in found if row.kind == LAYER] == [(("t0",), 3.0), (("t1",), 2.0)]


@exports.expanded
@pytest.mark.parametrize("build", [lambda: make.mlp(64), lambda: exports.resized(20), lambda: exports.attentive(23)])
def test_real_layers_are_timed(build: Callable[[], Case], engines_root: Callable[[str], Path], tmp_path: Path) -> None:
    interpreter = str(interpreter_of(engines_root("deepsparse"), "deepsparse"))
    case = build()
    path, bundle, run_dir = Path(case.save(tmp_path)), tmp_path / "inputs.npz", tmp_path / "run"
    run_dir.mkdir()
    before = hashlib.sha256(path.read_bytes()).digest()
    write_bundle(bundle, case.feeds)
    point = Point("m0p0", 0, 1, 1, {}, {}, (), str(bundle), 1, Reference(None, None, None))
    request = {"engine": "deepsparse", "path": str(path), "point": to_plain(point), "interpreter": interpreter}
    limits = {"cpus": [min(os.sched_getaffinity(0))], "threads": 1, "runs": 5, "max_s": 3, "run_dir": str(run_dir)}
    answer = call("layers", request | limits)
    run = from_plain(LayerRun, answer.result)
    assert sorted(name for row in run.rows for name in row.nodes) == sorted(one.id for one in walk(case.model.graph))
    assert len({row.key for row in run.rows}) == len(run.rows)
    assert run.runs == 5 and run.engine_version == "1.8.0" and run.unprofiled_us > 0 and run.profiled_us > 0
    assert run.noise.blocks >= 1 and run.threads == 1
    assert not list(run_dir.iterdir()) and hashlib.sha256(path.read_bytes()).digest() == before
    assert {line["stage"] for line in answer.lines if "stage" in line} == {"loading", "first", "timing", "profiling"}
    assert all("of the model's operators" in reason_words(note) for note in run.notes)


def test_pretended_zeros_are_measured_one_share_after_the_other(
    engines_root: Callable[[str], Path], tmp_path: Path
) -> None:
    interpreter = str(interpreter_of(engines_root("deepsparse"), "deepsparse"))
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("with one CPU it never ends")
    case = make.mlp(8192)
    write_bundle(tmp_path / "inputs.npz", case.feeds)
    point = Point("m0p0", 0, 1, 1, {}, {}, (), str(tmp_path / "inputs.npz"), 1, Reference(None, None, None))
    request = {"engine": "deepsparse", "path": case.save(tmp_path), "point": to_plain(point), "threads": 1}
    limits = {"for_cpus": [min(os.sched_getaffinity(0))], "runs": 3, "max_s": 3, "run_dir": str(tmp_path)}
    answer = call("pruned", request | limits | {"interpreter": interpreter, "zeros": [0.0, 0.9]})
    points = [from_plain(PrunedPoint, line["pruned"]) for line in answer.lines if "pruned" in line]
    assert [point.zeros for point in points] == [0.0, 0.9]
    assert all(point.ms.value and point.load_ms and "MatMul" in point.operators for point in points)
    parts = [
        to_plain(Part("MatMul", "", tuple(one.id for one in walk(case.model.graph)), share)) for share in (0.0, 0.9)
    ]
    some = call("pruned", request | limits | {"interpreter": interpreter, "parts": parts})
    dense, sparse = [from_plain(PrunedPoint, line["pruned"]) for line in some.lines if "pruned" in line]
    assert (dense.operator, sparse.zeros) == ("MatMul", 0.9)
    assert dense.part_ms and sparse.part_ms and dense.ms.value and dense.part_ms <= 1.5 * dense.ms.value
    effect = from_plain(ZeroEffect, answer.result)
    assert (effect.engine, effect.engine_version) == ("deepsparse", "1.8.0")
    assert points[1].ms.value is not None and points[0].ms.value is not None
    assert effect.ratio.value == pytest.approx(points[1].ms.value / points[0].ms.value)


def test_zeros_are_written_to_the_named_weights_only(tmp_path: Path) -> None:
    nodes = [make.op("MatMul", "x a", "t"), make.op("MatMul", "t b", "y")]
    ports = [make.tensor("x", [4, 4])], [make.tensor("y", [4, 4])]
    model = make.build(nodes, *ports, a=make.normal(4, 4), b=make.normal(4, 4))
    path = tmp_path / "copy.onnx"
    onnx.save(model, path)
    write_zeros(path, {"a"}, 0.75)
    before, after = (
        {w.name: numpy_helper.to_array(w) for w in one.graph.initializer} for one in (model, onnx.load(path))
    )
    assert np.array_equal(before["b"], after["b"])
    kept = after["a"] != 0
    assert kept.sum() == 4 and np.array_equal(before["a"][kept], after["a"][kept])
    assert np.abs(before["a"][kept]).min() >= np.abs(before["a"][~kept]).max()
    with pytest.raises(ModelError) as caught:
        write_zeros(path, {"c"}, 0.5)
    assert caught.value.reason.code == "weights_not_found"


class _Scripted:
    """A timer that does not survive some shares of zeros."""

    def time_layers(self, order: LayerOrder, tell: Tell) -> LayerRun:
        raise NotImplementedError

    def time_pruned(self, order: LayerOrder, zeros: float, tell: Tell) -> PrunedPoint:
        if zeros == 0.5:
            raise EngineError("engine_ended_process", engine="deepsparse", exit_code=1, text="assertion")
        return PrunedPoint(zeros, Estimate(4.0 - 3 * zeros), {"MatMul": 1.0}, 10.0)

    def time_zeroed(self, order: LayerOrder, nodes: Collection[str], zeros: float, tell: Tell) -> PrunedPoint:
        return replace(self.time_pruned(order, zeros, tell), part_ms=float(len(nodes)))


def test_share_that_ends_the_process_is_a_point_with_its_reason(tmp_path: Path) -> None:
    said: list[tuple[float, bool]] = []
    point = Point("m0p0", 0, 1, 1, {}, {}, (), None, 1, Reference(None, None, None))
    order = LayerOrder("m.onnx", point, (0,), 1, 1, 1.0, str(tmp_path))
    effect = time_all(
        _Scripted(), "deepsparse", order, (0.0, 0.5, 0.9), lambda one, zeros: said.append((zeros, bool(one)))
    )
    assert said == [(0.0, False), (0.0, True), (0.5, False), (0.5, True), (0.9, False), (0.9, True)]
    assert effect.exploits and effect.ratio.value == pytest.approx(1.3 / 4.0)


def test_part_that_ends_the_process_is_a_point_with_its_reason(tmp_path: Path) -> None:
    point = Point("m0p0", 0, 1, 1, {}, {}, (), None, 1, Reference(None, None, None))
    order = LayerOrder("m.onnx", point, (0,), 1, 1, 1.0, str(tmp_path))
    found: list[PrunedPoint] = []
    parts = [Part("MatMul", "", ("a", "b"), 0.5), Part("", "a", ("a",), 0.9)]
    time_parts(_Scripted(), order, parts, lambda one, _: found.append(one) if one is not None else None)
    assert [(one.operator, one.layer, one.zeros, one.part_ms) for one in found] == [
        ("MatMul", "", 0.5, None),
        ("", "a", 0.9, 1.0),
    ]
    assert found[0].ms.reason is not None and found[0].ms.reason.code == "engine_ended_process"


def test_without_an_interpreter_the_installing_command_is_named(tmp_path: Path) -> None:
    case = make.mlp()
    write_bundle(tmp_path / "inputs.npz", case.feeds)
    point = Point("m0p0", 0, 1, 1, {}, {}, (), str(tmp_path / "inputs.npz"), 1, Reference(None, None, None))
    request = {"engine": "deepsparse", "path": case.save(tmp_path), "point": to_plain(point), "cpus": [0], "threads": 1}
    error = call("layers", request | {"runs": 1, "max_s": 1, "run_dir": str(tmp_path)}).error
    assert (error.code, error.fields["command"]) == ("engine_apart_missing", "tuibench engines install deepsparse")
