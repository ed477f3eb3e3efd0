from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.present.build import differing_cell, estimate, failed_cell, noisy_cell, ok_cell
from tuibench.core.cell import CellResult, Estimate
from tuibench.present.plots.selection import tradeoffs


def cell(number: int, latency_ms: float, rate: float, half: float = 0.001) -> CellResult:
    made = ok_cell(latency_ms, rate, {"cores": number})
    latency = {**made.latency_ms, "p50": estimate(latency_ms, half)}
    return replace(made, latency_ms=latency, items_per_sec=estimate(rate, half))


def cores(cells: list[CellResult]) -> list[int]:
    return [each.cell.asked.cores for each in tradeoffs(cells)]


def test_cell_beaten_at_both_metrics_is_left_out() -> None:
    # Cell 2 is slower than 1 and gives less; 4 is as slow as 3 and gives less.
    cells = [cell(1, 2.0, 500), cell(2, 3.0, 400), cell(3, 4.0, 800), cell(4, 4.0, 700), cell(5, 9.0, 801)]
    assert cores(cells) == [1, 3, 5]
    assert cores(cells[::-1]) == [1, 3, 5]


def test_cell_best_at_both_metrics_is_the_only_one() -> None:
    assert cores([cell(1, 2.0, 500), cell(2, 1.0, 900), cell(3, 4.0, 899)]) == [2]


def test_equal_cells_are_both_kept() -> None:
    assert cores([cell(1, 2.0, 500), cell(2, 2.0, 500), cell(3, 3.0, 500)]) == [1, 2]


def test_gain_within_the_intervals_is_not_sure() -> None:
    # 606 [594, 618] and 610 [598, 622] overlap; 569 [558, 580] lies below both.
    found = tradeoffs([cell(1, 1.8, 569, 0.02), cell(2, 13.2, 606, 0.02), cell(3, 52.0, 610, 0.02)])
    assert [(each.cell.asked.cores, each.is_sure) for each in found] == [(1, True), (2, True), (3, False)]


def test_wrong_and_disturbed_cells_are_used_only_without_others() -> None:
    wrong, noisy, right = differing_cell(cores=1), noisy_cell(cores=2), cell(3, 5.0, 100)
    assert cores([wrong, noisy, right]) == [3]
    assert cores([wrong, noisy]) == [2]


def test_cell_without_numbers_is_left_out() -> None:
    assert tradeoffs([failed_cell()]) == ()
    assert tradeoffs([]) == ()
    assert tradeoffs([replace(cell(1, 1.0, 1.0), latency_ms={"p50": Estimate(None)})]) == ()


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=12))
def test_tradeoffs_are_exactly_the_undominated_cells(values: list[tuple[int, int]]) -> None:
    cells = [cell(number, float(ms), float(rate)) for number, (ms, rate) in enumerate(values, 1)]

    def dominated(one: tuple[int, int]) -> bool:
        return any(m <= one[0] and r >= one[1] and (m, r) != one for m, r in values)

    assert sorted(cores(cells)) == [n for n, one in enumerate(values, 1) if not dominated(one)]
