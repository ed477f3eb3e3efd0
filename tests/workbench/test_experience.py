from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.build import make_asked, make_spec
from tests.store.data import make_id
from tests.workbench.script import SHA
from tuibench.core.cell import Asked, CellResult, Failure
from tuibench.core.run import RunResult
from tuibench.core.spec import BenchmarkSpec
from tuibench.workbench.experience import Experience, learn

MEMORY = Failure("memory", "first", "out of memory: 8 GB")


def result(number: int, *cells: CellResult, foreign: str = "", **asks: Any) -> RunResult:
    spec = replace(make_spec(Path("/m.onnx")), **asks)
    return RunResult(make_id(number), "finished", spec, (), (), cells, {}, {}, "", 1.0, foreign=foreign)


def cell(failure: Failure | None = None, memory: dict[str, int] | None = None, **asks: object) -> CellResult:
    asked: Asked = make_asked(model_sha256=SHA, **asks)
    return CellResult(asked.key, asked, "failed" if failure else "ok", failure=failure, memory_bytes=memory or {})


def spec(**changes: object) -> BenchmarkSpec:
    return replace(make_spec(Path("/m.onnx")), **{"cores": (1, 16), "batches": (1, 512), **changes})  # type: ignore[arg-type]


def test_nothing_is_known_without_a_benchmark() -> None:
    assert (Experience().peak(spec()), Experience().warnings(spec())) == (None, ())


def test_the_most_that_a_batch_took_with_an_engine_counts_for_it() -> None:
    known = learn(
        [
            result(2, cell(memory={"load": 5, "timed": 70}, batch=1), cell(memory={"timed": 900}, batch=512)),
            result(1, cell(memory={"timed": 80}, batch=1, cores=4)),
        ]
    )
    assert (known.peak(spec()), known.peak(spec(batches=(1,))), known.peak(spec(batches=(8,)))) == (900, 80, None)
    assert known.peak(spec(batches=())) == 80
    assert known.peak(spec(engines=("onnxruntime",))) is None


def test_a_cell_that_failed_is_named_with_its_benchmark_and_its_reason() -> None:
    known = learn([result(1, cell(MEMORY, cores=16, batch=512))])
    assert known.warnings(spec()) == (
        "fake sync on 16 cores × batch 512 failed in 0001: out of memory in the first inference: 8 GB",
    )


def test_only_what_is_asked_again_is_warned_of() -> None:
    known = learn([result(1, cell(MEMORY, cores=16, batch=512, dims={"seq": 64}))])
    for other in (
        spec(cores=(1,)),
        spec(batches=(1,)),
        spec(engines=("onnxruntime",)),
        spec(scenarios=("async",)),
        spec(precision="bf16"),
        spec(dims=(("seq", (32,)),)),
        spec(sequence_lengths=(32,)),
    ):
        assert known.warnings(other) == ()
    assert known.warnings(spec(dims=(("seq", (32, 64)),))) and known.warnings(spec(sequence_lengths=(32, 64)))


def test_what_was_measured_since_is_no_failure_any_more() -> None:
    failed, measured = cell(MEMORY, batch=1), cell(batch=1)
    assert learn([result(2, measured), result(1, failed)]).warnings(spec()) == ()
    assert learn([result(2, failed), result(1, measured)]).warnings(spec())


def test_what_was_measured_in_another_size_or_precision_leaves_a_failure_as_it_is() -> None:
    short, long = cell(batch=1, dims={"seq": 64}), cell(MEMORY, batch=1, dims={"seq": 512})
    assert learn([result(1, short, long)]).warnings(spec())
    measured, failed = cell(batch=1, precision="f32"), cell(MEMORY, batch=1, precision="bf16")
    known = learn([result(2, measured), result(1, failed)])
    assert known.warnings(spec(precision="bf16")) and not known.warnings(spec(precision="f32"))


def test_a_size_that_was_asked_for_is_named_and_is_not_what_the_model_runs_at_by_itself() -> None:
    usual, long = cell(batch=1, dims={"seq": 128}), cell(MEMORY, batch=1, dims={"seq": 9999})
    for asks in ({"dims": (("seq", (9999,)),)}, {"sequence_lengths": (9999,)}):
        known = learn([result(2, usual), result(1, long, **asks)])
        assert known.warnings(spec()) == ()
        assert known.warnings(spec(**asks)) == (
            "fake sync on 1 core × batch 1, seq=9999 failed in 0001: out of memory in the first inference: 8 GB",
        )
    failed = learn([result(1, cell(MEMORY, batch=1, dims={"seq": 128, "past": 0}, precision="bf16"))])
    assert "batch 1, seq=128, past=0, bf16 failed" in failed.warnings(spec(precision="bf16"))[0]
    # Its past is as long as the text is to be, which says nothing.
    assert not failed.warnings(spec(precision="bf16", sequence_lengths=(0,)))


def test_a_size_that_came_with_a_shape_was_asked_for() -> None:
    inputs = replace(spec().inputs, shapes=((1, 3, 900, 900),))
    known = learn([result(1, cell(MEMORY, batch=1, dims={"h": 900, "w": 900}), inputs=inputs)])
    assert known.warnings(spec(inputs=inputs)) and not known.warnings(spec())
    assert not known.warnings(spec(inputs=replace(inputs, shapes=((1, 3, 224, 224),))))


def test_many_failures_are_counted_and_not_listed() -> None:
    failures = [cell(MEMORY, cores=cores, batch=512) for cores in range(1, 9)]
    words = learn([result(1, *failures)]).warnings(spec(cores=tuple(range(1, 9))))
    assert (len(words), words[-1]) == (4, "5 more cells failed before")


def test_other_models_and_other_tools_say_nothing() -> None:
    other, foreign = cell(MEMORY, {"timed": 5}, batch=1), result(2, cell(MEMORY, {"timed": 5}, batch=1), foreign="ds")
    assert learn([result(1, other)], "f" * 64) == Experience()
    assert learn([foreign]) == Experience()
