"""Rounds, anchors and ends of cells, without a clock or a process."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.build import make_cell, make_execution
from tuibench.core.cell import Used
from tuibench.core.reason import Failure, error_text
from tuibench.core.spec import EFFORTS, Effort
from tuibench.runs.schedule import Schedule, Turn
from tuibench.runs.track import new_tracks

QUICK = EFFORTS["quick"]
CRASH = Failure("signal", "timed", error_text("died"), "SIGSEGV")


def make(count: int, effort: Effort = QUICK, seed: int = 0) -> Schedule:
    return Schedule(new_tracks(make_cell(cores=n + 1) for n in range(count)), effort, random.Random(seed))


def run_all(schedule: Schedule, p50_ns: float = 1e6, wall_s: float = 1.0) -> list[list[Turn]]:
    """Run every round to the end with executions of equal length."""
    rounds = []
    while turns := schedule.next_round():
        rounds.append(turns)
        for turn in turns:
            if not turn.anchor:
                schedule.record(turn, make_execution(p50_ns), wall_s)
    return rounds


@given(st.integers(1, 12), st.integers(0, 99))
def test_every_round_runs_each_live_cell_once_and_at_most_one_anchor(count: int, seed: int) -> None:
    for turns in run_all(make(count, seed=seed)):
        keys = [t.cell.key for t in turns if not t.anchor]
        assert len(keys) == len(set(keys))
        assert sum(t.anchor for t in turns) <= 1


def test_order_of_each_round_is_random() -> None:
    schedule = make(8, replace(QUICK, max_executions=6, target=None))
    orders = [[t.cell.key for t in turns if not t.anchor] for turns in run_all(schedule)]
    assert len(orders) == 6
    assert len({tuple(o) for o in orders}) > 4


def test_steady_cells_stop_at_the_minimum_with_the_target_as_reason() -> None:
    schedule = make(3)
    run_all(schedule)
    for track in schedule.tracks.values():
        assert len(track.executions) == QUICK.min_executions
        assert track.stopped_by is not None and track.stopped_by.code == "target"


def test_cheapest_cell_is_the_anchor_of_a_sweep_from_round_two() -> None:
    schedule = make(3)
    cheap = next(iter(schedule.tracks))
    anchors = []
    while turns := schedule.next_round():
        anchors.append([t.cell.key for t in turns if t.anchor])
        for turn in (t for t in turns if not t.anchor):
            schedule.record(turn, make_execution(), 0.5 if turn.cell.key == cheap else 2.0)
    assert anchors[0] == []
    assert all(a == [cheap] for a in anchors[1:])


def test_one_or_two_cells_need_no_anchor() -> None:
    assert not any(t.anchor for turns in run_all(make(2)) for t in turns)


def test_crash_while_timing_is_retried_once_then_ends_the_cell() -> None:
    schedule = make(1)
    (turn,) = schedule.next_round()
    assert schedule.record_failure(turn, CRASH, 1.0)
    assert schedule.live
    (turn,) = schedule.next_round()
    assert not schedule.record_failure(turn, CRASH, 1.0)
    assert not schedule.live


def test_failure_before_timing_ends_the_cell_at_once() -> None:
    schedule = make(2)
    turns = schedule.next_round()
    assert not schedule.record_failure(turns[0], replace(CRASH, phase="load"), 1.0)
    assert [p.cell.key for p in schedule.live] == [turns[1].cell.key]


def test_call_longer_than_a_second_gets_three_executions() -> None:
    schedule = make(1, EFFORTS["default"])
    assert len(run_all(schedule, p50_ns=2e9, wall_s=3.0)) == 3


def test_group_uses_the_worst_io_class_and_better_cells_restart() -> None:
    schedule = make(2)
    keys = list(schedule.tracks)
    for turn in schedule.next_round():
        io = "bound" if turn.cell.key == keys[0] else "call"
        execution = make_execution()
        used = Used(**{**{f: getattr(execution.used, f) for f in Used.__slots__}, "io": io})
        schedule.record(turn, replace(execution, used=used), 1.0)
    schedule.force_io(keys, "call")
    assert {p.io for p in schedule.tracks.values()} == {"call"}
    assert len(schedule.tracks[keys[0]].executions) == 1, "nothing goes before the new class has held"
    assert [schedule.start_anew(key, "call") for key in keys] == [True, False]
    assert schedule.tracks[keys[0]].executions == []
    assert schedule.tracks[keys[0]].spent_s == 0
    assert len(schedule.tracks[keys[1]].executions) == 1


def test_executions_of_a_cell_have_distinct_numbers() -> None:
    schedule = make(3)
    numbers: list[tuple[str, int]] = []
    for _ in range(3):
        turns = schedule.next_round()
        numbers += [(t.cell.key, t.n) for t in turns if not t.anchor]
        for turn in turns:
            if not turn.anchor:
                schedule.record(turn, make_execution(), 1.0)
        for track in schedule.tracks.values():
            track.done.clear()
            track.stopped_by = None
    assert len(numbers) == len(set(numbers)) == 9


def test_failed_anchor_is_replaced() -> None:
    schedule = make(3)
    for turn in schedule.next_round():
        schedule.record(turn, make_execution(), 1.0)
    anchor = next(t for t in schedule.next_round() if t.anchor)
    schedule.tracks[anchor.cell.key].failure = CRASH
    other = next(t for t in schedule.next_round() if t.anchor)
    assert other.cell.key != anchor.cell.key


def test_estimate_of_the_remaining_time_falls_to_zero() -> None:
    schedule = make(4)
    before = schedule.eta_s(1.3)
    run_all(schedule)
    assert before > 0
    assert schedule.eta_s(1.3) == 0


def spread(schedule: Schedule, key: str, count: int, wall_s: float, low: float = 1e6, high: float = 2e6) -> None:
    """Return executions of a cell that vary too much to reach any target."""
    for n in range(count):
        turn = Turn(schedule.tracks[key].cell, n + 1, n + 1, False)
        schedule.record(turn, make_execution(low if n % 2 else high), wall_s)


def test_extension_reaches_active_cells_and_timed_out_ones() -> None:
    # The target is out of reach, but not far enough to abandon a cell.
    schedule = make(5, replace(QUICK, target=0.2))
    most, limit, live, target, failed = schedule.tracks.values()
    spread(schedule, most.cell.key, 6, 0.1)
    spread(schedule, limit.cell.key, 3, 4.0)
    spread(schedule, live.cell.key, 2, 1.0)
    spread(schedule, target.cell.key, 3, 1.0, high=1e6)
    schedule.record_failure(Turn(failed.cell, 1, 1, False), replace(CRASH, phase="load"), 1.0)
    assert [p.live for p in schedule.tracks.values()] == [False, False, True, False, False]
    assert [one.stopped_by and one.stopped_by.code for one in (most, limit)] == ["maximum", "limit"]
    executions, cells = schedule.extend(5.0)
    assert executions == 3, "half of 6, as 5 s are of 10 s"
    assert cells == {
        most.cell.key: {"limit_s": 15.0, "executions": 9},
        limit.cell.key: {"limit_s": 17.0, "executions": 9},
        live.cell.key: {"limit_s": 15.0, "executions": 9},
    }
    assert [p.live for p in schedule.tracks.values()] == [True, True, True, False, False]
    spread(schedule, most.cell.key, 2, 0.1)
    assert most.live
    spread(schedule, most.cell.key, 1, 0.1)
    assert (most.live, len(most.executions)) == (False, 9)


def test_extensions_add_up_and_the_estimate_grows() -> None:
    schedule = make(1, replace(QUICK, target=0.01))
    (cell,) = schedule.tracks.values()
    spread(schedule, cell.cell.key, 3, 1.0)
    assert not cell.live, "given up"
    before = schedule.eta_s(1.0)
    schedule.extend(10.0)
    once = schedule.eta_s(1.0)
    schedule.extend(10.0)
    assert (before, once, schedule.eta_s(1.0)) == (0.0, 9.0, 15.0), "12 executions of 1 s, and then 18"
    assert (cell.limit_s, cell.most) == (30.0, 18)


def test_extended_cell_is_not_abandoned_before_the_extension_ends() -> None:
    schedule = make(1, replace(QUICK, target=0.0001))
    (cell,) = schedule.tracks.values()
    spread(schedule, cell.cell.key, 3, 1.0)
    assert cell.stopped_by is not None and cell.stopped_by.code == "hopeless"
    schedule.extend(10.0)
    spread(schedule, cell.cell.key, 8, 1.0)
    assert cell.live
    spread(schedule, cell.cell.key, 1, 1.0)
    assert cell.stopped_by.code == "maximum"


def test_extension_is_at_least_one_more_execution_of_any_length() -> None:
    schedule = make(1, replace(QUICK, target=0.2))
    (cell,) = schedule.tracks.values()
    spread(schedule, cell.cell.key, 3, 60.0)
    _, cells = schedule.extend(0.5)
    assert cells == {cell.cell.key: {"limit_s": 180.5, "executions": 7}}
    (turn,) = schedule.next_round()
    schedule.record(turn, make_execution(1e6), 60.0)
    assert not cell.live


def test_slow_calls_get_three_more_executions() -> None:
    schedule = make(1, EFFORTS["default"])
    (cell,) = schedule.tracks.values()
    run_all(schedule, p50_ns=2e9, wall_s=3.0)
    executions, cells = schedule.extend(30.0)
    assert (executions, cells[cell.cell.key]["executions"]) == (15, 6)
    assert schedule.eta_s(1.0) == 9.0
    run_all(schedule, p50_ns=2e9, wall_s=3.0)
    assert len(cell.executions) == 6
