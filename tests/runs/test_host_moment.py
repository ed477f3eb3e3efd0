"""A model that is run without being measured: it never disturbs a measurement, and is never taken for one."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from tuibench.core.errors import HostBusy
from tuibench.runs import host_queue
from tuibench.runs.host_moment import hold_for_a_moment
from tuibench.runs.host_queue import HostQueue, Wait, find_holder, find_tickets, holder_words
from tuibench.runs.stopping import StopSwitch


@pytest.fixture
def name() -> str:
    """A host of the test's own."""
    return f"tuibench-test-{secrets.token_hex(6)}"


@pytest.fixture
def run(name: str) -> Iterator[HostQueue]:
    """One that came before everybody and knows how to measure."""
    queue = HostQueue(name, "0" * 26, lambda: {"run": "0" * 26, "eta_s": 9}, StopSwitch(), look_s=0.1)
    yield queue
    queue.leave()


def ignore(_: Wait) -> None:
    """What is said while somebody waits."""


def test_a_measurement_that_starts_meanwhile_waits_though_it_would_wait_for_no_other(name: str, run: HostQueue) -> None:
    moment = hold_for_a_moment(name)
    moment.__enter__()
    found = find_holder(name)
    assert found is not None and found.brief and "looks at a model" in holder_words(found)
    said: list[Wait] = []

    def tell(wait: Wait) -> None:
        said.append(wait)
        moment.__exit__(None, None, None)

    run.enter(0.0, tell)
    assert [wait.holder is not None and wait.holder.brief for wait in said] == [True]
    now = find_holder(name)
    assert now is not None and not now.brief and now.run == "0" * 26


def test_where_somebody_measures_nothing_is_held(name: str, run: HostQueue) -> None:
    run.enter(None, ignore)
    with pytest.raises(HostBusy, match="about 9"), hold_for_a_moment(name):
        raise AssertionError("the host was taken")
    run.leave()
    assert find_holder(name) is None and find_tickets(name) == []
    with hold_for_a_moment(name):
        assert find_holder(name) is not None
    assert find_holder(name) is None


def test_a_moment_that_does_not_end_is_named_to_who_would_not_wait(
    name: str, run: HostQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_queue, "_BRIEF_S", 0.05)
    with hold_for_a_moment(name), pytest.raises(HostBusy, match="which looks at a model for a moment"):
        run.enter(0.0, ignore)
    run.enter(0.0, ignore)


def test_a_moment_ends_with_whatever_it_was_taken_for(name: str) -> None:
    with pytest.raises(ValueError, match="broken"), hold_for_a_moment(name):
        raise ValueError("broken")
    assert find_holder(name) is None
