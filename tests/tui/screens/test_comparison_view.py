from __future__ import annotations

from dataclasses import replace

from tests.runs.execution_data import asked
from tuibench.core.cell import Estimate
from tuibench.core.label import CellName
from tuibench.core.reason import Verdict
from tuibench.tui.screens.comparison.pair import Pair, PairSide
from tuibench.tui.screens.comparison.view import lines_of

BASE, NEW, THIRD = (
    PairSide(name, name, Estimate(value, None, None, 5), "A", "ok")
    for name, value in (("a.onnx", 2.0), ("b.onnx", 1.0), ("c.onnx", 3.0))
)
NAME = CellName(asked(cores=2, batch=1), (), "", None)
PAIR = Pair(NAME, "ms", BASE, NEW, Estimate(0.5), Verdict("faster", 0.5, 0.49, 0.51, 5, "a.onnx", "b.onnx"), "")


def test_operands_shared_by_all_pairs_become_headers() -> None:
    columns, lines = lines_of([PAIR, replace(PAIR, cell=replace(NAME, asked=asked(cores=4, batch=1)))], str)
    assert [column.title for column in columns[1:3]] == ["a.onnx", "b.onnx"]
    assert [line.cells[0].split() for line in lines] == [["sync", "2c", "b1"], ["sync", "4c", "b1"]]


def test_three_models_each_pair_names_both_operands() -> None:
    columns, lines = lines_of([PAIR, replace(PAIR, new=THIRD)], str)
    assert [column.title for column in columns[1:3]] == ["a.onnx", "NEW"]
    assert [line.cells[0].split()[:3] for line in lines] == [["b.onnx", "/", "a.onnx"], ["c.onnx", "/", "a.onnx"]]
    assert [line.cells[2] for line in lines] == ["1.00 ms", "3.00 ms"]


def test_no_pairs_have_no_headers() -> None:
    columns, lines = lines_of([], str)
    assert [column.title for column in columns[1:3]] == ["BASE", "NEW"] and lines == []
