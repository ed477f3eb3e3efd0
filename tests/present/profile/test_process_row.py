from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.present.profile.profile_data import row, run
from tuibench.core.profile import FOLDED, LAYER, RUNTIME, KernelRow, LayerRun
from tuibench.runs.profile.result import ProcessRow, unite_rows

FOLD = replace(row("beforehand", 0.0, "k", kind=FOLDED), raw_us=0.0)


def united(*processes: tuple[KernelRow, ...]) -> dict[str, ProcessRow]:
    return {one.row.key: one for one in unite_rows([replace(run(), rows=rows) for rows in processes])}


def us(one: ProcessRow) -> list[float]:
    return [found.us for found in one.found]


def test_equal_processes_stay_unchanged() -> None:
    rows = (row("a", 5, "a"), row("b", 7, "b"), row("r", 1, kind=RUNTIME), FOLD)
    found = united(rows, rows)
    assert [one.row for one in found.values()] == list(rows)
    assert us(found["a"]) == [5, 5] and us(found["beforehand"]) == [0, 0]


def test_row_of_a_later_process_is_placed_among_its_kind() -> None:
    found = united((row("a", 5, "a"), row("r", 1, kind=RUNTIME), FOLD), (row("a", 5, "a"), row("b", 7, "b")))
    assert list(found) == ["a", "b", "r", "beforehand"]
    assert us(found["b"]) == [0, 7] and us(found["r"]) == [1, 0]


def test_time_of_nodes_fused_otherwise_stays_in_the_first_row() -> None:
    found = united((row("a", 9, "a", "b"),), (row("a", 5, "a", calls=1.0), row("b", 3, "b", calls=2.0)))
    assert list(found) == ["a"] and us(found["a"]) == [9, 8] and found["a"].found[1].calls == 3.0
    apart = united((row("a", 5, "a"), row("b", 3, "b")), (row("x", 9, "b", "a", "c"),))
    assert us(apart["b"]) == [3, 9] and us(apart["a"]) == [5, 0] and apart["b"].row.nodes == ("b", "c")


def test_node_run_in_one_process_is_not_folded() -> None:
    found = united((row("a", 5, "a"), replace(FOLD, nodes=("k", "l"))), (row("a", 5, "a"), row("k", 4, "k")))
    assert us(found["k"]) == [0, 4] and found["beforehand"].row.nodes == ("l",)


NODES = "abcdef"
KINDS = st.sampled_from([LAYER, FOLDED])
PROCESSES = st.lists(st.lists(st.tuples(st.integers(0, 3), KINDS), min_size=6, max_size=6), min_size=1, max_size=4)


@given(PROCESSES)
def test_each_node_is_in_one_row_and_no_time_is_lost(processes: list[list[tuple[int, str]]]) -> None:
    runs: list[LayerRun] = []
    for places in processes:
        groups: dict[tuple[int, str], list[str]] = {}
        for node, place in zip(NODES, places, strict=True):
            groups.setdefault(place, []).append(node)
        rows = [
            row(nodes[0] if kind == LAYER else "fold", 0.0 if kind == FOLDED else 1.0 + at, *nodes, kind=kind)
            for (at, kind), nodes in groups.items()
        ]
        runs.append(replace(run(), rows=tuple(rows)))
    found = unite_rows(runs)
    assert sorted(node for one in found for node in one.row.nodes) == sorted(NODES)
    assert len({one.row.key for one in found}) == len(found)
    for number, told in enumerate(runs):
        assert sum(one.found[number].us for one in found) == sum(row.us for row in told.rows)
