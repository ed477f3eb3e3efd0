from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from tests.present import build
from tuibench.core.cell import CellResult, Execution
from tuibench.core.reason import Reason, because, legacy_text
from tuibench.core.result import CellPair, RunResult, RunSession, SideBySide
from tuibench.core.spec import ModelSource
from tuibench.present.reason import all_words, reason_words
from tuibench.present.verdict import verdict_sentence
from tuibench.runs.comparison import compare_results
from tuibench.stats.comparison import unpaired

OLD_ID, NEW_ID = "01J0000000000000000000K3F9", "01J000000000000000000077ZZ"
WOBBLE = (1.0, 1.01, 0.99, 1.02)


def timed(factor: float = 1.0, count: int = 4) -> tuple[Execution, ...]:
    return tuple(build.execution(p50_ns=2e6 * factor * w, calls_per_s=500 / factor / w) for w in WOBBLE[:count])


def cell(factor: float = 1.0, count: int = 4, changes: dict[str, Any] | None = None, **asks: Any) -> CellResult:
    return build.ok_cell(p50=2.0 * factor, asks=asks, executions=timed(factor, count), **(changes or {}))


def side(old: list[CellResult], new: list[CellResult], *changes: dict[str, Any]) -> SideBySide:
    both = [*changes, {}, {}][:2]
    return compare_results(build.run(*old, **{"id": OLD_ID, **both[0]}), build.run(*new, **{"id": NEW_ID, **both[1]}))


def only(found: SideBySide) -> CellPair:
    assert len(found.pairs) == 1
    return found.pairs[0]


def foreign(**changes: Any) -> RunResult:
    """Return a result as an import of another tool's file yields it."""
    asks = {"engine": "deepsparse", "model_sha256": "", "pin": "", "precision": "", "options": {}, **changes}
    pooled = build.pooled(median=4.0, items_per_sec=250.0)
    measured = build.ok_cell(asks=asks, executions=(), grade=None, check=None, used=None, pooled=pooled)
    return build.run(measured, id=OLD_ID, foreign="deepsparse.benchmark 1.8.0", environment={}, models=())


def test_equal_requests_are_compared_by_welch_without_a_verdict() -> None:
    pair = only(side([cell()], [cell(0.9)]))
    logs = [[(0, math.log(e.p50_ns)) for e in timed(factor)] for factor in (1.0, 0.9)]
    expected = unpaired(*logs)
    assert pair.comparison is not None and expected.half is not None
    assert pair.comparison.verdict.ratio == pytest.approx(0.9)
    assert pair.comparison.verdict.low == pytest.approx(math.exp(expected.center - expected.half))
    assert (pair.comparison.verdict.kind, pair.comparison.verdict.reasons) == (None, (Reason("different_times"),))
    assert not pair.comparison.interleaved and all_words(pair.bars) == ()
    assert (pair.unit, pair.old.estimate.value, pair.new.estimate.value, pair.old.grade) == ("ms", 2.0, 1.8, "A")
    assert verdict_sentence(pair.comparison.verdict).startswith("77zz takes 10 % less time than k3f9 [8, 12]")


def test_streams_are_compared_by_time_per_item() -> None:
    pair = only(side([cell(scenario="async")], [cell(2.0, scenario="async")]))
    assert pair.comparison is not None
    assert pair.unit == "items/s"
    assert pair.comparison.verdict.ratio == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("asks", "bar"),
    [
        ({"engine": "openvino"}, "engine: onnxruntime against openvino"),
        ({"pin": "none"}, "pinning: core against none"),
        ({"precision": "bf16"}, "precision: f32 against bf16"),
        ({"cores": 4}, "cores: 2 against 4"),
        ({"options": {"seed": "1"}}, "options: none against seed=1"),
    ],
)
def test_requests_that_differ_in_one_setting_pair_with_a_note(asks: dict[str, Any], bar: str) -> None:
    pair = only(side([cell()], [cell(**asks)]))
    assert bar in all_words(pair.bars)
    assert pair.comparison is not None and bar in all_words(pair.comparison.verdict.reasons)


def test_pair_of_other_cores_or_streams_is_named_by_both() -> None:
    assert only(side([cell()], [cell(cores=4)])).name == "sync, 2→4 cores, batch 1"
    streams = [cell(scenario="async", streams=count) for count in (2, 4)]
    assert "2→4 streams" in only(side(streams[:1], streams[1:])).name
    assert only(side([cell()], [cell(2.0)])).name == "sync, 2 cores, batch 1"


@pytest.mark.parametrize(
    ("asked", "used", "name"),
    [
        ((4, 8), (4, 4), "4 streams"),
        ((4, 8), (4, 6), "4→6 streams"),
        ((8, 8), (8, 4), "8→4 streams"),
        ((8, 8), (4, 4), "4 streams"),
        ((8, 4), (6, 4), "6→4 streams"),
        ((4, 8), (4, None), "4→8 streams"),
        ((4, 8), (None, 6), "4→6 streams"),
        ((4, 8), (None, None), "4→8 streams"),
    ],
)
def test_used_streams_are_compared_with_used_streams(
    asked: tuple[int, int], used: tuple[int | None, int | None], name: str
) -> None:
    """Use the requested streams only if the used number is unknown."""
    old, new = (
        replace(cell(scenario="async", streams=n), used=None if real is None else build.used(streams=real))
        for n, real in zip(asked, used, strict=True)
    )
    pair = only(side([old], [new]))
    assert pair.name == f"async, 2 cores, batch 1, {name}"


def test_streams_used_and_requested_differently_prevent_a_verdict() -> None:
    old, new = (
        replace(cell(scenario="async", streams=n), used=build.used(streams=real)) for n, real in ((4, 4), (8, 6))
    )
    bars = only(side([old], [new])).bars
    assert "streams: 4 against 6" in all_words(bars) and "streams requested: 4 against 8" in all_words(bars)
    assert "streams: 4 against 8" not in all_words(bars)


@pytest.mark.parametrize(
    "asks", [{"batch": 8}, {"dims": {"seq": 8}}, {"scenario": "async"}, {"engine": "x", "pin": "none"}]
)
def test_other_work_or_two_settings_leave_cells_unmatched_and_named(asks: dict[str, Any]) -> None:
    found = side([cell()], [cell(**asks)])
    assert found.pairs == () and len(found.old_only) == len(found.new_only) == 1
    assert "sync" in found.old_only[0]


def test_several_candidates_for_a_changed_setting_do_not_pair() -> None:
    found = side([cell(cores=1), cell(cores=2)], [cell(cores=4)])
    assert found.pairs == ()
    assert found.old_only == ("sync, 1 core, batch 1", "sync, 2 cores, batch 1")
    assert found.new_only == ("sync, 4 cores, batch 1",)


def test_equal_requests_pair_before_those_that_differ() -> None:
    found = side([cell(), cell(engine="openvino")], [cell(engine="openvino"), cell(engine="fake")])
    assert [(pair.name.split(",")[0], bool(pair.bars)) for pair in found.pairs] == [("openvino", False), ("sync", True)]
    assert found.old_only == found.new_only == ()


def test_changed_model_pairs_with_the_file_of_its_name() -> None:
    shas = ["aa" * 32, "bb" * 32, "cc" * 32, "dd" * 32]
    spec = build.spec(models=(ModelSource("a.onnx", "/a.onnx"), ModelSource("b.onnx", "/b.onnx")))
    swapped = build.spec(models=(ModelSource("b.onnx", "/b.onnx"), ModelSource("a.onnx", "/a.onnx")))
    old, new = shas[:2], shas[2:]
    found = side(
        [cell(model_sha256=sha) for sha in old], [cell(model_sha256=sha) for sha in new],
        {"spec": spec, "models": tuple(build.model(sha256=sha) for sha in old)},
        {"spec": swapped, "models": tuple(build.model(sha256=sha) for sha in new)},
    )  # fmt: skip
    keys = {pair.old.key: pair.new.key for pair in found.pairs}
    assert keys == {cell(model_sha256=a).key: cell(model_sha256=b).key for a, b in zip(old, reversed(new), strict=True)}
    assert "model: b.onnx bbbbbbbb against b.onnx cccccccc" in all_words(found.pairs[0].bars)
    assert "the models differ, and their outputs were not compared with each other" in all_words(found.pairs[0].bars)


def test_other_model_is_named_if_nothing_pairs() -> None:
    old, new = cell(model_sha256="aa" * 32, dims={"seq": 64}), cell(model_sha256="bb" * 32, dims={"x": 48})
    models = [{"models": (build.model(sha256=sha * 32),)} for sha in ("aa", "bb")]
    found = side([old], [new], *models)
    assert (
        not found.pairs and all_words(found.environment)[0] == "model: model.onnx aaaaaaaa against model.onnx bbbbbbbb"
    )
    other = models[1] | {"spec": build.spec(models=(ModelSource("/tmp/b/quite\x1bother.onnx", "/tmp/b.onnx"),))}
    (difference,) = all_words(side([old], [new], models[0], other).environment)
    assert difference == "model: model.onnx against quite\\eother.onnx"
    assert not side([old], [cell(model_sha256="aa" * 32)], models[0], models[0]).environment


def test_verdict_limits_within_a_run_apply_between_results() -> None:
    used = build.used(io="call")
    pair = only(side([cell()], [cell(changes={"used": used, "check": None})]))
    assert all_words(pair.bars) == ("outputs of onnxruntime were not checked", "I/O class: bound against call")


def test_failed_cell_gives_no_ratio_but_its_reason() -> None:
    pair = only(side([cell()], [build.failed_cell()]))
    assert (pair.comparison, pair.new.status) == (None, "failed")
    assert reason_words(pair.reason) == "77zz: died by SIGSEGV in load: the worker died"
    skipped = only(side([build.skipped_cell()], [cell()]))
    assert reason_words(skipped.reason) == "k3f9: skipped: --max-time reached"


def test_few_executions_give_a_ratio_without_an_interval() -> None:
    pair = only(side([cell()], [cell(1.1, count=2)]))
    assert pair.comparison is not None and (pair.comparison.verdict.low, pair.comparison.verdict.high) == (None, None)
    assert pair.reason == because("operand_too_short", count=2, least=3)


def test_foreign_result_has_a_ratio_without_an_interval() -> None:
    new = build.run(cell(changes={"pooled": build.pooled(median=2.0)}), id=NEW_ID)
    found = compare_results(foreign(), new)
    pair = only(found)
    assert pair.comparison is not None and pair.comparison.verdict.low is None
    # Both use the median over all iterations, as the other tool defines it.
    assert pair.comparison.verdict.ratio == pytest.approx(0.5)
    assert pair.reason == because("no_executions_kept", tool="deepsparse.benchmark 1.8.0")
    assert (pair.old.grade, pair.old.estimate.low) == ("", None)
    assert "engine: deepsparse against onnxruntime" in all_words(pair.bars)
    assert all_words(found.environment) == ("unknown machine of k3f9, by deepsparse.benchmark 1.8.0",)


def test_two_foreign_results_are_never_called_the_same_work() -> None:
    pair = only(compare_results(foreign(), replace(foreign(), id=NEW_ID)))
    assert any("unknown" in bar for bar in all_words(pair.bars))


def test_foreign_result_needs_the_settings_it_states() -> None:
    found = compare_results(foreign(cores=8), build.run(cell(), id=NEW_ID))
    assert found.pairs == () and len(found.old_only) == 1


def test_conditions_of_a_whole_result_prevent_a_verdict() -> None:
    sittings = (RunSession("", "", 3), RunSession("", "", 2, (legacy_text("kernel: 1 → 2"),)))
    pair = only(side([cell()], [cell()], {"shared_host": True}, {"sittings": sittings}))
    assert all_words(pair.bars) == (
        "k3f9 was measured concurrently with another benchmark",
        "77zz was measured in sessions under unequal conditions",
    )


def test_environments_are_compared_and_another_host_comes_first() -> None:
    first = {"environment": {"kernel": {"release": "1"}}, "host": "aa"}
    second = {"environment": {"kernel": {"release": "2"}}, "host": "bb"}
    found = side([cell()], [cell()], first, second)
    assert all_words(found.environment) == ("another machine: aa → bb", "kernel: 1 → 2")
    assert side([cell()], [cell()], first, first).environment == ()


def test_results_without_cells_can_be_compared() -> None:
    assert side([], []).pairs == ()
    assert side([], [cell()]).new_only == ("sync, 2 cores, batch 1",)


def test_cell_beside_one_that_never_began_shows_its_own_number() -> None:
    never = replace(
        cell(), status="skipped", executions=(), pooled=None, latency_ms={}, stopped_by=legacy_text("cancelled")
    )
    new = replace(cell(), pooled=build.pooled(median=1.5))
    pair = only(side([never], [new]))
    assert pair.comparison is None and pair.old.estimate.value is None
    assert pair.new.estimate == new.latency_ms["p50"]
