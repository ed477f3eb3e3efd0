from __future__ import annotations

import math
import random
from array import array
from dataclasses import replace

import numpy as np
import pytest

from tests.runs.execution_data import EXECUTION, USED, cell, execution
from tuibench.core.cell import CellResult, Check, Estimate, Execution, Noise, Pooled, Samples
from tuibench.core.reason import Failure, Reason, because, error_text, legacy_text
from tuibench.core.record import from_plain, to_plain
from tuibench.runs.track import pool, summarize
from tuibench.stats.percentile import needed_samples
from tuibench.worker.recording import histogram


def summary(*executions: Execution, items: int = 1) -> CellResult:
    return summarize(cell(), executions, status="ok", items=items)


def test_headline_is_the_log_mean_over_executions_with_t_interval() -> None:
    logs = [math.log(1e6), math.log(1.1e6), math.log(1.3e6)]
    p50 = summary(*(execution(p50_ns=math.exp(v)) for v in logs)).latency_ms["p50"]
    center = sum(logs) / 3
    half = 4.30265273 * math.sqrt(sum((v - center) ** 2 for v in logs) / 2) / math.sqrt(3)
    assert p50.value == pytest.approx(math.exp(center) / 1e6)
    assert p50.low == pytest.approx(math.exp(center - half) / 1e6)
    assert p50.high == pytest.approx(math.exp(center + half) / 1e6)
    assert p50.n == 3


def test_every_latency_is_in_milliseconds_under_its_name() -> None:
    latency = summary(*[EXECUTION] * 10).latency_ms
    values = {name: round(e.value, 6) for name, e in latency.items() if e.value is not None}
    assert values == {
        "p50": 1.0,
        "p90": 1.2,
        "p95": 1.3,
        "p99": 1.5,
        "p99_9": 2.0,
        "mean": 1.1,
        "std": 0.1,
        "floor": 0.9,
    }


def test_percentile_with_too_few_iterations_is_null_with_a_reason() -> None:
    # 5 x 20 iterations are worth 5 x 10 independent ones: enough for p90 (46), not for p95 (93) and beyond.
    latency = summary(*[execution(iterations=20, effective_n=10.0)] * 5).latency_ms
    assert latency["p90"].value == pytest.approx(1.2)
    assert latency["p95"] == Estimate(None, n=5, reason=because("too_few_iterations", more=86))
    assert latency["p99"].reason == because("too_few_iterations", more=846)
    assert latency["p99_9"].reason == because("too_few_iterations", more=9384)


def test_no_independent_iteration_still_names_the_needed_number() -> None:
    assert summary(execution(effective_n=0.0)).latency_ms["p99"].reason == because("too_few_iterations", more=473)


def test_throughput_counts_items_per_steady_and_per_cpu_second() -> None:
    result = summary(*[execution(calls_per_s=500.0, iterations=600, cpu_s=1.5)] * 3, items=8)
    assert result.items_per_sec.value == pytest.approx(4000)
    assert result.items_per_sec.low == pytest.approx(4000)
    assert result.items_per_cpu_sec.value == pytest.approx(3200)
    assert result.items == 8


def test_unread_cpu_time_is_not_zero() -> None:
    result = summary(execution(cpu_s=None), execution(cpu_s=None))
    assert result.items_per_cpu_sec == Estimate(None, reason=Reason("cpu_time_unread"))


def test_fewer_than_three_executions_have_values_without_intervals() -> None:
    result = summary(EXECUTION, EXECUTION)
    for estimate in (result.latency_ms["p50"], result.items_per_sec, result.items_per_cpu_sec):
        assert estimate.value is not None
        assert (estimate.low, estimate.high) == (None, None)
        assert estimate.reason == because("too_few_executions", count=2, least=3)


def test_load_and_first_are_medians_and_memory_is_the_maximum() -> None:
    runs = [
        execution(load_ms=load, first_ms=load / 10, memory_bytes=memory)
        for load, memory in ((10.0, {"peak": 5}), (500.0, {"peak": 9, "load": 3}), (20.0, {"peak": 7}))
    ]
    result = summary(*runs)
    assert (result.load_ms, result.first_ms) == (20.0, 2.0)
    assert result.memory_bytes == {"peak": 9, "load": 3}


def test_worst_check_is_that_of_the_cell() -> None:
    agrees, unchecked = Check("agrees", 1e-6, 1e-3), Check("unchecked", None, None, Reason("check_off"))
    slightly, badly = Check("differs", 0.1, 1e-3), Check("differs", 0.5, 1e-3)
    for states, worst in (
        ((agrees, unchecked, agrees), unchecked),
        ((unchecked, slightly, badly, agrees), badly),
        ((agrees, replace(agrees, difference=1e-8)), agrees),
    ):
        assert summary(*(execution(check=c) for c in states)).check == worst


def test_used_settings_are_the_last_ones_with_a_note_of_changes() -> None:
    runs = [
        execution(used=replace(USED, io="bound", cpus=(0, 1), cpu_seconds_per_second=1.8)),
        execution(used=replace(USED, io="call", cpus=(2, 3), cpu_seconds_per_second=2.0, details={"isa": "avx2"})),
    ]
    used = summary(*runs).used
    assert used is not None
    assert (used.io, used.cpus) == ("call", (2, 3))
    assert used.cpu_seconds_per_second == pytest.approx(1.9)
    assert used.details == {"isa": "avx2", "io varied": "bound, call"}


def test_grade_is_over_all_executions() -> None:
    busy = Noise(10**9, 10**9, 0.0, 0, 0.0, 9, 50, 100)
    grade = summary(EXECUTION, execution(noise=busy)).grade
    assert grade is not None
    assert grade.letter == "D"
    assert grade.cause is not None and grade.cause.fields["waited"] == pytest.approx(1 / 3, rel=0.02)


def test_samples_are_counted_and_their_file_is_named_if_present() -> None:
    one, two = execution(samples=Samples(10, 100, "a-1.z")), execution(samples=Samples(20, 20, "a-2.z"))
    assert summary(one).samples == Samples(10, 100, "a-1.z")
    assert summary(one, two).samples == Samples(30, 120, None)


def test_cell_without_executions_has_reasons_everywhere() -> None:
    failure = Failure("signal", "load", error_text("died"), "SIGSEGV")
    result = summarize(cell(batch=4), [], status="failed", failure=failure, items=4)
    assert (result.status, result.failure, result.executions) == ("failed", failure, ())
    assert set(result.latency_ms) == {"p50", "p90", "p95", "p99", "p99_9", "mean", "std", "floor"}
    for estimate in (*result.latency_ms.values(), result.items_per_sec, result.items_per_cpu_sec):
        assert estimate == Estimate(None, reason=Reason("no_execution"))


def test_result_is_restored_from_the_journal() -> None:
    runs = [EXECUTION, execution(p50_ns=1.2e6), EXECUTION]
    result = summarize(cell(), runs, status="partial", stopped_by=legacy_text("limit"), pooled=pool(runs), items=2)
    assert from_plain(CellResult, to_plain(result)) == result
    assert (result.key, result.stopped_by) == (cell().key, legacy_text("limit"))


def drawn(count: int, scale: float, seed: int) -> array[int]:
    rng = random.Random(seed)
    return array("I", [int(scale * rng.lognormvariate(0, 0.3)) for _ in range(count)])


def measured(samples: array[int], seconds: float) -> Execution:
    percentiles = {name: float(np.percentile(samples, float(name))) for name in EXECUTION.percentiles_ns}
    return execution(
        iterations=len(samples),
        seconds_ran=seconds,
        mean_ns=float(np.mean(samples)),
        std_ns=float(np.std(samples)),
        percentiles_ns=percentiles,
        effective_n=float(len(samples)),
        histogram=histogram(np.array(samples), 256),
    )


def check_pool(pooled: Pooled, whole: np.ndarray[tuple[int], np.dtype[np.int64]], rel: float, names: int = 7) -> None:
    for name in ("25.0", "50.0", "75.0", "90.0", "95.0", "99.0", "99.9")[:names]:
        if len(whole) < needed_samples(float(name)):
            assert pooled.percentiles[name] is None
            continue
        assert pooled.percentiles[name] == pytest.approx(float(np.percentile(whole, float(name))) / 1e6, rel=rel)
    assert pooled.median == pooled.percentiles["50.0"]


def test_pooled_figures_are_those_of_all_iterations() -> None:
    samples = [drawn(700, 1e6, 1), drawn(300, 2e6, 2)]
    runs = [measured(s, 1.5) for s in samples]
    pooled = pool(runs, samples, items=4)
    whole = np.concatenate(samples)
    assert pooled.mean == pytest.approx(whole.mean() / 1e6)
    assert pooled.std == pytest.approx(whole.std() / 1e6)
    assert (pooled.iterations, pooled.seconds_ran) == (1000, 3.0)
    assert pooled.items_per_sec == pytest.approx(4 * 1000 / 3.0)
    check_pool(pooled, whole, rel=1e-9)


def test_pooled_percentiles_weigh_each_sample_by_its_iterations() -> None:
    full = [drawn(20_000, 1e6, 1), drawn(2_000, 3e6, 2)]
    runs = [measured(s, 1.0) for s in full]
    check_pool(pool(runs, [full[0][::10], full[1]]), np.concatenate(full), rel=0.03)


def test_histograms_replace_missing_samples() -> None:
    full = [drawn(5_000, 1e6, 1), drawn(5_000, 1.5e6, 2)]
    runs = [measured(s, 1.0) for s in full]
    whole = np.concatenate(full)
    check_pool(pool(runs), whole, rel=0.03, names=5)
    check_pool(pool(runs, [None, full[1]]), whole, rel=0.03, names=5)


def test_percentile_beyond_the_bins_uses_the_executions() -> None:
    samples = array("I", [1_000_000] * 980 + [900_000_000] * 20)
    pooled = pool([measured(samples, 1.0)])
    assert pooled.percentiles["50.0"] == pytest.approx(1.0, rel=0.01)
    assert pooled.percentiles["99.0"] == pytest.approx(900.0)
