from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.runs.execution_data import execution, result
from tuibench.core.cell import CellResult, Execution
from tuibench.core.model import ModelSummary
from tuibench.present.headline import comparison_sentence
from tuibench.runs.comparison import compare_cells, explain_missing

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
    assert comparison.ratio == pytest.approx(0.5)
    assert comparison.low == pytest.approx(0.5)
    assert (comparison.base, comparison.new, comparison.n) == (base.key, new.key, 5)
    assert comparison.verdict == "faster"
    assert comparison_sentence(comparison).startswith("openvino is faster than onnxruntime: ")


def test_cells_that_differ_in_two_axes_are_not_compared() -> None:
    one, other = result(engine="onnxruntime", cores=1), result(engine="openvino", cores=2)
    assert compare_cells([one, other], {one.key: rounds(1e6), other.key: rounds(1e6)}, NAMES) == ()


def test_sweep_comparison_names_the_settings_shared_by_both() -> None:
    cells = [*pair(cores=1), *pair(cores=2)]
    found = compare_cells(cells, {c.key: rounds(i + 1.0) for i, c in enumerate(cells)}, NAMES)
    assert [(c.base, c.new) for c in found] == [(cells[0].key, cells[1].key), (cells[2].key, cells[3].key)]
    assert "openvino is slower than onnxruntime (sync, 1 core, batch 1)" in comparison_sentence(found[0])
    assert "openvino is slower than onnxruntime (sync, 2 cores, batch 1)" in comparison_sentence(found[1])


def test_models_are_compared_with_the_first_without_a_verdict() -> None:
    base, new = result(), result(model_sha256="b" * 64)
    (comparison,) = compare_cells([base, new], {base.key: rounds(2e6), new.key: rounds(1e6)}, NAMES)
    assert comparison.verdict is None
    assert comparison_sentence(comparison).startswith("int8.onnx / fp32.onnx in p50 latency: 0.500 (")
    assert "outputs were not held against each other" in (comparison.why_no_verdict or "")


def test_streams_are_compared_by_time_per_item() -> None:
    base, new = pair(scenario="async")
    new = replace(new, items=2)
    (comparison,) = compare_cells([base, new], {base.key: rounds(1e6, 1000.0), new.key: rounds(9e6, 1000.0)}, NAMES)
    assert comparison.metric == "items/s"
    assert comparison.ratio == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"state": "differs"}, "outputs of openvino differ from the reference"),
        ({"state": "unchecked"}, "outputs of openvino were not checked"),
    ],
)
def test_different_outputs_prevent_a_verdict(changes: dict[str, str], why: str) -> None:
    base, new = result(engine="onnxruntime"), result(engine="openvino", **changes)  # type: ignore[arg-type]
    (comparison,) = compare_cells([base, new], {base.key: rounds(2e6), new.key: rounds(1e6)}, NAMES)
    assert (comparison.verdict, comparison.why_no_verdict) == (None, why)


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"io": "call"}, "I/O class: bound against call"), ({"precision": "bf16"}, "precision: f32 against bf16")],
)
def test_unequal_work_prevents_a_verdict(changes: dict[str, str], why: str) -> None:
    base, new = pair()
    assert new.used is not None
    new = replace(new, used=replace(new.used, **changes))  # type: ignore[arg-type]
    (comparison,) = compare_cells([base, new], {base.key: rounds(2e6), new.key: rounds(1e6)}, NAMES)
    assert (comparison.verdict, comparison.why_no_verdict) == (None, why)


def test_cells_without_a_common_round_or_numbers_are_left_out() -> None:
    base, new = pair()
    later = [(n + 10, e) for n, e in rounds(1e6)]
    assert compare_cells([base, new], {base.key: rounds(1e6), new.key: later}, NAMES) == ()
    assert compare_cells([base, replace(new, latency_ms={})], {base.key: rounds(1e6)}, NAMES) == ()


def model(letter: str) -> ModelSummary:
    return ModelSummary(f"/{letter}.onnx", letter * 64, 1, 0, (), ())


def said(*cells: CellResult, letters: str = "ab") -> tuple[str, ...]:
    """Return the sentences about models named by letters, with every cell measured in the same rounds."""
    found = compare_cells(cells, {c.key: rounds(1e6) for c in cells}, NAMES)
    return explain_missing([model(letter) for letter in letters], [f"m{n}" for n in range(len(letters))], cells, found)


def test_models_that_are_not_compared_have_a_reason() -> None:
    base, other = result(), result(model_sha256="b" * 64, dims={"seq": 64})
    assert said(base, other) == ("m1 is not compared with m0: their dims differ (seq=64 against none).",)
    small, large = result(batch=1), result(model_sha256="b" * 64, batch=8)
    assert said(small, large) == ("m1 is not compared with m0: their batch sizes differ (8 against 1).",)
    apart = (
        result(batch=1),
        result(batch=8, dims={"n": 1}),
        *(result(model_sha256="b" * 64, batch=b, dims=d) for b, d in ((1, {"n": 1}), (8, {}))),
    )
    assert said(*apart) == ("m1 is not compared with m0: no round measured both with the same settings.",)


def test_compared_or_unmeasured_models_need_no_reason() -> None:
    base, other = result(), result(model_sha256="b" * 64)
    assert said(base, other) == ()
    assert said(base, replace(other, latency_ms={})) == ()


def test_one_content_under_two_paths_is_reported() -> None:
    assert said(result(), letters="aa") == ("m1 has the same content as m0: measured once.",)
