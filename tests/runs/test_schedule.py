"""Rounds, anchors and ends of cells, without a clock or a process."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.build import make_cell, make_execution
from tuibench.core.cell import Failure, Used
from tuibench.core.spec import EFFORTS, Effort
from tuibench.runs.schedule import Schedule, Turn

QUICK = EFFORTS["quick"]
CRASH = Failure("signal", "timed", "died", "SIGSEGV")


def make(count: int, effort: Effort = QUICK, seed: int = 0) -> Schedule:
    return Schedule([make_cell(cores=n + 1) for n in range(count)], effort, random.Random(seed))


def run_all(schedule: Schedule, p50_ns: float = 1e6, wall_s: float = 1.0) -> list[list[Turn]]:
    """Every round to the end, every execution as long as the other."""
    rounds = []
    while turns := schedule.next_round():
        rounds.append(turns)
        for turn in turns:
            if not turn.anchor:
                schedule.record(turn, make_execution(p50_ns), wall_s)
    return rounds


@given(st.integers(1, 12), st.integers(0, 99))
def test_every_round_runs_every_live_cell_once_and_at_most_one_anchor(count: int, seed: int) -> None:
    for turns in run_all(make(count, seed=seed)):
        keys = [t.cell.key for t in turns if not t.anchor]
        assert len(keys) == len(set(keys))
        assert sum(t.anchor for t in turns) <= 1


def test_the_order_of_a_round_is_drawn_anew() -> None:
    schedule = make(8, replace(QUICK, max_executions=6, target=None))
    orders = [[t.cell.key for t in turns if not t.anchor] for turns in run_all(schedule)]
    assert len(orders) == 6
    assert len({tuple(o) for o in orders}) > 4


def test_steady_cells_stop_at_the_least_number_with_the_target_as_reason() -> None:
    schedule = make(3)
    run_all(schedule)
    for progress in schedule.progress.values():
        assert len(progress.executions) == QUICK.min_executions
        assert "target" in progress.stopped_by


def test_a_sweep_has_the_cheapest_cell_as_anchor_from_the_second_round_on() -> None:
    schedule = make(3)
    cheap = next(iter(schedule.progress))
    anchors = []
    while turns := schedule.next_round():
        anchors.append([t.cell.key for t in turns if t.anchor])
        for turn in (t for t in turns if not t.anchor):
            schedule.record(turn, make_execution(), 0.5 if turn.cell.key == cheap else 2.0)
    assert anchors[0] == []
    assert all(a == [cheap] for a in anchors[1:])


def test_one_or_two_cells_need_no_anchor() -> None:
    assert not any(t.anchor for turns in run_all(make(2)) for t in turns)


def test_a_crash_while_timing_is_tried_once_more_and_then_ends_the_cell() -> None:
    schedule = make(1)
    (turn,) = schedule.next_round()
    assert schedule.record_failure(turn, CRASH, 1.0)
    assert schedule.live
    (turn,) = schedule.next_round()
    assert not schedule.record_failure(turn, CRASH, 1.0)
    assert not schedule.live


def test_a_failure_before_timing_ends_the_cell_at_once() -> None:
    schedule = make(2)
    turns = schedule.next_round()
    assert not schedule.record_failure(turns[0], replace(CRASH, phase="load"), 1.0)
    assert [p.cell.key for p in schedule.live] == [turns[1].cell.key]


def test_a_call_longer_than_a_second_gets_three_executions() -> None:
    schedule = make(1, EFFORTS["default"])
    assert len(run_all(schedule, p50_ns=2e9, wall_s=3.0)) == 3


def test_a_group_is_held_to_the_worst_io_class_and_better_cells_start_anew() -> None:
    schedule = make(2)
    keys = list(schedule.progress)
    for turn in schedule.next_round():
        io = "bound" if turn.cell.key == keys[0] else "call"
        execution = make_execution()
        used = Used(**{**{f: getattr(execution.used, f) for f in Used.__slots__}, "io": io})
        schedule.record(turn, replace(execution, used=used), 1.0)
    schedule.force_io(keys, "call")
    assert {p.io for p in schedule.progress.values()} == {"call"}
    assert len(schedule.progress[keys[0]].executions) == 1, "nothing goes before the new class has held"
    assert [schedule.start_anew(key, "call") for key in keys] == [True, False]
    assert schedule.progress[keys[0]].executions == []
    assert schedule.progress[keys[0]].spent_s == 0
    assert len(schedule.progress[keys[1]].executions) == 1


def test_no_two_executions_of_a_cell_share_their_number() -> None:
    schedule = make(3)
    numbers: list[tuple[str, int]] = []
    for _ in range(3):
        turns = schedule.next_round()
        numbers += [(t.cell.key, t.n) for t in turns if not t.anchor]
        for turn in turns:
            if not turn.anchor:
                schedule.record(turn, make_execution(), 1.0)
        for progress in schedule.progress.values():
            progress.executions.clear()
            progress.stopped_by = ""
    assert len(numbers) == len(set(numbers)) == 9


def test_an_anchor_that_failed_is_replaced() -> None:
    schedule = make(3)
    for turn in schedule.next_round():
        schedule.record(turn, make_execution(), 1.0)
    anchor = next(t for t in schedule.next_round() if t.anchor)
    schedule.progress[anchor.cell.key].failure = CRASH
    other = next(t for t in schedule.next_round() if t.anchor)
    assert other.cell.key != anchor.cell.key


def test_the_estimate_of_the_rest_falls_to_nothing() -> None:
    schedule = make(4)
    before = schedule.eta_s(1.3)
    run_all(schedule)
    assert before > 0
    assert schedule.eta_s(1.3) == 0
