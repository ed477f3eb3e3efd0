"""Summary of a result in its row."""

from __future__ import annotations

from dataclasses import replace

from tests.store.data import make_small
from tuibench.core.cell import CellResult, Grade
from tuibench.store.summary import summarize


def graded(cell: CellResult, letter: str) -> CellResult:
    return replace(cell, grade=replace(cell.grade, letter=letter) if cell.grade is not None else None)


def test_summary_grade_is_that_of_the_headline() -> None:
    result = make_small(1)
    (cell,) = result.cells
    assert isinstance(cell.grade, Grade)
    cells = (graded(cell, "B"), graded(cell, "D"))
    both = replace(result, cells=cells, headline="9.84 ms ±2.0 % (sync, 1 core, batch 1) · grade B")
    assert summarize(both)["grade"] == "B"
    # A headline without a number has no grade.
    assert summarize(replace(both, headline="out of memory"))["grade"] == "D"
