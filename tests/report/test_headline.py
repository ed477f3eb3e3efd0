from __future__ import annotations

from dataclasses import replace

from tests.report import build
from tuibench.core.cell import Grade
from tuibench.report.headline import headline, pick


def test_wrong_outputs_and_grade_d_never_win_while_another_is_clean() -> None:
    clean, wrong, noisy = build.ok_cell(), build.differing_cell(cores=1), build.noisy_cell(batch=4)
    assert pick([wrong, clean, noisy], "p50", least=True) is clean
    assert pick([wrong, clean, noisy], "items_per_sec", least=False) is clean
    assert pick([wrong, noisy], "p50", least=True) is noisy
    assert pick([build.failed_cell()], "p50", least=True) is None
    assert headline(build.run(wrong)).endswith("grade A · outputs differ")
    assert headline(build.run(noisy)).endswith("grade D")


def test_the_best_of_each_scenario_and_the_worse_grade_are_named() -> None:
    fast = build.ok_cell(3.0, 9000.0, {"scenario": "async", "streams": 8}, grade=Grade("B", "", 0.1, 0, False))
    slow = build.ok_cell(1.0, 100.0, {"scenario": "async", "streams": 2, "batch": 4})
    run = build.run(slow, fast, build.ok_cell())
    assert headline(run) == (
        "1.92 ms ±0.7 % (sync, 2 cores, batch 1) · 9000 items/s ±1.4 % (async, 2 cores, batch 1, 8 streams) · grade B"
    )


def test_one_comparison_adds_its_ratio() -> None:
    assert "ratio 0.964 [0.950, 0.980] (openvino / onnxruntime)" in headline(build.sweep_run())
    several = replace(build.sweep_run(), comparisons=build.sweep_run().comparisons * 2)
    assert "ratio" not in headline(several)


def test_without_numbers_the_reason_is_the_headline() -> None:
    assert headline(build.run(build.failed_cell())) == "failed: SIGSEGV in load: the worker died"
    assert headline(build.run(build.failed_cell(), build.skipped_cell())).endswith("1 more cell without a result")
    assert headline(build.run(status="cancelled")) == "nothing was measured (cancelled)"


def test_a_number_without_interval_says_so() -> None:
    assert headline(build.run(build.lone_cell())) == "2.00 ms without interval (sync, 2 cores, batch 1) · grade A"
