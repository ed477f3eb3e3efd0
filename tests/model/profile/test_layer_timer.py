"""Contract of every registered engine that measures the times of layers."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.model.factory import F32, save, tensor
from tests.model.factory import model as built
from tests.model.profile.graphs import GRAPHS
from tests.test_child import Answer, call
from tuibench.core import engine
from tuibench.core.errors import ExitCode
from tuibench.core.model import Point, Reference
from tuibench.core.profile import FOLDED, LAYER, RUNTIME, UNMAPPED, LayerRun
from tuibench.core.reason import ERROR, Failure, because, error_text
from tuibench.core.record import from_plain, to_plain
from tuibench.engines import factory
from tuibench.model.graph import walk
from tuibench.worker.bundle import write_bundle

PACKAGE = Path(__file__).resolve().parents[3] / "tuibench"
CPU = min(os.sched_getaffinity(0))
RUNS = 3
BRIEF_S = 0.3
"""As good as no time: for tests that read which rows there are, not how long they take."""
ENGINES = [name for name in engine.timed(hidden=True) if not engine.is_apart(name)]
KINDS = ("branches", "loops", "rounding", "a function")
DTYPES = {onnx.TensorProto.FLOAT: np.float32, onnx.TensorProto.BOOL: np.bool_}


def ask(engine: str, model: onnx.ModelProto | str, where: Path, **changes: Any) -> tuple[Answer, Path]:
    """Return the child's answer and its working directory."""
    path = model if isinstance(model, str) else save(model, where / "model.onnx")
    run_dir = where / "run"
    run_dir.mkdir(exist_ok=True)
    bundle = None
    if not isinstance(model, str):
        bundle = str(where / "inputs.npz")
        write_bundle(bundle, [feed(model)])
    point = Point(
        "m0p0",
        0,
        1,
        1,
        {},
        {},
        (),
        bundle,
        1,
        Reference(None, None, None),
        failure=Failure("a", "b", error_text("no shape")),
    )
    request = {"engine": engine, "path": path, "point": to_plain(point), "cpus": [CPU], "threads": 1}
    return call("layers", {**request, "runs": RUNS, "max_s": 5, "run_dir": str(run_dir), **changes}), run_dir


def feed(model: onnx.ModelProto) -> dict[str, Any]:
    held = {tensor.name for tensor in model.graph.initializer}
    made = np.random.default_rng(0)
    fed: dict[str, Any] = {}
    for port in model.graph.input:
        kind = port.type.tensor_type
        if port.name not in held:
            shape = [dim.dim_value for dim in kind.shape.dim]
            fed[port.name] = (made.standard_normal(shape) + 3).astype(DTYPES[kind.elem_type])
    return fed


@pytest.fixture(scope="module", params=[(engine, kind) for engine in ENGINES for kind in KINDS], ids="-".join)
def timed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, onnx.ModelProto, LayerRun, Answer, Mapping[str, object]]:
    """One model timed by one engine, with the state of its files."""
    engine, kind = request.param
    where = tmp_path_factory.mktemp("timed")
    path = Path(save(GRAPHS[kind], where / "model.onnx"))
    before = _state(path)
    answer, run_dir = ask(engine, GRAPHS[kind], where, max_s=BRIEF_S)
    files = {"before": before, "after": _state(path), "left": os.listdir(run_dir)}
    return engine, GRAPHS[kind], from_plain(LayerRun, answer.result), answer, files


def _state(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


Timed = tuple[str, onnx.ModelProto, LayerRun, Answer, Mapping[str, object]]


def test_every_node_is_in_exactly_one_row(timed: Timed) -> None:
    _, model, run, _, _ = timed
    assert sorted(name for row in run.rows for name in row.nodes) == sorted(one.id for one in walk(model.graph))
    keys = [row.key for row in run.rows]
    assert len(set(keys)) == len(keys)
    assert {row.kind for row in run.rows} <= {LAYER, RUNTIME, FOLDED}
    assert all(row.nodes for row in run.rows if row.kind == LAYER)
    assert not [row for row in run.rows if row.kind == RUNTIME and (row.nodes or row.op == UNMAPPED)]


def test_times_are_per_inference_and_folded_rows_have_no_calls(timed: Timed) -> None:
    run = timed[2]
    assert all(math.isfinite(row.us) and 0 <= row.us <= row.raw_us for row in run.rows)
    assert sum(row.us for row in run.rows) > 0 and run.unprofiled_us > 0 and run.profiled_us > 0
    for row in run.rows:
        assert row.calls is not None and (row.calls > 0 or row.us == 0), row
        assert row.kind != FOLDED or not row.calls, row
    assert run.kernels == pytest.approx(sum(row.calls or 0 for row in run.rows), abs=1)


def test_layer_run_matches_its_request(timed: Timed) -> None:
    engine, _, run, _, _ = timed
    assert run.runs == RUNS and not run.notes and run.unprofiled_runs >= 1
    assert run.engine_version == factory.make(engine).start()
    assert run.cpus == (CPU,) and run.threads == 1 and run.precision and run.isa
    assert run.load_ms > 0 and run.first_ms > 0 and run.noise.blocks >= 1


def test_stages_are_reported_in_order(timed: Timed) -> None:
    stages = [line["stage"] for line in timed[3].lines if "stage" in line]
    told = list(dict.fromkeys(stages))
    assert told == [stage for stage in ("loading", "first", "checking", "profiling", "timing") if stage in told]
    # An engine that runs the model reports its first run, which tells an endless one from a slow one.
    runs_it = factory.runs_ours(timed[0])
    assert stages[0] == "loading" and "profiling" in told and ("first" in told) == runs_it


def test_model_is_unchanged_and_no_file_is_left(timed: Timed) -> None:
    files = timed[4]
    assert files["before"] == files["after"] and files["left"] == []


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_have_the_same_keys_in_every_process(engine: str, tmp_path: Path) -> None:
    twice = [from_plain(LayerRun, ask(engine, GRAPHS["folding"], tmp_path, max_s=BRIEF_S)[0].result) for _ in range(2)]
    assert [row.key for row in twice[0].rows] == [row.key for row in twice[1].rows]


@pytest.mark.parametrize("engine", ENGINES)
def test_nodes_with_duplicate_or_hostile_names_stay_separate(engine: str, tmp_path: Path) -> None:
    names = ('a "quoted" \\ name\n\x1b[2J', "", 'a "quoted" \\ name\n\x1b[2J')
    ends = (("x", "a"), ("a", "b"), ("b", "y"))
    nodes = [helper.make_node("Exp", [a], [b], name=name) for (a, b), name in zip(ends, names, strict=True)]
    model = built(nodes, [tensor("x", F32, [4, 4])], [tensor("y", F32, [4, 4])])
    run = from_plain(LayerRun, ask(engine, model, tmp_path, max_s=BRIEF_S)[0].result)
    assert [row.nodes for row in run.rows if row.calls] == [("a",), ("b",), ("y",)]


@pytest.mark.parametrize("engine", ENGINES)
def test_model_that_cannot_be_timed_is_refused_with_a_reason(engine: str, tmp_path: Path) -> None:
    plain = save(GRAPHS["folding"], tmp_path / "plain.onnx")
    error = ask(engine, plain, tmp_path)[0].error
    assert error.reason == because("cannot_be_run", model=plain, why=error_text("no shape"))
    missing = ask(engine, str(tmp_path / "none.onnx"), tmp_path)[0].error
    assert missing.exit_code == ExitCode.MODEL


def test_engine_without_layer_times_is_refused(tmp_path: Path) -> None:
    error = ask("openvino", GRAPHS["folding"], tmp_path)[0].error
    assert error.code == "engine_without_layer_times" and error.exit_code == ExitCode.ENGINE


def test_script_of_the_fake_engine_sets_the_layer_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = {"default": {"layers": {"MatMul": 70, "a": 5, "Constant": 0}, "load": "ok"}}
    monkeypatch.setenv("TUIBENCH_FAKE", json.dumps(script))
    run = from_plain(LayerRun, ask("fake", GRAPHS["folding"], tmp_path)[0].result)
    took = {row.nodes[0]: row.us for row in run.rows}
    assert took["m"] == 70 and took["a"] == 5 and took["r"] == 10 and run.unprofiled_us == sum(took.values())
    monkeypatch.setenv("TUIBENCH_FAKE", '{"default": {"load": "refuse"}}')
    error = ask("fake", GRAPHS["folding"], tmp_path)[0].error
    assert error.code == ERROR and error.exit_code == ExitCode.ENGINE


def test_modules_that_carry_or_show_profiles_name_no_engine() -> None:
    """The engine's name comes from the specification; rows have one form for all engines."""
    rooms = ("runs/profile/*.py", "present/profile/*.py", "tui/screens/profile/*.py", "services/prof*.py")
    files = [path for pattern in rooms for path in PACKAGE.glob(pattern)]
    assert len(files) > 20
    name_of = re.compile(r"onnx ?runtime|openvino", re.IGNORECASE)
    assert [path.name for path in files if name_of.search(path.read_text(encoding="utf-8"))] == []
