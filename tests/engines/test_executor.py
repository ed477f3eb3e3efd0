"""The Executor in its own interpreter: each test starts real workers there, and compares with ONNX Runtime here."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import helper

from tests.build import make_cell, make_job
from tests.model import bert
from tests.model.factory import F32, model, save, tensor, weight
from tuibench.core.cell import Execution
from tuibench.core.model import Reference
from tuibench.core.reason import Failure, Reason
from tuibench.engines.installation import interpreter_of
from tuibench.present.reason import reason_words
from tuibench.runs.supervision import Bounds, Supervision
from tuibench.runs.task import StopSwitch
from tuibench.worker.bundle import write_bundle

F32_TOLERANCE, INT8_TOLERANCE = 1e-3, 5e-2

Run = Callable[..., Execution | Failure]


@pytest.fixture
def run(tmp_path: Path, engines_root: Callable[[str], Path]) -> Run:
    """Return a function that measures a model on given inputs in the interpreter of the Executor."""
    python = str(interpreter_of(engines_root("executor"), "executor"))

    def carry_out(path: str, feeds: list[dict[str, Any]], **changes: Any) -> Execution | Failure:
        bundle, asks = tmp_path / "inputs.npz", changes.pop("asks", {})
        write_bundle(bundle, feeds)
        cell = make_cell(engine="executor", **asks)
        job = make_job(tmp_path, bundle, cell, model_path=path, interpreter=python, **changes)
        return Supervision(job, Bounds(1.0, None), StopSwitch(), lambda _: None, 0).carry_out()

    return carry_out


def reference(path: str, feed: dict[str, Any], tolerance: float = F32_TOLERANCE) -> Reference:
    """Write the outputs of ONNX Runtime beside the model."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [port.name for port in session.get_outputs()]
    target = Path(path).with_suffix(".reference.npz")
    write_bundle(target, [dict(zip(names, session.run(names, feed), strict=True))])
    return Reference(str(target), 0.0, tolerance)


def measured(found: Execution | Failure) -> Execution:
    """Return the execution; fail with the words of a failure."""
    assert isinstance(found, Execution), reason_words(found.message)
    return found


def refusal(found: Execution | Failure, kind: str = "refused") -> Reason:
    """Return the reason of a failure of this kind."""
    assert isinstance(found, Failure) and found.message is not None
    assert found.kind == kind, reason_words(found.message)
    return found.message


def tiny(folder: Path, **asks: Any) -> str:
    """Write a BERT of two layers."""
    return save(bert.bert(size=bert.TINY, **asks), folder / "bert.onnx")


def tokens(batch: int = 1, sequence: int = 16) -> dict[str, Any]:
    """Return inputs of the BERT of two layers."""
    return bert.feed(batch, sequence, bert.TINY)


@pytest.mark.parametrize("opset", [11, 14])
@pytest.mark.parametrize("precision", ["f32", "bf16"])
def test_outputs_of_a_bert_agree_with_onnx_runtime(run: Run, tmp_path: Path, opset: int, precision: str) -> None:
    path, feed = tiny(tmp_path, opset=opset), tokens()
    found = measured(run(path, [feed], asks={"precision": precision}, reference=reference(path, feed)))
    assert (found.check.state, found.used.precision, found.used.io) == ("agrees", precision, "call")
    assert found.used.engine_version == "1.4.2"


@pytest.mark.parametrize("head", [bert.TOKENS, bert.ANSWERS])
def test_outputs_have_the_rank_and_the_number_of_the_file(run: Run, tmp_path: Path, head: str) -> None:
    """Its compiler folds batch and sequence into one axis, and joins the two outputs of question answering."""
    path, feed = tiny(tmp_path, head=head), tokens(2, 16)
    found = measured(run(path, [feed], reference=reference(path, feed)))
    assert found.check.state == "agrees"


def test_crash_on_fixed_dims_ends_only_its_worker(run: Run, tmp_path: Path) -> None:
    """A run gives it a copy with symbolic dims; here it gets the file itself."""
    path = save(bert.fixed(bert.bert(size=bert.TINY), 1, 16), tmp_path / "fixed.onnx")
    found = run(path, [tokens()])
    assert isinstance(found, Failure) and found.kind in ("signal", "exit", "refused")
    measured(run(tiny(tmp_path), [tokens()]))


def test_unknown_hidden_size_is_refused_by_its_number(run: Run, tmp_path: Path) -> None:
    size = bert.Size(layers=1, hidden=64, heads=2, inside=64, words=50, places=64)
    path = save(bert.bert(size=size), tmp_path / "bert.onnx")
    reason = refusal(run(path, [tokens()]))
    assert (reason.code, reason.fields["size"]) == ("hidden_size_unknown", 64)


def test_quantized_bert_agrees_and_says_its_types(run: Run, tmp_path: Path) -> None:
    path = str(bert.quantized(Path(tiny(tmp_path)), tmp_path / "int8.onnx", bert.TINY))
    found = measured(run(path, [tokens()], reference=reference(path, tokens(), INT8_TOLERANCE)))
    assert (found.check.state, found.used.precision) == ("agrees", "f32")
    assert "int8" in found.used.details["types"]


def test_samples_of_several_shapes_run_in_turn(run: Run, tmp_path: Path) -> None:
    path, feeds = tiny(tmp_path), [tokens(2, 24), tokens(1, 16), tokens(4, 8)]
    found = measured(run(path, feeds, reference=reference(path, feeds[0])))
    assert (found.check.state, found.used.distinct_inputs) == ("agrees", 3)


def test_streams_are_processes_because_inference_holds_the_lock(run: Run, tmp_path: Path) -> None:
    asks = {"scenario": "async", "streams": 2}
    found = measured(run(tiny(tmp_path), [tokens()], asks=asks, streams=2))
    assert (found.used.stream_kind, found.used.streams, found.used.threads) == ("processes", 2, 2)
    other = run(tiny(tmp_path), [tokens()], asks=asks, streams=2, stream_kind="threads")
    assert refusal(other, "setting").code == "unsupported_stream_kind"


def test_elastic_requests_wait_for_each_other_on_a_node(run: Run, tmp_path: Path) -> None:
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    asks = {"scenario": "elastic", "streams": 2, "cores": len(cpus)}
    found = measured(run(tiny(tmp_path), [tokens()], asks=asks, streams=2, cpus=cpus))
    assert (found.used.stream_kind, found.used.streams, found.used.threads) == ("emulated", 2, len(cpus))


@pytest.mark.parametrize("pin", ["core", "none"])
def test_threads_are_those_of_the_cores_asked_for(run: Run, tmp_path: Path, pin: str) -> None:
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    for count in {1, len(cpus)}:
        found = measured(run(tiny(tmp_path), [tokens()], asks={"pin": pin, "cores": count}, cpus=cpus[:count]))
        assert (found.used.threads, found.used.pinned) == (count, pin)


def test_model_and_current_directory_are_left_alone(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, here = tmp_path / "models", tmp_path / "here"
    folder.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("ENGINE_PROFILING", "1")
    path = Path(tiny(folder))
    before = hashlib.sha256(path.read_bytes()).digest(), path.stat().st_mtime_ns
    measured(run(str(path), [tokens()]))
    assert (hashlib.sha256(path.read_bytes()).digest(), path.stat().st_mtime_ns) == before
    assert [one.name for one in folder.iterdir()] == [path.name]
    assert list(here.iterdir()) == []


def convolution() -> Any:
    """Return a convolution and an activation, which has no kernel of its own."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv", kernel_shape=[3, 3]),
        helper.make_node("Relu", ["c"], ["y"], name="relu"),
    ]
    weights = [weight("w", np.random.default_rng(1).normal(size=(4, 3, 3, 3)).astype(np.float32))]
    image, out = tensor("x", F32, ["batch", 3, "height", "width"]), tensor("y", F32, ["batch", 4, "h", "w_out"])
    return model(nodes, [image], [out], weights, opset=14)


def test_operator_without_a_kernel_is_refused_before_it_starts(run: Run, tmp_path: Path) -> None:
    found = run(save(convolution(), tmp_path / "cnn.onnx"), [{"x": np.ones((1, 3, 8, 8), np.float32)}])
    assert reason_words(refusal(found)) == "executor cannot run Relu"


def test_dynamically_quantized_model_is_refused_by_its_operators(run: Run, tmp_path: Path) -> None:
    from onnxruntime.quantization import quantize_dynamic

    quantize_dynamic(tiny(tmp_path), str(tmp_path / "dynamic.onnx"))
    found = run(str(tmp_path / "dynamic.onnx"), [tokens()])
    assert refusal(found).fields["ops"] == ["DynamicQuantizeLinear", "MatMulInteger"]


def test_fused_attention_is_refused_with_a_reason(run: Run, tmp_path: Path) -> None:
    found = run(tiny(tmp_path, fused=True), [tokens()])
    assert refusal(found).fields["ops"] == ["Sqrt"]


def test_numpy_2_is_refused_before_the_engine_is_imported(tmp_path: Path) -> None:
    bundle = tmp_path / "inputs.npz"
    write_bundle(bundle, [tokens()])
    job = make_job(tmp_path, bundle, make_cell(engine="executor"), interpreter=sys.executable)
    found = Supervision(job, Bounds(1.0, None), StopSwitch(), lambda _: None, 0).carry_out()
    assert refusal(found, "exception").code == "numpy_too_new"
