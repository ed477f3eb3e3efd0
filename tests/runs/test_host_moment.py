"""A model that runs without being measured: it never disturbs a measurement and is never taken for one."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from tests.refusal import refused
from tuibench.core.errors import HostBusy
from tuibench.present.run_list import owner_words
from tuibench.runs import host_queue
from tuibench.runs.host_queue import HostQueue, Wait, find_holder, find_tickets, hold_for_a_moment
from tuibench.runs.task import StopSwitch


@pytest.fixture
def name() -> str:
    """A host name of the test's own."""
    return f"tuibench-test-{secrets.token_hex(6)}"


@pytest.fixture
def run(name: str) -> Iterator[HostQueue]:
    """A run that came first and is ready to measure."""
    queue = HostQueue(name, "0" * 26, lambda: {"run": "0" * 26, "eta_s": 9}, StopSwitch(), look_s=0.1)
    yield queue
    queue.leave()


def ignore(_: Wait) -> None:
    """Ignore messages during a wait."""


def test_measurement_without_waiting_waits_for_a_brief_hold(name: str, run: HostQueue) -> None:
    moment = hold_for_a_moment(name)
    moment.__enter__()
    found = find_holder(name)
    assert found is not None and found.brief and "reads a model" in owner_words(found)
    said: list[Wait] = []

    def tell(wait: Wait) -> None:
        said.append(wait)
        moment.__exit__(None, None, None)

    run.enter(0.0, tell)
    assert [wait.holder is not None and wait.holder.brief for wait in said] == [True]
    now = find_holder(name)
    assert now is not None and not now.brief and now.run == "0" * 26


def test_hold_is_refused_while_somebody_measures(name: str, run: HostQueue) -> None:
    run.enter(None, ignore)
    with refused(HostBusy, "host_measuring") as caught:
        hold_for_a_moment(name).__enter__()
    assert caught.value.reason.fields["holder"].fields["eta_s"] == 9
    run.leave()
    assert find_holder(name) is None and find_tickets(name) == []
    with hold_for_a_moment(name):
        assert find_holder(name) is not None
    assert find_holder(name) is None


def test_long_brief_hold_is_named_to_a_measurement_without_waiting(
    name: str, run: HostQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_queue, "_BRIEF_S", 0.05)
    with hold_for_a_moment(name), refused(HostBusy, "host_measuring") as caught:
        run.enter(0.0, ignore)
    assert caught.value.reason.fields["holder"].fields["brief"]
    run.enter(0.0, ignore)


def test_hold_ends_with_its_block(name: str) -> None:
    with pytest.raises(ValueError, match="broken"), hold_for_a_moment(name):
        raise ValueError("broken")
    assert find_holder(name) is None
