"""Behaviour specific to OpenVINO: no network access, precision, static shapes, and shortened messages."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.engines import make
from tests.engines.probe import setting
from tests.engines.test_contract import expect, probe
from tests.refusal import refused
from tuibench.core.reason import ERROR
from tuibench.engines import openvino
from tuibench.engines.openvino_session import explain, translate
from tuibench.engines.protocol import EngineRefusal, IoUnavailable


@pytest.fixture
def engine() -> openvino.OpenVinoEngine:
    """The imported engine."""
    made = openvino.make()
    made.start()
    return made


def test_engine_uses_neither_network_nor_home(tmp_path: Path, home: Path) -> None:
    before = sorted(home.rglob("*"))
    record = tmp_path / "record"
    probe("watch", "openvino", make.mlp().save(tmp_path), "guarded", str(record))
    assert not record.exists()
    assert sorted(home.rglob("*")) == before


def test_watcher_detects_telemetry_if_it_is_not_blocked(tmp_path: Path, home: Path) -> None:
    record = tmp_path / "record"
    probe("watch", "openvino", make.mlp().save(tmp_path), "unguarded", str(record))
    # It sends from a child process, which the watcher did not allow to start.
    assert "os.fork" in record.read_text()
    assert list(home.glob("intel/*"))


def test_telemetry_cannot_be_imported_later(engine: openvino.OpenVinoEngine) -> None:
    assert engine.start()
    with pytest.raises(ImportError):
        __import__("openvino_telemetry")
    assert sys.modules["openvino"].__version__


def test_engine_default_precision_is_not_taken_for_f32(engine: openvino.OpenVinoEngine, tmp_path: Path) -> None:
    path = make.image().save(tmp_path)
    capable = sys.modules["openvino"].Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    back = engine.load(setting(path, precision="engine-default")).read_back()
    assert back.precision == ("bf16" if "BF16" in capable else "f32")
    assert ("bf16" in back.details["kernels"]) == ("BF16" in capable)
    exact = engine.load(setting(path)).read_back()
    assert exact.precision == "f32"
    assert "f32" in exact.details["kernels"]
    assert "bf16" not in exact.details["kernels"]
    assert exact.details["dynamic_quantization_group"] == "0"


@pytest.mark.parametrize("precision", ["bf16", "f16"])
def test_precision_that_would_be_replaced_is_refused(
    engine: openvino.OpenVinoEngine, tmp_path: Path, precision: str
) -> None:
    capable = sys.modules["openvino"].Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    path = make.mlp().save(tmp_path)
    used, kernels, refused_precision = "", "", None
    try:
        back = engine.load(setting(path, precision=precision)).read_back()
        used, kernels = str(back.precision), back.details["kernels"]
    except EngineRefusal as refusal:
        refused_precision = refusal.reason.fields.get("precision")
    if {"bf16": "BF16", "f16": "FP16"}[precision] in capable:
        assert used == precision
    else:
        # Without instructions for it OpenVINO may emulate a precision, which its kernels then report.
        assert precision == refused_precision or (used == precision and precision in kernels)


def test_precision_hint_without_matching_kernels_is_reported(engine: openvino.OpenVinoEngine, tmp_path: Path) -> None:
    session = engine.load(setting(make.mlp().save(tmp_path)))
    assert "precision" not in session.read_back().details
    hinted: Any = session
    hinted._precision = lambda: "bf16"
    assert session.read_back().details["precision"] == "asked bf16, but no kernel computes in it"
    capable = sys.modules["openvino"].Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    if "BF16" in capable:
        followed, ignored = (
            engine.load(setting(build().save(tmp_path), precision="bf16")).read_back()
            for build in (make.image, make.mlp)
        )
        assert followed.precision == ignored.precision == "bf16"
        assert "precision" not in followed.details and "no kernel" in ignored.details["precision"]


@pytest.mark.parametrize("build", [make.ids, make.two_outputs, make.image])
def test_static_shapes_change_the_session_and_not_the_outputs(
    engine: openvino.OpenVinoEngine, tmp_path: Path, build: Callable[[], make.Case]
) -> None:
    case = build()
    path = case.save(tmp_path)
    shapes = {name: array.shape for name, array in case.feeds[0].items()}
    loose = engine.load(setting(path, shapes=shapes))
    fixed = engine.load(setting(path, shapes=shapes, options={"shape": "static"}))
    assert any(size is None for port in loose.inputs() for size in port.shape or ())
    assert fixed.read_back().details["shape"] == "static"
    assert not fixed.dynamic and loose.dynamic
    one, other = (session.bind(case.feeds, "bound").outputs(1) for session in (loose, fixed))
    assert {k: v.tolist() for k, v in one.items()} == {k: v.tolist() for k, v in other.items()}


def test_unknown_shape_option_and_unoptimized_run_are_refused(engine: openvino.OpenVinoEngine, tmp_path: Path) -> None:
    path = make.mlp().save(tmp_path)
    with refused(EngineRefusal, "unsupported_shape_mode", given="round"):
        engine.load(setting(path, options={"shape": "round"}))
    with refused(EngineRefusal, "engine_always_optimizes"):
        engine.load(setting(path, optimize=False))


@pytest.mark.parametrize("build", [make.passed_through, make.renamed])
def test_output_that_shares_its_name_with_an_input_is_not_bound(
    engine: openvino.OpenVinoEngine, tmp_path: Path, build: Callable[[], make.Case]
) -> None:
    case = build()
    session = engine.load(setting(case.save(tmp_path)))
    with refused(IoUnavailable, "output_is_input"):
        session.bind(case.feeds, "bound")


def test_bound_outputs_share_one_buffer_and_allocated_ones_do_not(
    engine: openvino.OpenVinoEngine, tmp_path: Path
) -> None:
    case = make.mlp()
    session = engine.load(setting(case.save(tmp_path)))
    places = {}
    for io in ("bound", "engine-allocated"):
        bound = session.bind(case.feeds, io)
        for sample, call in enumerate(bound.calls):
            call()
            written = bound.keep[0][sample].get_output_tensor(0).data
            np.testing.assert_allclose(written, expect(case, sample)["y"], rtol=1e-4, atol=1e-5)
        places[io] = {request.get_output_tensor(0).data.ctypes.data for request in bound.keep[0]}
    assert (len(places["bound"]), len(places["engine-allocated"])) == (1, len(case.feeds))


@pytest.mark.parametrize("io", ["bound", "engine-allocated"])
def test_sample_that_cannot_run_is_refused_without_stale_outputs(
    engine: openvino.OpenVinoEngine, tmp_path: Path, io: str
) -> None:
    case = make.reshaped()
    bound = engine.load(setting(case.save(tmp_path), threads=1)).bind(case.feeds, io)
    assert [bound.outputs(i)["y"].shape for i in (0, 1)] == [(4, 2), (2, 4)]
    with pytest.raises(EngineRefusal, match="conflicts with the reshape pattern"):
        bound.outputs(2)


def test_mismatched_feed_is_refused_by_name(engine: openvino.OpenVinoEngine, tmp_path: Path) -> None:
    session = engine.load(setting(make.mlp().save(tmp_path)))
    with refused(EngineRefusal, "input_not_given", name="x"):
        session.bind([{"z": np.zeros((1, 8), dtype=np.float32)}], "bound")
    with refused(EngineRefusal, "other_type_given", name="x", dtype="float32", given="float64"):
        session.bind([{"x": np.zeros((1, 8))}], "bound")
    with refused(EngineRefusal, "no_tensor_given", name="x", type="list"):
        session.bind([{"x": [np.zeros((1, 8), dtype=np.float32)]}], "call")


@pytest.mark.parametrize(
    ("build", "code", "said"), [(make.text, "strings_corrupt_memory", "x"), (make.sequence, ERROR, "SequenceAt")]
)
def test_unsupported_model_is_refused_while_loading(
    engine: openvino.OpenVinoEngine, tmp_path: Path, build: Callable[[], make.Case], code: str, said: str
) -> None:
    with pytest.raises(EngineRefusal, match=said) as caught:
        engine.load(setting(build().save(tmp_path)))
    assert caught.value.reason.code == code


def test_format_of_another_engine_is_refused(engine: openvino.OpenVinoEngine, tmp_path: Path) -> None:
    path = tmp_path / "model.ort"
    path.write_bytes(b"\x1c\x00\x00\x00ORTM" + bytes(64))
    with refused(EngineRefusal, "ort_file_unreadable"):
        engine.load(setting(str(path)))


def test_read_back_settings_outlive_the_model(engine: openvino.OpenVinoEngine, tmp_path: Path) -> None:
    session = engine.load(setting(make.mlp().save(tmp_path)))
    before = session.read_back()
    session.close()
    assert session.read_back() == before


def test_error_message_is_shortened_to_its_content() -> None:
    wrapped = (
        "Exception from src/inference/src/cpp/core.cpp:84:\nCheck 'false' failed at src/frontends/a.cpp:151:\n"
        "FrontEnd API failed with OpConversionFailure:\nModel wasn't fully converted.\nSummary:\n"
        "-- No conversion rule found for operations: Frobnicate-17\n\n"
    )
    assert explain(RuntimeError(wrapped)) == (
        "Model wasn't fully converted. -- No conversion rule found for operations: Frobnicate-17"
    )
    assert explain(RuntimeError("Exception from a.cpp:1:\n")) == "Exception from a.cpp:1:"
    assert explain(RuntimeError("")) == "RuntimeError"
    assert isinstance(translate(RuntimeError("Exception from a.cpp:1:\nstd::bad_alloc\n")), MemoryError)
    assert isinstance(translate(RuntimeError("no such thing")), EngineRefusal)
