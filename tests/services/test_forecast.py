from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.build import make_cell, make_spec
from tests.refusal import refused
from tests.services.script import ScriptedRun
from tuibench.core.errors import UsageError
from tuibench.core.model import ELEMENT_BITS, ModelSummary, Port
from tuibench.core.spec import EFFORTS, BenchmarkSpec, InputSettings, Limits, ModelSource
from tuibench.model.inputs import element_bytes
from tuibench.present.error.words import hint_words, message_words
from tuibench.runs.observer import read_replay
from tuibench.services.forecast import (
    check_dim,
    expected_s,
    forecast,
    free_dims,
    item_bytes,
    limit_s,
    misfits,
    preamble_of,
)

MB = 1_000_000
IMAGE = ModelSummary("/m.onnx", "a" * 64, 90 * MB, 10 * MB, (Port("x", "tensor", "float32", ("n", 3, 224, 224)),), ())
TEXT = ModelSummary(
    "/t.onnx",
    "b" * 64,
    MB,
    0,
    (Port("ids", "tensor", "int64", ("batch", "seq")), Port("mask", "tensor", "int64", ("batch", "seq"))),
    (),
)
FIXED = ModelSummary("/f.onnx", "c" * 64, MB, 0, (Port("x", "tensor", "float32", (4, 8)),), ())
BARE, WEIGHTS = 60 * MB, 3 * 100 * MB


def spec_of(**changes: object) -> BenchmarkSpec:
    return replace(make_spec(Path("/m.onnx")), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("versions", "install"),
    [({"numpy": "2.3"}, "pip install 'tuibench[openvino]'"), ({"openvino": "2026.4"}, ""), ({}, "")],
)
def test_preamble_names_the_remedy_for_a_missing_engine(tmp_path: Path, versions: dict[str, str], install: str) -> None:
    run = ScriptedRun(tmp_path, spec=spec_of(engines=("openvino",)))
    run.begin(versions=versions)
    run.plan()
    (engine,) = preamble_of(read_replay(run.directory)[0]).engines
    assert (engine.name, engine.install) == ("openvino", install)


def test_preamble_of_a_release_that_only_newer_versions_run(tmp_path: Path) -> None:
    release = "deepsparse@9.9"
    run = ScriptedRun(tmp_path, spec=spec_of(engines=(release,), scenarios=("elastic",)))
    run.cells = [make_cell("p0", engine=release, scenario="elastic", streams=2)]
    run.begin()
    run.plan()
    (streams,) = preamble_of(read_replay(run.directory)[0]).streams
    assert streams.serving == (release,) and not streams.emulated


def test_cells_are_the_product_of_the_axes() -> None:
    spec = spec_of(engines=("fake", "onnxruntime"), scenarios=("sync", "async"), cores=(1, 2, 4), batches=(1, 8))
    assert forecast(spec, [IMAGE]).cells == 2 * 2 * 3 * 2
    assert forecast(spec_of(dims=(("seq", (16, 32, 64)),)), [TEXT]).cells == 3


def test_cells_measured_only_once_are_counted_once() -> None:
    assert forecast(spec_of(batches=(4,), dims=(("seq", (16,)),), sequence_lengths=(16,)), [TEXT]).cells == 1


def test_cells_are_counted_without_inspecting_the_model() -> None:
    spec = spec_of(cores=(1, 2), batches=(1, 8), dims=(("seq", (16, 16, 32)),))
    assert (forecast(spec, []).cells, forecast(spec, []).memory_bytes) == (2 * 2 * 2, None)
    two = replace(spec, models=(ModelSource("a", "/a"), ModelSource("b", "/b")), dims=())
    assert forecast(two, [IMAGE]).cells == 2 * 2 * 2


def test_memory_is_that_of_the_largest_point() -> None:
    one = 4 * 3 * 224 * 224
    spec = spec_of(batches=(1, 64), inputs=InputSettings(distinct=8))
    assert forecast(spec, [IMAGE]).memory_bytes == BARE + WEIGHTS + 8 * 64 * one
    hot = spec_of(batches=(1,), inputs=InputSettings(distinct=1))
    assert forecast(hot, [IMAGE]).memory_bytes == BARE + WEIGHTS + one


def test_given_dims_count_and_others_use_the_first_candidate() -> None:
    given = forecast(spec_of(batches=(2,), dims=(("seq", (100,)),), inputs=InputSettings(distinct=1)), [TEXT])
    assert given.memory_bytes == BARE + 3 * MB + 2 * 2 * 100 * 8
    left = forecast(spec_of(batches=(2,), inputs=InputSettings(distinct=1)), [TEXT])
    assert left.memory_bytes is not None and BARE + 3 * MB < left.memory_bytes < given.memory_bytes


def test_unsupported_batch_is_a_problem_and_no_error() -> None:
    found = forecast(spec_of(batches=(4, 8)), [FIXED])
    assert found.cells == 2
    assert len(found.problems) == 1 and found.problems[0].startswith("batch 8: the model allows 4 only")


def test_free_dims_are_requested_without_the_batch() -> None:
    assert (free_dims(IMAGE), free_dims(TEXT), free_dims(FIXED)) == ((), ("seq",), ())
    assert free_dims(TEXT, "seq") == ("batch",)


def test_unknown_dim_is_named_with_the_known_ones() -> None:
    check_dim(TEXT, spec_of(), "seq")
    with refused(UsageError, "dim_unknown", dim="length") as caught:
        check_dim(TEXT, spec_of(), "length")
    assert "seq" in hint_words(caught.value)
    with refused(UsageError, "dim_fixed", dim="x:1", fixed=8):
        check_dim(FIXED, spec_of(), "x:1")


def test_contradictory_dims_raise_a_usage_error() -> None:
    with refused(UsageError, "batch_conflict", batch=1, other=2):
        forecast(spec_of(batches=(1,), dims=(("batch", (2,)),)), [TEXT])


def test_all_problems_of_one_point_are_named_by_the_typed_values() -> None:
    spec = spec_of(batches=(64,), sequence_lengths=(128,))
    words = replace(FIXED, inputs=(Port("input_ids", "tensor", "int64", (4, 8)),))
    said = {name: message_words(error) for name, error in misfits(words, spec).items()}
    assert said["batch"] == "batch 64: the model allows 4 only: input 'input_ids' is [4, 8]"
    assert "no free dim for a sequence length (fixed to 8)" in said["sequence_length"]
    assert misfits(TEXT, spec) == {} == misfits(words, spec_of(batches=(4,), sequence_lengths=(8,)))
    wrong = misfits(FIXED, spec_of(batches=(64,), dims=(("seq", (16,)), ("x:1", (8,)))))
    assert set(wrong) == {"dim:seq", "batch"} and wrong["dim:seq"].reason.code == "dim_unknown"


def test_length_that_contradicts_a_dim_is_an_error_by_itself() -> None:
    spec = spec_of(batches=(2,), dims=(("seq", (16,)),), sequence_lengths=(32,))
    assert set(misfits(TEXT, spec)) == {"sequence_length"}
    assert set(misfits(TEXT, spec_of(batches=(2,), dims=(("batch", (3,)),)))) == {"batch"}


def test_oversized_sweep_is_refused_without_expansion() -> None:
    sizes = tuple(range(1, 101))
    with refused(UsageError, "too_many_shapes", count=10000):
        forecast(spec_of(batches=sizes, dims=(("seq", sizes),)), [TEXT])


def test_time_follows_the_effort_and_its_bounds() -> None:
    spec = spec_of(effort=EFFORTS["quick"])
    assert expected_s(spec, 4) == pytest.approx(4 * 3 * 1.3)
    assert limit_s(spec, 4) == 40
    assert limit_s(spec, 4, 5.0) == 60
    bounded = replace(spec, limits=Limits(max_time_s=12))
    assert (expected_s(bounded, 4), limit_s(bounded, 4)) == (12, 12)


@pytest.mark.parametrize(
    ("dtype", "size"),
    [("float32", 4), ("float16", 2), ("bfloat16", 2), ("int8", 1), ("bool", 1), ("uint4", 1), ("float8e4m3fn", 1),
     ("float8e5m2", 1), ("complex128", 16), ("complex64", 8), ("string", 32), ("of tomorrow 64", 1)],
)  # fmt: skip
def test_element_size_depends_on_its_type(dtype: str, size: int) -> None:
    assert item_bytes(dtype) == size


@pytest.mark.parametrize("dtype", sorted(ELEMENT_BITS))
def test_forecast_element_size_equals_that_of_the_inputs(dtype: str) -> None:
    assert item_bytes(dtype) == element_bytes(dtype)
