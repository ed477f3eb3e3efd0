from __future__ import annotations

import json

import pytest

from tests.model.profile.trace import Made, lines
from tests.refusal import refused
from tuibench.core.errors import EngineError
from tuibench.core.reason import because
from tuibench.model.profile.session import TimedRuns, read_timed


def file_of(*times_us: int) -> list[str]:
    """Return the profile of runs of one kernel each, the first starting at 10."""
    return lines([[Made("a", us)] for us in times_us])


def kept(told: TimedRuns) -> list[float]:
    return [run["a",].us for run in told.runs]


def began(text: list[str], place: int) -> float:
    """Return the start of a run from its own event."""
    events = [json.loads(line.rstrip(",\n")) for line in text if "model_run" in line]
    return float(events[place]["ts"])


def test_warm_up_and_the_first_later_run_are_not_timed() -> None:
    text = file_of(1, 2, 3, 4, 5, 6)
    told = read_timed(text, 3, began(text, 2) - 1)
    assert kept(told) == [4, 5, 6] and told.notes == ()


def test_last_runs_are_used_if_the_start_is_unknown() -> None:
    assert kept(read_timed(file_of(1, 2, 3, 4, 5, 6), 3, None)) == [4, 5, 6]


def test_full_file_gives_fewer_runs_with_a_note() -> None:
    text = file_of(1, 2, 3, 4, 5, 6)
    since = began(text, 2) - 1
    cut = text[: 1 + 1 + 3 * 5]  # the bracket, the load event, five runs of three events
    told = read_timed(cut, 3, since, full=16)
    assert kept(told) == [4, 5], "never those of the warm-up in the place of the lost one"
    assert told.notes == (because("runs_not_recorded", count=2, of=3, events=16),)


def test_run_cut_in_the_middle_is_dropped() -> None:
    text = file_of(1, 2, 3, 4, 5, 6)
    told = read_timed(text[:-2], 3, began(text, 2) - 1, full=19)
    assert kept(told) == [4, 5] and told.notes


@pytest.mark.parametrize("since", ["known", "unknown"])
def test_file_without_a_timed_run_is_an_error(since: str) -> None:
    text = file_of(1, 2, 3, 4, 5, 6)
    at = began(text, 2) - 1 if since == "known" else None
    with refused(EngineError, "no_run_recorded", events=10):
        read_timed(text[: 1 + 1 + 3 * 3], 3, at, full=10)


def test_empty_file_is_an_error() -> None:
    with refused(EngineError, "no_run_recorded", events=None):
        read_timed([], 3, None)


def test_model_of_constants_has_runs_without_kernels() -> None:
    text = lines([[], [], [], []])
    assert read_timed(text, 2, began(text, 1) - 1).runs == [{}, {}]
