"""Reading a profiler's file, and requests for a traced run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

from tests.model.cost.support import STATIC, TRACED, is_inferred, request_for
from tests.model.factory import F32, model, save, tensor, weight
from tuibench.core.errors import UsageError
from tuibench.core.model import FedInput, Point, Reference
from tuibench.core.reason import Reason, because
from tuibench.core.record import to_plain
from tuibench.model.cost import executions as trace_module
from tuibench.model.cost.count import carry_out
from tuibench.model.cost.executions import MOST_VARIANTS, read_profile
from tuibench.model.cost.structure import Tensor
from tuibench.model.reference_run import TracedRun
from tuibench.worker.bundle import write_bundle

ROOM = 1 << 34


def node(name: str, ts: int, rows: int = 2) -> dict[str, Any]:
    shapes = {"input_type_shape": [{"float": [rows, 4]}], "output_type_shape": [{"int64": []}]}
    return {"cat": "Node", "name": f"{name}_kernel_time", "ts": ts, "dur": 1, "args": shapes}


def run(ts: int, dur: int) -> dict[str, Any]:
    return {"cat": "Session", "name": "model_run", "ts": ts, "dur": dur, "args": {}}


def write(path: Path, *events: Any) -> Path:
    lines = [event if isinstance(event, str) else json.dumps(event) for event in events]
    path.write_text("[\n" + ",\n".join(lines) + "\n]")
    return path


def test_last_complete_run_is_counted(tmp_path: Path) -> None:
    # A first run; a failed one without an end; the last one, in which a runs twice.
    events = [node("a", 1), node("b", 2), run(0, 9), node("a", 20), node("a", 31), node("a", 32, 3), run(30, 9)]
    found = read_profile(write(tmp_path / "p.json", *events))
    assert (found.times("a"), found.times("b"), found.events) == (2, 0, 2)
    assert list(found.variants["a"]) == [
        ((Tensor("float32", (2, 4)),), (Tensor("int64", ()),)),
        ((Tensor("float32", (3, 4)),), (Tensor("int64", ()),)),
    ]


def test_broken_profile_line_is_skipped(tmp_path: Path) -> None:
    broken = '{"cat" : "Node", "name" : "InsertedPrecisionFreeCast_a"b_kernel_time", "ts" : 2}'
    found = read_profile(write(tmp_path / "p.json", node("a", 1), broken, '[1, "Node"]', run(0, 9)))
    assert (found.times("a"), found.events, found.is_converted) == (1, 1, True)


def test_number_of_shape_variants_is_bounded(tmp_path: Path) -> None:
    events = [node("a", n, n) for n in range(MOST_VARIANTS + 50)]
    found = read_profile(write(tmp_path / "p.json", *events, run(0, 10_000)))
    assert (len(found.variants["a"]), found.times("a")) == (MOST_VARIANTS, MOST_VARIANTS + 50)


class _Cut(TracedRun):
    """A trial of a model whose loops turn so often that the profiler is full before the run is over."""

    def end(self) -> str | None:
        path = super().end()
        if path is not None:
            lines = Path(path).read_text().splitlines(keepends=True)
            Path(path).write_text("".join(line for line in lines if "model_run" not in line))
        return path


def test_truncated_profile_falls_back_to_static_shapes_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = request_for(product(tmp_path), tmp_path)
    assert carry_out(request, ROOM, _Cut).shapes_from == because("inferred", why=Reason("profiler_empty"))
    monkeypatch.setattr(trace_module, "MOST_EVENTS", 2)
    profile = carry_out(request, ROOM, _Cut)
    assert profile.shapes_from == because("inferred", why=because("profiler_cut", events=1_000_000)) and profile.macs
    whole = read_profile(write(tmp_path / "p.json", node("a", 1), run(0, 9), node("a", 20), node("a", 21)))
    assert whole.times("a") == 1 and not whole.is_cut, "a run before it is whole"


def product(folder: Path) -> str:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], name="only")]
    inputs, outputs = [tensor("x", F32, ["batch", "rows", 4])], [tensor("y", F32, None)]
    return save(model(nodes, inputs, outputs, [weight("w", np.ones((4, 3), np.float32))]), folder / "m.onnx")


def test_request_sets_dims_and_batch(tmp_path: Path) -> None:
    request = request_for(product(tmp_path), tmp_path, 5, {"rows": 7})
    for more in ({}, {"static": STATIC}):
        profile = carry_out({**request, **more}, ROOM, TracedRun)
        assert (profile.batch, profile.items, profile.dims, profile.macs) == (5, 5, {"rows": 7}, 5 * 7 * 12)


def test_request_with_an_unknown_dim_is_refused(tmp_path: Path) -> None:
    for more in ({}, {"static": STATIC}):
        request = request_for(product(tmp_path), tmp_path, None, {"columns": 7}, **more)
        with pytest.raises(UsageError, match="columns"):
            carry_out(request, ROOM, TracedRun)


def point(folder: Path, rows: int) -> Point:
    bundle = folder / "m0p0.npz"
    write_bundle(bundle, [{"x": np.ones((1, rows, 4), np.float32)}])
    fed = (FedInput("x", "float32", (1, rows, 4), "given"),)
    return Point("m0p0", 0, 1, 1, {"rows": rows}, {}, fed, str(bundle), 1, Reference(None, None, None))


def test_inputs_of_a_point_are_used_and_left_unchanged(tmp_path: Path) -> None:
    request = request_for(product(tmp_path), tmp_path, point=to_plain(point(tmp_path, 9)))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    profile = carry_out(request, ROOM, TracedRun)
    assert (profile.shapes_from, profile.macs, profile.dims) == (TRACED, 9 * 12, {"rows": 9})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_point_without_its_inputs_still_gives_their_shapes(tmp_path: Path) -> None:
    given = point(tmp_path, 9)
    (tmp_path / "m0p0.npz").unlink()
    request = request_for(product(tmp_path), tmp_path, point=to_plain(given))
    profile = carry_out(request, ROOM, TracedRun)
    assert is_inferred(profile)
    assert profile.macs == 9 * 12


def test_trace_leaves_no_files_behind(tmp_path: Path) -> None:
    path = product(tmp_path)
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    carry_out(request_for(path, run_dir), ROOM, TracedRun)
    refused = save(
        model([helper.make_node("Nothing", ["x"], ["y"])], [tensor("x", F32, [1])], [tensor("y", F32, None)]),
        tmp_path / "refused.onnx",
    )
    carry_out(request_for(refused, run_dir), ROOM, TracedRun)
    assert list(run_dir.iterdir()) == []
