from __future__ import annotations

import os
from pathlib import Path

from tuibench.engines import factory
from tuibench.model.profile.calibration import Bias, calibrate, middle_mean
from tuibench.model.profile.layers import setting_for


def test_calibration_finds_all_profiler_costs_and_leaves_no_file(tmp_path: Path) -> None:
    factory.make("onnxruntime").start()
    found = calibrate(setting_for("", (min(os.sched_getaffinity(0)),), 1, str(tmp_path)), str(tmp_path))
    assert found.single_us > 0 and found.inner_us > 0 and found.further_us >= 0
    assert list(tmp_path.iterdir()) == []


def test_each_further_tensor_adds_to_the_profiler_cost() -> None:
    assert [Bias(1.0, 0.25).of(tensors) for tensors in (0, 1, 3)] == [1.0, 1.0, 1.5]


def test_few_disturbed_runs_do_not_move_the_middle_mean() -> None:
    assert middle_mean([5, 5, 5, 5, 5, 5, 5, 900]) == 5 and middle_mean([]) == 0
