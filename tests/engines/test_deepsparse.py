"""DeepSparse in its own interpreter: every test here starts the real worker, on copies that the real child makes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter_ns
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnxruntime
import pytest

from tests.build import make_cell, make_job
from tests.engines import make
from tests.engines.make import Case
from tests.engines.probe import setting
from tests.model import exports
from tests.refusal import refused
from tuibench.core.cell import Execution
from tuibench.core.engine import REGISTRY
from tuibench.core.errors import EngineError
from tuibench.core.model import Reference
from tuibench.core.reason import Failure
from tuibench.core.scenario import find
from tuibench.engines import deepsparse, factory
from tuibench.engines.apart import require_strides
from tuibench.engines.installation import interpreter_of
from tuibench.engines.protocol import EngineRefusal
from tuibench.model.adaptation import write_copy
from tuibench.present.reason import reason_words
from tuibench.runs.supervision import Bounds, Supervision
from tuibench.runs.task import StopSwitch
from tuibench.worker.bundle import write_bundle

Measure = Callable[..., Execution | Failure]
ENGINE = "deepsparse@1.8.0"


@pytest.fixture
def measure(tmp_path: Path, engines_root: Callable[[str], Path]) -> Measure:
    """Return a function that runs one short execution of a case, its outputs checked against ONNX Runtime's."""
    interpreter = str(interpreter_of(engines_root(ENGINE), ENGINE))

    def carry_out(case: Case, *, scenario: str = "sync", streams: int = 1, **changes: Any) -> Execution | Failure:
        source, target = Path(case.save(tmp_path)), tmp_path / "copy.onnx"
        inputs, expected = tmp_path / "inputs.npz", tmp_path / "reference.npz"
        before = hashlib.sha256(source.read_bytes()).digest()
        write_bundle(inputs, case.feeds)
        names = [port.name for port in case.model.graph.output]
        outputs = onnxruntime.InferenceSession(str(source), providers=["CPUExecutionProvider"]).run(
            names, case.feeds[0]
        )
        write_bundle(expected, [dict(zip(names, outputs, strict=True))])
        form = REGISTRY["deepsparse"].model_form
        assert form is not None
        write_copy(str(source), form, str(inputs), target)
        cell = make_cell(engine=ENGINE, scenario=scenario, streams=streams, cores=len(changes.get("cpus", (0,))))
        job = make_job(tmp_path, inputs, cell, scenario=find(scenario), streams=streams, interpreter=interpreter)
        job = replace(job, model_path=str(target), reference=Reference(str(expected), 0.0, 1e-3), **changes)
        answer = Supervision(job, Bounds(1.0, None), StopSwitch(), lambda frame: None, 0).carry_out()
        assert hashlib.sha256(source.read_bytes()).digest() == before
        return answer

    return carry_out


@pytest.mark.parametrize("build", [make.mlp, make.image, make.ids, make.two_outputs, make.renamed])
def test_outputs_agree_with_the_reference(measure: Measure, build: Callable[[], Case]) -> None:
    found = measure(build())
    assert isinstance(found, Execution), found
    assert found.check.state == "agrees", found.check
    assert found.iterations > 0 and found.load_ms > 0
    used = found.used
    assert (used.engine_version, used.io, used.precision, used.pinned) == ("1.8.0", "call", "f32", "core")
    assert used.supported is not None and 0 <= used.supported <= 1
    assert used.details["scheduler"] == "single_stream" and used.details["isa"] in ("avx2", "avx512")


@pytest.mark.parametrize("build", [make.scalar, make.half, make.empty, make.nonzero, make.passed_through, make.text])
def test_odd_models_run_or_are_refused_in_words(measure: Measure, build: Callable[[], Case]) -> None:
    found = measure(build())
    if isinstance(found, Failure):
        assert found.kind == "refused" and len(reason_words(found.message)) > 10, found
    else:
        assert found.check.state == "agrees"


@exports.expanded
@pytest.mark.parametrize(("build", "opset"), exports.EXPORTS)
def test_exports_of_newer_opsets_run(measure: Measure, build: Callable[[int], Case], opset: int) -> None:
    found = measure(build(opset))
    assert isinstance(found, Execution), found
    assert found.check.state == "agrees", found.check


def test_streams_run_in_the_engines_own_scheduler(measure: Measure) -> None:
    cpus = tuple(sorted(os.sched_getaffinity(0)))[:2]
    found = measure(make.mlp(256), scenario="async", streams=len(cpus), cpus=cpus, timed_s=0.2)
    assert isinstance(found, Execution), found
    assert (found.used.stream_kind, found.used.streams, found.used.threads) == ("queue", len(cpus), len(cpus))
    assert found.used.details["scheduler"] == "multi_stream" and found.used.distinct_inputs == make.SAMPLES
    assert found.check.state == "agrees" and found.calls_per_s > 0


def test_elastic_requests_are_left_to_its_own_scheduler(measure: Measure) -> None:
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    found = measure(make.mlp(256), scenario="elastic", streams=2, cpus=cpus, nodes=(cpus,))
    assert isinstance(found, Execution), found
    assert (found.used.stream_kind, found.used.streams) == ("queue", 2)
    assert found.used.details["scheduler"] == "elastic" and found.check.state == "agrees"


def test_pruned_model_runs_in_deepsparse_and_unsupported_one_elsewhere(measure: Measure) -> None:
    whole, none = measure(make.mlp(64)), measure(make.renamed())
    assert isinstance(whole, Execution) and isinstance(none, Execution)
    assert (whole.used.supported, none.used.supported) == (1.0, 0.0)


def test_engine_that_ends_its_process_is_a_failure_with_its_reason(measure: Measure) -> None:
    found = measure(quantized())
    assert isinstance(found, Failure)
    assert found.message is not None and found.message.code == "engine_ended_process"
    assert found.kind == "exit" and "planner.hpp" in reason_words(found.message)


def quantized() -> Case:
    """Return two quantized products with a bias, which DeepSparse's planner does not survive."""
    nodes = [make.op("QuantizeLinear", "x s z", "q0")]
    for at in range(2):
        nodes += [
            make.op("DequantizeLinear", f"q{at} s z", f"x{at}"),
            make.op("DequantizeLinear", f"wq{at} s z", f"w{at}"),
            make.op("DequantizeLinear", f"bq{at} s z", f"b{at}"),
            make.op("MatMul", f"x{at} w{at}", f"m{at}"),
            make.op("QuantizeLinear", f"m{at} s z", f"mq{at}"),
            make.op("DequantizeLinear", f"mq{at} s z", f"md{at}"),
            make.op("Add", f"md{at} b{at}", f"a{at}"),
            make.op("QuantizeLinear", f"a{at} s z", f"q{at + 1}"),
        ]
    nodes.append(make.op("DequantizeLinear", "q2 s z", "y"))
    drawn = np.random.default_rng(0)
    weights: dict[str, Any] = {"s": np.float32(0.1), "z": np.int8(0)}
    for at, sizes in enumerate(((256, 512), (512, 256))):
        weights[f"wq{at}"] = drawn.integers(-9, 9, sizes, np.int8)
        weights[f"bq{at}"] = drawn.integers(-9, 9, sizes[1], np.int8)
    ports = [make.tensor("x", [64, 256])], [make.tensor("y", [64, 256])]
    model = make.build(nodes, *ports, **weights)
    return Case("quantized", model, ({"x": make.normal(64, 256)},))


def test_other_precisions_are_refused(measure: Measure) -> None:
    cell = make_cell(engine=ENGINE, precision="bf16")
    found = measure(make.mlp(), cell=cell)
    assert isinstance(found, Failure)
    assert found.kind == "setting" and found.message is not None and found.message.code == "unsupported_precision"


def test_numpy_2_is_refused_before_the_engine_is_loaded() -> None:
    with refused(EngineError, "numpy_too_new", engine="deepsparse", version=np.__version__):
        factory.make("deepsparse").start()


def test_output_that_repeats_one_element_is_refused() -> None:
    for array in (np.zeros((2, 3)), *(np.broadcast_to(np.float32(1), shape) for shape in ((1, 1), (0, 4)))):
        require_strides("deepsparse", "y", array)
    with refused(EngineRefusal, "output_of_one_element", name="y"):
        require_strides("deepsparse", "y", np.broadcast_to(np.float32(1), (2, 3)))


def test_queue_gives_each_stream_its_samples_and_closes_gaps() -> None:
    seen: list[int] = []
    calls = [lambda: seen.append(0), lambda: seen.append(1)]
    starts, ends = (memoryview(bytearray(8 * 20)).cast("q") for _ in range(2))
    queue = deepsparse.DeepSparseQueue(calls, 2)
    assert queue.run(perf_counter_ns() + (1 << 40), starts, ends) == 20
    assert len(seen) == 20 and set(seen) == {0, 1}
    assert all(0 < start <= end for start, end in zip(starts, ends, strict=True))
    assert queue.run(0, starts, ends) == 0


def test_inputs_of_an_equal_type_get_the_one_type_that_the_library_knows() -> None:
    class Network:
        def input_names(self) -> list[str]:
            return ["x"]

        def input_dims(self) -> list[list[int]]:
            return [[2]]

        output_names, output_dims = input_names, input_dims

        def num_streams(self) -> int:
            return 1

        def fraction_of_supported_ops(self) -> float:
            return 1.0

        def execute_list_out(self, arrays: list[Any]) -> list[Any]:
            return arrays

    network, cpu = Network(), SimpleNamespace(isa="avx2", vnni=False)
    equal = np.array([1.0, 2.0], dtype=np.dtype(np.float32, copy=True))
    assert equal.dtype is not np.dtype(np.float32)
    session = deepsparse.DeepSparseSession(network, cpu, setting("m.onnx"), "single_stream", ())
    assert session.bind([{"x": equal}], "call").outputs(0)["x"].dtype is np.dtype(np.float32)
