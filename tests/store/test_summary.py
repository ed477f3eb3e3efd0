"""Summary of a result in its row."""

from __future__ import annotations

from dataclasses import replace

from tests.store.data import make_small
from tuibench.core.cell import CellResult, Grade
from tuibench.store.benchmark_file import summarize


def graded(cell: CellResult, letter: str) -> CellResult:
    return replace(cell, grade=replace(cell.grade, letter=letter) if cell.grade is not None else None)


def test_summary_grade_is_that_of_the_headline() -> None:
    result = make_small(1)
    (cell,) = result.cells
    assert isinstance(cell.grade, Grade)
    cells = (graded(cell, "B"), graded(cell, "D"))
    both = replace(result, cells=cells)
    assert summarize(both)["grade"] == "B"
    assert summarize(both)["facts"]["numbers"][0]["value"] == 1.9234
