from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.runs.execution_data import asked
from tests.runs.test_side_by_side import cell, side
from tests.tui.sample_data import failed_sweep, rich_pair, sweep
from tuibench.core.cell import CellResult, Estimate
from tuibench.core.label import CellName
from tuibench.core.reason import Verdict
from tuibench.runs.comparison import compare_results
from tuibench.tui.screens.comparison.pair import (
    Pair,
    PairSide,
    operand_amount,
    pairs_of_run,
    pairs_of_sides,
    ratio_words,
    side_line,
    verdict_words,
)

PAIR = Pair(
    CellName(asked(cores=8), (), "", None), "ms", PairSide("ort", "k1", Estimate(2.0, 1.98, 2.02, 5), "A", "ok"),
    PairSide("ov", "k2", Estimate(1.0, 0.99, 1.01, 5), "B", "ok"), Estimate(0.5, 0.49, 0.52, 5),
    Verdict("faster", 0.5, 0.49, 0.52, 5, "ort", "ov"), "",
)  # fmt: skip


def test_swapped_base_inverts_ratio_interval_and_verdict() -> None:
    turned = PAIR.turned()
    assert (turned.base.name, turned.new.name, turned.verdict) == ("ov", "ort", "slower")
    assert turned.ratio.value == 2.0
    assert turned.ratio.low == pytest.approx(1 / 0.52) and turned.ratio.high == pytest.approx(1 / 0.49)
    assert (PAIR.sentence, turned.sentence) == (
        "ov is 2.00× as fast as ort [1.92, 2.04]",
        "ort is 2.00× as slow as ov [1.92, 2.04]",
    )
    assert turned.turned().ratio.value == 0.5 and turned.key == PAIR.key


def test_separate_benchmarks_have_ratio_without_verdict() -> None:
    pairs = pairs_of_sides(compare_results(sweep(1, 7200.0), sweep(2, 3600.0, faster=1.25)))
    assert len(pairs) == 15
    assert all(pair.ratio.value == pytest.approx(0.8) and "no" in verdict_words(pair) for pair in pairs)
    assert not any(pair.verdict for pair in pairs)
    turned = pairs[0].turned()
    assert turned.ratio.value == pytest.approx(1.25) and not turned.verdict
    assert turned.sentence.rpartition(": ")[2] == pairs[0].sentence.rpartition(": ")[2]


@pytest.mark.parametrize(
    ("old", "new", "name", "turned"),
    [
        (cell(), cell(cores=1), "sync, 2→1 core, batch 1", "sync, 1→2 cores, batch 1"),
        (cell(), cell(cores=16), "sync, 2→16 cores, batch 1", "sync, 16→2 cores, batch 1"),
        (cell(scenario="async", streams=4), cell(scenario="async", streams=2), "async, 2 cores, batch 1, 4→2 streams",
         "async, 2 cores, batch 1, 2→4 streams"),
        (cell(), cell(engine="openvino"), "sync, 2 cores, batch 1", "sync, 2 cores, batch 1"),
    ],
)  # fmt: skip
def test_swapped_base_reverses_pair_name(old: CellResult, new: CellResult, name: str, turned: str) -> None:
    (pair,) = pairs_of_sides(side([old], [new]))
    assert (pair.name, pair.turned().name, pair.turned().turned().name) == (name, turned, name)


def test_pair_name_keeps_arrow_in_model_name() -> None:
    name = CellName(asked(cores=2), ("model",), "2→4 cores.onnx", None, asked(cores=1))
    pair = replace(PAIR, cell=name)
    assert pair.turned().name.startswith("2→4 cores.onnx, ") and "2→1" in pair.turned().name


def test_interleaved_engines_have_verdict() -> None:
    (pair,) = pairs_of_run(rich_pair())
    assert (pair.base.name, pair.new.name, pair.verdict) == ("onnxruntime", "openvino", "faster")
    assert ratio_words(pair.ratio) == "0.850 [0.840, 0.860]" and "15 %" in pair.sentence
    assert (pair.cell.asked.cores, pair.cell.asked.batch) == (8, 1)


def test_operand_without_number_shows_reason() -> None:
    pairs = pairs_of_sides(compare_results(sweep(1, 7200.0), failed_sweep(2, 3600.0)))
    pair = next(pair for pair in pairs if pair.new.status == "failed")
    assert operand_amount(pair.new, pair.unit) == "failed" and ratio_words(pair.ratio) == "-"
    assert "SIGSEGV" in pair.sentence and "SIGSEGV" in pair.turned().sentence


def test_operand_shows_all_numbers() -> None:
    result = sweep()
    cell = next(cell for cell in result.cells if (cell.asked.cores, cell.asked.batch) == (16, 8))
    side = PairSide("mz0n", cell.key, cell.latency_ms["p50"], "A", "ok")
    # 16.2 ms × 8 × (0.93 + 0.07 / 8) × (0.056 + 0.944 / 16)
    line = side_line(side, {cell.key: cell})
    assert (
        re.findall(r"[\d.]+", line.removeprefix("mz0n")) == ["14.0", "1.5", "1.75", "572", "1.9"] and line[-2:] == " A"
    )
    assert side_line(side, {}).split() == ["mz0n", "ok"]
