from __future__ import annotations

from tests.present import build
from tuibench.core.spec import ModelSource
from tuibench.present.cells import (
    describe,
    failure_text,
    first_cell,
    model_of,
    point_of,
    varying,
)


def test_first_cell_is_the_first_measured_one_of_the_first_scenario() -> None:
    sync, async_ = build.ok_cell(), build.ok_cell(asks={"scenario": "async", "streams": 2})
    dead = build.failed_cell({"scenario": "async", "cores": 1})
    assert first_cell(build.run(sync, dead, async_)) is async_
    assert first_cell(build.run(dead, sync)) is sync
    assert first_cell(build.run(dead)) is dead
    assert first_cell(build.run()) is None


def test_only_axes_that_vary_are_named() -> None:
    run = build.run(build.ok_cell(), build.ok_cell(asks={"cores": 1, "dims": {"seq": 32}}))
    assert varying(run) == ["cores", "dims"]
    assert describe(run, run.cells[1]) == "sync, 1 core, batch 1, seq=32"
    assert (
        describe(run, build.ok_cell(asks={"scenario": "async", "streams": 2})) == "async, 2 cores, batch 1, 2 streams"
    )


def test_default_batch_of_a_failed_cell_is_that_of_its_inputs() -> None:
    async_ = build.ok_cell(asks={"scenario": "async", "batch": None}, used=build.used(batch=1))
    run = build.run(async_, build.failed_cell({"batch": None}))
    assert varying(run) == ["scenario"]
    assert describe(run, run.cells[1]) == "sync, 2 cores, batch 1"
    assert "batch" not in describe(build.run(run.cells[1], points=()), run.cells[1])


def test_streams_are_a_column_only_if_no_other_axis_implies_them() -> None:
    two, four = (build.ok_cell(asks={"scenario": "async", "streams": n}) for n in (2, 4))
    assert varying(build.run(two, four)) == ["streams"]
    assert varying(build.run(build.ok_cell(), four)) == ["scenario"]


def test_cell_finds_its_model_and_its_inputs() -> None:
    other = build.ok_cell(asks={"model_sha256": build.OTHER_SHA, "batch": 4, "dims": {"seq": 64}})
    run = build.run(
        other,
        spec=build.spec(models=(ModelSource("a", "/a"), ModelSource("b", "/b"))),
        models=(build.model(), build.model(sha256=build.OTHER_SHA)),
        points=(build.point(batch=4, dims={"seq": 64}), build.point(id="p1", model=1, batch=4, dims={"seq": 64})),
    )
    source, summary = model_of(run, other)
    assert source and source.asked == "b" and summary and summary.sha256 == build.OTHER_SHA
    point = point_of(run, other)
    assert point and point.id == "p1"
    assert point_of(run, build.ok_cell(asks={"batch": 3})) is None
    assert model_of(build.run(models=(), spec=build.spec(models=())), other) == (None, None)


def test_failure_names_cause_phase_and_message() -> None:
    assert failure_text(build.ok_cell()) == ""
    assert failure_text(build.failed_cell()) == "died by SIGSEGV in load: the worker died"
    assert failure_text(build.skipped_cell()) == "skipped: --max-time reached"
    assert failure_text(build.partial_cell()) == "partial after 1 execution: timeout in timing: no answer for 13 s"
