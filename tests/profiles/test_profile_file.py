from __future__ import annotations

import json

import pytest

from tests.profiles.trace import Made, lines
from tuibench.core.errors import EngineError
from tuibench.profiles.profile_file import TimedRuns, read_timed


def file_of(*times_us: int) -> list[str]:
    """Runs of one kernel each, the first of which begins at 10."""
    return lines([[Made("a", us)] for us in times_us])


def kept(told: TimedRuns) -> list[float]:
    return [run["a",].us for run in told.runs]


def began(text: list[str], place: int) -> float:
    """When a run began, by its own event."""
    events = [json.loads(line.rstrip(",\n")) for line in text if "model_run" in line]
    return float(events[place]["ts"])


def test_warm_up_and_the_first_run_after_it_are_no_timed_runs() -> None:
    text = file_of(1, 2, 3, 4, 5, 6)
    told = read_timed(text, 3, began(text, 2) - 1)
    assert kept(told) == [4, 5, 6] and told.notes == ()


def test_where_it_is_not_known_when_they_began_the_last_ones_are_meant() -> None:
    assert kept(read_timed(file_of(1, 2, 3, 4, 5, 6), 3, None)) == [4, 5, 6]


def test_a_file_that_is_full_gives_fewer_runs_and_says_so() -> None:
    text = file_of(1, 2, 3, 4, 5, 6)
    since = began(text, 2) - 1
    cut = text[: 1 + 1 + 3 * 5]  # the bracket, the event of loading, five runs of three events
    told = read_timed(cut, 3, since, full=16)
    assert kept(told) == [4, 5], "never those of the warm-up in the place of the lost one"
    (note,) = told.notes
    assert note == "2 of 3 profiled runs: the others are not in the profiler's file, which stops at 16 events"


def test_a_run_that_was_cut_in_the_middle_is_none() -> None:
    text = file_of(1, 2, 3, 4, 5, 6)
    told = read_timed(text[:-2], 3, began(text, 2) - 1, full=19)
    assert kept(told) == [4, 5] and told.notes


@pytest.mark.parametrize("since", ["known", "unknown"])
def test_a_file_without_any_timed_run_is_an_error_and_no_profile(since: str) -> None:
    text = file_of(1, 2, 3, 4, 5, 6)
    at = began(text, 2) - 1 if since == "known" else None
    with pytest.raises(EngineError, match="10 events and no more") as caught:
        read_timed(text[: 1 + 1 + 3 * 3], 3, at, full=10)
    assert caught.value.hint


def test_a_file_of_nothing_is_an_error() -> None:
    with pytest.raises(EngineError, match="told of none"):
        read_timed([], 3, None)


def test_a_model_of_constants_alone_has_runs_without_kernels() -> None:
    text = lines([[], [], [], []])
    assert read_timed(text, 2, began(text, 1) - 1).runs == [{}, {}]
