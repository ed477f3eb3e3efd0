"""References: stored whole if small, as seeded elements if large, with the tolerance of the coarsest format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tuibench.core.model import ModelSummary, Port
from tuibench.core.reason import Reason, because, error_text
from tuibench.model.preparation import WHOLE_BYTES, RunRefused, choose_tolerance, make_reference, shrink, why_none
from tuibench.worker.bundle import Subset, compare, read_bundle


def summary(dtype: str = "float32", **figures: Any) -> ModelSummary:
    port = Port("y", "tensor", dtype, None)
    return ModelSummary("m.onnx", "0", 1, 0, (port,), (port,), **figures)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (summary(), 1e-3),
        (summary("float16"), 3e-2),
        (summary(weight_types={"bfloat16": 5, "float32": 9}), 3e-2),
        (summary("float16", quantization="QDQ int8"), 5e-2),
    ],
)
def test_tolerance_is_that_of_the_coarsest_format(found: ModelSummary, expected: float) -> None:
    assert choose_tolerance(found) == expected


def test_model_without_a_reference_has_a_reason() -> None:
    assert why_none(summary(operators={"Relu": 2})) is None
    drawn = because("draws_random_numbers", ops=["RandomNormal"])
    assert why_none(summary(operators={"RandomNormal": 1})) == drawn
    assert why_none(summary(format="ort")) == Reason("already_optimized")


def test_large_outputs_are_kept_as_the_compared_elements(tmp_path: Path) -> None:
    large = np.arange(WHOLE_BYTES // 4 + 8, dtype=np.float32).reshape(4, -1)
    kept = shrink({"large": large, "small": np.ones(3)})
    assert isinstance(kept["large"], Subset) and kept["small"].size == 3
    assert shrink({"y": np.ones(5)})["y"].size == 5
    found = make_reference(lambda feed, optimize: {"large": large}, {}, {"large": large}, summary(), tmp_path / "r.npz")
    assert found.difference == 0 and (tmp_path / "r.npz").stat().st_size < 10**7
    stored = read_bundle(tmp_path / "r.npz")[0]
    assert compare(stored, {"large": large}).value == 0
    assert compare(stored, {"large": large + 1e6}).value > 0.01


def test_engine_that_cannot_run_unoptimized_is_the_reason(tmp_path: Path) -> None:
    def refuse(feed: dict[str, Any], optimize: bool) -> dict[str, Any]:
        raise RunRefused(error_text("no kernel"))

    found = make_reference(refuse, {}, {"y": np.ones(1)}, summary(), tmp_path / "r.npz")
    assert found.reason == because("reference_failed", why=error_text("no kernel"))
    assert found.file is None and not (tmp_path / "r.npz").exists()
