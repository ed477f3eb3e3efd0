from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.runs.execution_data import execution, result
from tuibench.core.cell import CellResult, Execution
from tuibench.core.reason import Drift, Reason, because
from tuibench.runs.comparison import compare_cells

NAMES = {"a" * 64: "fp32.onnx", "b" * 64: "int8.onnx"}
WOBBLE = (1.0, 1.01, 0.99, 1.005, 0.995)


def rounds(p50_ns: float, calls_per_s: float = 1000.0) -> list[tuple[int, Execution]]:
    return [
        (n, execution(p50_ns=p50_ns * w * n, calls_per_s=calls_per_s / w / n)) for n, w in enumerate(WOBBLE, start=1)
    ]


def pair(**changes: Any) -> tuple[CellResult, CellResult]:
    return result(engine="onnxruntime", **changes), result(engine="openvino", **changes)


def test_engines_are_paired_by_round_against_the_first() -> None:
    base, new = pair()
    (comparison,) = compare_cells([base, new], {base.key: rounds(2e6), new.key: rounds(1e6)}, NAMES)
    # The rounds drift by a factor of five; only pairs cancel it.
    verdict = comparison.verdict
    assert verdict.ratio == pytest.approx(0.5) == verdict.low
    assert (comparison.base, comparison.new, verdict.n) == (base.key, new.key, 5)
    assert (verdict.kind, verdict.base, verdict.new) == ("faster", "onnxruntime", "openvino")


def test_cells_that_differ_in_two_axes_are_not_compared() -> None:
    one, other = result(engine="onnxruntime", cores=1), result(engine="openvino", cores=2)
    assert compare_cells([one, other], {one.key: rounds(1e6), other.key: rounds(1e6)}, NAMES) == ()


def test_sweep_comparison_names_the_settings_shared_by_both() -> None:
    cells = [*pair(cores=1), *pair(cores=2)]
    found = compare_cells(cells, {c.key: rounds(i + 1.0) for i, c in enumerate(cells)}, NAMES)
    assert [(c.base, c.new) for c in found] == [(cells[0].key, cells[1].key), (cells[2].key, cells[3].key)]
    assert [c.verdict.base for c in found] == [
        f"onnxruntime (sync, {cores}, batch 1)" for cores in ("1 core", "2 cores")
    ]


def test_models_are_compared_with_the_first_without_a_verdict() -> None:
    base, new = result(), result(model_sha256="b" * 64)
    (comparison,) = compare_cells([base, new], {base.key: rounds(2e6), new.key: rounds(1e6)}, NAMES)
    verdict = comparison.verdict
    assert (verdict.kind, verdict.base, verdict.new) == (None, "fp32.onnx", "int8.onnx")
    assert verdict.reasons == (Reason("models_differ"),)


def test_models_get_a_verdict_if_their_outputs_were_compared() -> None:
    base, new = result(), result(model_sha256="b" * 64)
    told = {base.key: rounds(2e6), new.key: rounds(1e6)}
    asked = base.asked
    drift = Drift(asked.model_sha256, "b" * 64, asked.batch, asked.dims, 8, True, sqnr_db=31.0, max_abs=0.1)
    (found,) = compare_cells([base, new], told, NAMES, drifts=(drift,))
    assert (found.verdict.kind, found.verdict.drift, found.verdict.reasons) == ("faster", drift, ())
    barred = replace(drift, reason=Reason("models_unread"))
    (found,) = compare_cells([base, new], told, NAMES, drifts=(barred,))
    assert (found.verdict.kind, found.verdict.reasons) == (None, (Reason("models_unread"),))
    (found,) = compare_cells([base, new], told, NAMES, drifts=(replace(drift, batch=64),))
    assert found.verdict.reasons == (Reason("models_differ"),)


def test_streams_are_compared_by_time_per_item() -> None:
    base, new = pair(scenario="async")
    new = replace(new, items=2)
    (comparison,) = compare_cells([base, new], {base.key: rounds(1e6, 1000.0), new.key: rounds(9e6, 1000.0)}, NAMES)
    assert comparison.verdict.metric == "items/s"
    assert comparison.verdict.ratio == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"state": "differs"}, because("outputs_differ", engine="openvino")),
        ({"state": "unchecked"}, because("outputs_unchecked", engine="openvino")),
    ],
)
def test_different_outputs_prevent_a_verdict(changes: dict[str, str], why: Reason) -> None:
    base, new = result(engine="onnxruntime"), result(engine="openvino", **changes)  # type: ignore[arg-type]
    (comparison,) = compare_cells([base, new], {base.key: rounds(2e6), new.key: rounds(1e6)}, NAMES)
    assert (comparison.verdict.kind, comparison.verdict.reasons) == (None, (why,))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"io": "call"}, because("settings_differ", name="I/O class", base="bound", new="call")),
        ({"precision": "bf16"}, because("settings_differ", name="precision", base="f32", new="bf16")),
    ],
)
def test_unequal_work_prevents_a_verdict(changes: dict[str, str], why: Reason) -> None:
    base, new = pair()
    assert new.used is not None
    new = replace(new, used=replace(new.used, **changes))  # type: ignore[arg-type]
    (comparison,) = compare_cells([base, new], {base.key: rounds(2e6), new.key: rounds(1e6)}, NAMES)
    assert (comparison.verdict.kind, comparison.verdict.reasons) == (None, (why,))


def test_cells_without_a_common_round_are_compared_without_a_verdict() -> None:
    base, new = pair()
    later = [(n + 10, e) for n, e in rounds(1e6)]
    (found,) = compare_cells([base, new], {base.key: rounds(2e6), new.key: later}, NAMES)
    assert not found.interleaved and found.verdict.ratio == pytest.approx(0.5)
    assert (found.verdict.kind, found.verdict.reasons) == (None, (Reason("different_times"),))


def test_cells_without_numbers_are_left_out() -> None:
    base, new = pair()
    assert compare_cells([base, replace(new, latency_ms={})], {base.key: rounds(1e6)}, NAMES) == ()
