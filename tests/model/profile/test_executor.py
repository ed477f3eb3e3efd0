"""Kernels of the Executor as rows: a kernel names the last node that it computes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.model import bert
from tests.model.factory import save
from tests.test_child import call
from tuibench.core.model import Point, Reference
from tuibench.core.profile import LAYER, LayerRun
from tuibench.core.record import from_plain, to_plain
from tuibench.engines.executor_layers import read_trace
from tuibench.engines.installation import interpreter_of
from tuibench.model.graph import walk
from tuibench.worker.bundle import write_bundle


def event(name: str, kernel: str, us: int, output: str, attributes: str = "") -> dict[str, Any]:
    arguments = {"output_tensor_name": output, "attributes": attributes}
    return {"tid": "Operator", "name": name, "cat": kernel, "dur": us, "args": arguments}


def test_trace_gives_each_kernel_the_median_after_the_first_run() -> None:
    runs = [
        [event("a", "Gather", us, "x:0"), event("b", "InnerProduct", 2 * us, "y:0", "src1_perm:0,1;append_op:tanh")]
        for us in (900, 10, 30, 20)
    ]
    trace = {"traceEvents": [{"tid": "inference", "dur": 5}, *(one for run in runs for one in run)]}
    assert read_trace(trace, 4) == [
        {"name": "a", "kernel": "Gather", "tensors": ["x"], "us": 20},
        {"name": "b", "kernel": "InnerProduct tanh", "tensors": ["y"], "us": 40},
    ]


def test_kernels_of_a_bert_have_all_of_its_nodes(engines_root: Callable[[str], Path], tmp_path: Path) -> None:
    interpreter = str(interpreter_of(engines_root("executor"), "executor"))
    built = bert.bert(size=bert.TINY)
    path, bundle, run_dir = save(built, tmp_path / "bert.onnx"), tmp_path / "inputs.npz", tmp_path / "run"
    run_dir.mkdir()
    write_bundle(bundle, [bert.feed(1, 16, bert.TINY)])
    point = Point("m0p0", 0, 1, 1, {}, {}, (), str(bundle), 1, Reference(None, None, None))
    request = {"engine": "executor", "path": path, "point": to_plain(point), "interpreter": interpreter}
    limits = {"cpus": [min(os.sched_getaffinity(0))], "threads": 1, "runs": 5, "max_s": 3, "run_dir": str(run_dir)}
    run = from_plain(LayerRun, call("layers", request | limits).result)
    assert sorted(name for row in run.rows for name in row.nodes) == sorted(one.id for one in walk(built.graph))
    assert (run.runs, run.engine_version) == (5, "1.4.2") and run.unprofiled_us > 0 and run.profiled_us > 0
    activation = "/bert/encoder/layer.0/intermediate/intermediate_act_fn"
    (row,) = [one for one in run.rows if any(node.startswith(activation) for node in one.nodes) and one.kind == LAYER]
    assert row.kernel_op == "InnerProduct gelu_tanh" and row.op == "MatMul"
    assert not list(run_dir.iterdir())
