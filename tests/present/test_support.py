"""The share of operators that an engine itself runs, beside the result in every door."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import Any

import pytest

from tests.present import build
from tuibench.core.cell import CellResult, Check, Grade, Used, choose, p50_latency
from tuibench.core.headline import Headline, to_facts
from tuibench.core.reason import because
from tuibench.core.record import from_plain, to_plain
from tuibench.core.result_headline import headline_of
from tuibench.present import csv_export, headline, json_export, markdown_export
from tuibench.present.cells import cell_lines, support_text
from tuibench.present.plots.selection import tradeoffs
from tuibench.present.reason import reason_words
from tuibench.present.summary import summary
from tuibench.runs.comparison import bars_between

ELSEWHERE = "runs in its bundled ONNX Runtime 1.15, not in DeepSparse"


def cell(p50: float, supported: float | None, **changes: Any) -> CellResult:
    """Return a cell of DeepSparse, or of ONNX Runtime if there is no share."""
    engine = "onnxruntime" if supported is None else "deepsparse"
    found = build.ok_cell(p50, asks={"engine": engine}, **changes)
    assert found.used is not None
    return replace(found, used=replace(found.used, supported=supported))


def test_share_of_zero_survives_json_and_none_is_not_written() -> None:
    assert from_plain(Used, to_plain(replace(build.used(), supported=0.0))).supported == 0.0
    assert "supported" not in to_plain(build.used())


@pytest.mark.parametrize("grade", ["A", "D"])
def test_cell_of_the_engine_inside_never_wins(grade: str) -> None:
    own = cell(2.0, None, grade=Grade(grade, None, 0.0, 0.0, False))
    quick = cell(1.0, 0.0, grade=Grade("A", None, 0.0, 0.0, False))
    found = choose([quick, own], p50_latency, most=False)
    assert found is not None and found.cell is own
    alone = choose([quick], p50_latency, most=False)
    assert alone is not None and alone.cell is quick


@pytest.mark.parametrize("wrong", ["elsewhere", "differs"])
def test_disturbed_cell_is_a_choice_before_a_wrong_one(wrong: str) -> None:
    own = cell(2.0, None, grade=Grade("D", None, 0.0, 0.0, False))
    quick = cell(1.0, 0.0) if wrong == "elsewhere" else cell(1.0, None, check=Check("differs", 0.2, 1e-3))
    found = choose([quick, own], p50_latency, most=False)
    assert found is not None and found.cell is own
    assert [one.cell for one in tradeoffs([quick, own])] == [own]


def test_best_of_line_names_an_engine_that_is_left_out() -> None:
    def said(*cells: CellResult) -> list[str]:
        return [one.sentence for one in headline.conclude(cells, {})]

    own, inside = cell(2.0, None), cell(1.0, 0.0)
    least, *_ = said(own, inside)
    assert least.startswith("Least latency: 2.00 ms") and least.endswith(f"; deepsparse left out: {ELSEWHERE}.")
    for others in ((own, cell(3.0, 0.0)), (own, cell(1.0, 0.5))):
        assert "left out" not in said(*others)[0]


def test_partly_supported_cell_may_win() -> None:
    quick = cell(1.0, 0.6)
    found = choose([quick, cell(2.0, None)], p50_latency, most=False)
    assert found is not None and found.cell is quick


def test_comparison_with_the_engine_inside_has_no_verdict() -> None:
    (bar,) = bars_between(cell(2.0, None), cell(1.0, 0.0), "engine")
    assert bar == because("ran_in_engine_inside", engine="deepsparse") and ELSEWHERE in reason_words(bar)
    assert bars_between(cell(2.0, None), cell(1.0, 0.4), "engine") == ()


def test_every_door_shows_the_share() -> None:
    run = build.run(cell(1.0, 0.0))
    assert support_text(run.cells[0]) == ELSEWHERE
    assert f"Supported: {ELSEWHERE}" in cell_lines(run, run.cells[0])
    assert ELSEWHERE in headline.result_headline(run)
    assert '"supported": 0.0' in json_export.dumps(run)
    assert json_export.document(run)["fraction_of_supported_ops"] == 0.0
    (row,) = csv.DictReader(io.StringIO(csv_export.dumps(run)))
    assert float(row["supported"]) == 0
    part = build.run(cell(1.0, 0.93), cell(2.0, None))
    assert json_export.document(part)["fraction_of_supported_ops"] == 0.93
    assert "Supported: deepsparse runs 93 % of the model's operators (1 cell)" in summary(part)
    assert "runs 93 % of the model's operators" in markdown_export.dumps(part)


def test_headline_keeps_the_engine_in_a_row() -> None:
    found = headline_of(build.run(cell(1.0, 0.0)))
    assert found.elsewhere == "deepsparse"
    assert from_plain(Headline, to_facts(found)).elsewhere == "deepsparse"
