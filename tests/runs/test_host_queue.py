"""The host queue: one measurement at a time, oldest first, with dead and stopped processes."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.shell import until
from tests.refusal import refused
from tuibench.core.errors import HostBusy
from tuibench.core.reason import because
from tuibench.host.system import is_stopped
from tuibench.runs.host_queue import HostQueue, Wait, find_holder, find_tickets
from tuibench.runs.task import Cancelled, StopSwitch

HOLD = """
import sys, time
from tuibench.runs.host_queue import HostQueue
from tuibench.runs.task import StopSwitch
queue = HostQueue(sys.argv[1], sys.argv[2], lambda: {"run": sys.argv[2], "eta_s": 42}, StopSwitch())
queue.enter(None, lambda wait: None)
print("in", flush=True)
sys.stdin.read()
"""


def ticket(number: int) -> str:
    return f"{number:026d}"


@pytest.fixture
def name() -> str:
    """A host name of the test's own."""
    return f"tuibench-test-{secrets.token_hex(6)}"


@pytest.fixture
def holder(name: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that measures."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, name, ticket(1)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"in\n"
    yield process
    process.kill()
    process.communicate()


@pytest.fixture
def stopped_waiter(name: str, holder: subprocess.Popen[bytes]) -> Iterator[None]:
    """A process that queues behind the holder and is stopped there."""
    waiter = subprocess.Popen(
        [sys.executable, "-c", HOLD, name, ticket(2)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        until(lambda: find_tickets(name) == [ticket(2)], "a waiter")
        waiter.send_signal(signal.SIGSTOP)
        until(lambda: is_stopped(waiter.pid), "a stopped waiter")
        yield
    finally:
        waiter.kill()
        waiter.communicate()


def queue(name: str, number: int, stop: StopSwitch | None = None) -> HostQueue:
    return HostQueue(
        name, ticket(number), lambda: {"run": ticket(number), "eta_s": None}, stop or StopSwitch(), look_s=0.1
    )


def refuse(wait: Wait) -> None:
    raise AssertionError(f"waited: {wait}")


def test_free_host_is_locked_at_once_and_released(name: str) -> None:
    for number in (1, 2):
        mine = queue(name, number)
        assert mine.enter(None, refuse) < 1
        found = find_holder(name)
        assert found is not None
        assert (found.pid, found.run, found.eta_s, found.stopped) == (os.getpid(), ticket(number), None, False)
        mine.leave()
        assert find_holder(name) is None
        assert find_tickets(name) == []


def test_no_wait_error_names_the_measuring_process(name: str, holder: subprocess.Popen[bytes]) -> None:
    with pytest.raises(HostBusy) as caught:
        queue(name, 2).enter(0, refuse)
    measuring = caught.value.reason.fields["holder"].fields
    assert (measuring["pid"], round(measuring["eta_s"])) == (holder.pid, 42)
    assert int(caught.value.exit_code) == 7


def test_killed_holder_admits_the_next_process(name: str, holder: subprocess.Popen[bytes]) -> None:
    seen: list[Wait] = []

    def kill(wait: Wait) -> None:
        seen.append(wait)
        if len(seen) == 1:
            holder.kill()

    mine = queue(name, 2)
    mine.enter(None, kill)
    assert seen[0].place == 1
    assert seen[0].holder is not None
    assert seen[0].holder.pid == holder.pid
    found = find_holder(name)
    assert found is not None
    assert found.pid == os.getpid()
    mine.leave()


def test_stopped_holder_is_reported_as_stopped(name: str, holder: subprocess.Popen[bytes]) -> None:
    holder.send_signal(signal.SIGSTOP)
    until(lambda: (found := find_holder(name)) is not None and found.stopped, "a stopped holder")
    with refused(HostBusy, "host_measuring") as caught:
        queue(name, 2).enter(0, refuse)
    assert caught.value.reason.fields["holder"].fields["stopped"]


def test_oldest_ticket_is_first_in_any_polling_order(name: str, holder: subprocess.Popen[bytes]) -> None:
    order: list[int] = []
    places: dict[int, list[int]] = {2: [], 3: []}
    released = threading.Event()

    def stand(number: int) -> None:
        mine = queue(name, number)
        mine.enter(None, lambda wait: places[number].append(wait.place))
        order.append(number)
        if number == 2:
            released.wait(30)
        mine.leave()

    late = threading.Thread(target=stand, args=(3,))
    late.start()
    until(lambda: find_tickets(name) == [ticket(3)], "the later one in line")
    early = threading.Thread(target=stand, args=(2,))
    early.start()
    until(lambda: find_tickets(name) == [ticket(2), ticket(3)], "both in line")
    until(lambda: 2 in places[3], "the later one sees the earlier one before it")
    until(lambda: bool(places[2]), "the earlier one has told its place")
    holder.kill()
    until(lambda: order == [2], "the older one measures")
    released.set()
    early.join(30)
    late.join(30)
    assert order == [2, 3]
    assert places[2][0] == 1


def test_later_faster_process_does_not_pass_an_earlier_ticket(name: str) -> None:
    first, second = queue(name, 1), queue(name, 2)
    first.take_ticket()
    first.take_ticket()
    waits: list[Wait] = []

    def tell(wait: Wait) -> None:
        waits.append(wait)
        first.enter(None, refuse)
        first.leave()

    second.enter(None, tell)
    assert [(wait.place, wait.holder) for wait in waits] == [(2, None)]
    second.leave()
    assert find_tickets(name) == []


def test_sharing_process_does_not_pass_the_queue(name: str) -> None:
    first, other = queue(name, 1), queue(name, 2)
    first.take_ticket()
    assert other.share(), "somebody is about to measure"
    assert find_holder(name) is None
    first.enter(None, refuse)
    assert other.share()
    for one in (first, other):
        one.leave()
    assert not other.share()
    other.leave()


@pytest.mark.usefixtures("stopped_waiter")
def test_sharing_process_ignores_a_stopped_waiter(name: str, holder: subprocess.Popen[bytes]) -> None:
    holder.kill()
    holder.wait()
    mine = queue(name, 3)
    assert not mine.share()
    mine.leave()


def test_process_that_leaves_early_is_out_of_the_queue(name: str) -> None:
    first = queue(name, 1)
    first.take_ticket()
    first.leave()
    assert find_tickets(name) == []


@pytest.mark.usefixtures("stopped_waiter")
def test_stopped_waiter_does_not_block_the_queue(name: str, holder: subprocess.Popen[bytes]) -> None:
    mine = queue(name, 3)
    mine.enter(None, lambda wait: holder.kill())
    mine.leave()


def test_cancelled_run_stops_waiting(name: str, holder: subprocess.Popen[bytes]) -> None:
    stop = StopSwitch()
    with pytest.raises(Cancelled):
        queue(name, 2, stop).enter(None, lambda wait: stop.trip(because("signal", signal="SIGTERM")))
    assert find_tickets(name) == []


def test_sharing_reports_another_measurement(name: str, holder: subprocess.Popen[bytes]) -> None:
    mine = queue(name, 2)
    assert mine.share() is True
    mine.leave()
    free = queue(f"{name}-free", 2)
    assert free.share() is False
    free.leave()


def test_foreign_names_in_the_kernel_list_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "proc/net").mkdir(parents=True)
    lines = [f"0: 2 0 0 1 1 1 @h-line-{ticket(n)}" for n in (3, 1)] + ["0: @h-line-junk", "0: /run/x", "0: @h"]
    (tmp_path / "proc/net/unix").write_text("\n".join(lines), encoding="utf-8")
    assert find_tickets("h", tmp_path) == [ticket(1), ticket(3)]


def test_stopped_holder_keeps_its_name_after_many_requests(name: str, holder: subprocess.Popen[bytes]) -> None:
    holder.send_signal(signal.SIGSTOP)
    until(lambda: (found := find_holder(name)) is not None and found.stopped, "a stopped holder")
    mine = queue(name, 2)
    seen = [mine._look([]).holder for _ in range(80)]
    assert {found.pid for found in seen if found is not None} == {holder.pid}
    assert all(found is not None and found.stopped for found in seen)


def test_holder_with_a_full_backlog_is_still_the_holder(name: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as deaf:
        deaf.bind(f"\0{name}")
        deaf.listen(0)
        callers = []
        for _ in range(3):
            caller = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            caller.setblocking(False)
            caller.connect_ex(f"\0{name}")
            callers.append(caller)
        found = find_holder(name)
        assert found is not None
        for caller in callers:
            caller.close()
