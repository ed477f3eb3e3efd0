from __future__ import annotations

import re
from dataclasses import replace

from tests.present import build
from tuibench.core.cell import CellResult, Estimate, Warmup
from tuibench.core.reason import legacy_text
from tuibench.present.cells import batch_size, cell_lines, compatible_lines, differences, own_lines

LABELS = [
    "Original Model Path", "Batch Size", "Scenario", "Throughput (items/sec)", "Latency Mean (ms/batch)",
    "Latency Median (ms/batch)", "Latency Std (ms/batch)", "Iterations",
]  # fmt: skip


def own(cell: CellResult) -> str:
    return "\n".join(own_lines(cell))


def test_eight_compatible_lines_are_first_and_in_order() -> None:
    run = build.default_run()
    lines = cell_lines(run, run.cells[0])
    assert [line.split(": ")[0] for line in lines[:8]] == LABELS
    assert lines[:4] == [
        "Original Model Path: dir/model.onnx", "Batch Size: 1", "Scenario: multistream",
        "Throughput (items/sec): 511.9876",
    ]  # fmt: skip
    assert lines[4:8] == [
        "Latency Mean (ms/batch): 1.9500", "Latency Median (ms/batch): 1.9234", "Latency Std (ms/batch): 0.09120",
        "Iterations: 2500",
    ]  # fmt: skip
    assert not any(line.split(": ")[0] in LABELS for line in lines[8:])


def test_sync_prints_as_singlestream() -> None:
    cell = build.ok_cell()
    assert compatible_lines(build.run(cell), cell)[2] == "Scenario: singlestream"


def test_small_numbers_keep_four_digits() -> None:
    cell = build.ok_cell(pooled=build.pooled(mean=0.00123456, std=0.0))
    lines = compatible_lines(build.run(cell), cell)
    assert lines[4:7:2] == ["Latency Mean (ms/batch): 0.001235", "Latency Std (ms/batch): 0.0000"]


def test_model_without_batch_counts_items_per_call() -> None:
    cell = build.ok_cell(asks={"batch": None}, used=build.used(batch=None), items=1)
    assert batch_size(build.run(cell), cell) == 1
    found = build.ok_cell(asks={"batch": None}, used=build.used(batch=4), items=4)
    assert batch_size(build.run(found), found) == 4


def test_own_lines_show_the_uncertainty_of_each_number() -> None:
    text = own(build.ok_cell(asks={"scenario": "async", "streams": 4}))
    assert "Latency p50 (ms/batch): 1.9234 ±0.7 % [1.9099, 1.9369] over 5 executions" in text
    assert re.search(r"Latency Percentiles .*p90 \d.* p95 .* p99 .* p99\.9 \d", text)
    assert "Latency Floor (ms/batch): 1.8849" in text
    assert "Throughput Steady (items/sec): 511.9000 ±1.4 %" in text
    assert "Grade: A (quiet)" in text
    assert "Memory: peak 120 MB · model 45.0 MB" in text
    assert "Start (ms): load 35.2100 · first inference 4.2000" in text
    assert "CPU Used: 1.98 of 2 cores (CPU 0,1)" in text
    assert "Streams: 4 (threads)" in text
    assert "Outputs: agree with the reference (difference 4e-07, tolerance 0.001)" in text
    assert "Stopped By: target" in text
    assert "I/O" not in text and "Not as Requested" not in text


def test_one_execution_has_no_interval_and_a_reason() -> None:
    text = own(build.lone_cell())
    assert "Latency p50 (ms/batch): 2.0000 (no interval: 1 of at least 3 executions)" in text
    assert "p99.9 -" in text
    assert "Percentile Missing: p99.9 needs 10000 iterations, there are 500" in text
    assert "±" not in text
    assert text.count("at least 3 executions") == 2, "the percentiles repeat what the median said"


def test_percentile_without_interval_has_a_reason() -> None:
    cell = build.ok_cell()
    few = Estimate(2.5, n=5, reason=legacy_text("few iterations in each execution"))
    text = own(replace(cell, latency_ms={**cell.latency_ms, "p99": few, "p99_9": few}))
    assert "p99 2.5000 · p99.9 2.5000" in text
    assert "Percentile without Interval: p99, p99.9 few iterations in each execution" in text
    assert "Missing" not in text


def test_unsettled_warm_up_is_reported() -> None:
    restless = build.execution(warmup=Warmup(2.0, 10, False))
    text = own(build.ok_cell(executions=(restless, build.execution(), restless)))
    assert "Warm-up: not settled in 2 of 3 executions" in text
    assert "Warm-up" not in own(build.ok_cell())


def test_different_or_unchecked_outputs_are_reported() -> None:
    assert "Outputs: DIFFER from the reference (difference 0.2, tolerance 0.001): output 'y'" in own(
        build.differing_cell()
    )
    assert "Outputs: unchecked: the reference could not run" in own(build.unchecked_cell())


def test_io_class_is_shown_unless_bound() -> None:
    cell = build.ok_cell()
    assert cell.used
    assert "I/O: call" in own(replace(cell, used=replace(cell.used, io="call")))


def test_used_settings_are_beside_requested_ones() -> None:
    cell = build.ok_cell(asks={"batch": 8})
    assert differences(cell) == []
    used = build.used(cpus=(3,), threads=4, streams=2, batch=1, precision="bf16", pinned="process")
    assert differences(replace(cell, used=used)) == [
        "cores requested 2, used 1",
        "streams requested 1, used 2",
        "pinning requested core, used process",
        "threads requested 2, used 4",
        "batch requested 8, used 1",
        "precision requested f32, used bf16",
    ]
    assert differences(replace(cell, used=build.used(batch=8, precision=None))) == [
        "precision requested f32, could not be read back"
    ]
    assert differences(replace(build.ok_cell(), used=build.used(batch=7))) == [], "a batch of one tells nothing apart"
    unread = build.used(batch=None, details={"batch": "no input has it"})
    assert differences(replace(cell, used=unread)) == ["batch requested 8, could not be read back: no input has it"]
    assert differences(replace(cell, used=build.used(batch=None))) == []
    mixed = build.used(batch=8, details={"precision": "3 nodes in f16"})
    assert differences(replace(cell, used=mixed)) == ["precision: 3 nodes in f16"]
    left = build.ok_cell(asks={"precision": "engine-default"}, used=build.used(precision="bf16"))
    assert differences(left) == ["precision: engine default, used bf16"]
    assert differences(build.failed_cell()) == []


def test_failed_cell_has_name_and_reason_without_numbers() -> None:
    cell = build.failed_cell()
    lines = cell_lines(build.run(cell), cell)
    assert lines == [
        "Original Model Path: dir/model.onnx", "Batch Size: 1", "Scenario: singlestream",
        "Died by SIGSEGV in load: the worker died", "Last Words: fatal: bad kernel",
    ]  # fmt: skip


def test_partial_cell_has_numbers_and_reason() -> None:
    text = own(build.partial_cell())
    assert "Latency p50" in text and "Partial after 1 execution: timeout in timing" in text
