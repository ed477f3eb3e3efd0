"""Who may measure on a machine: one at a time, oldest first, whatever becomes of the others."""

from __future__ import annotations

import errno
import json
import os
import secrets
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.cli.shell import until
from tuibench.core.errors import HostBusy
from tuibench.runs import host_queue
from tuibench.runs.host_queue import Describe, Doorman, HostQueue, Wait, find_holder, find_tickets, holder_words
from tuibench.runs.stopping import Cancelled, StopSwitch

HOLD = """
import sys, time
from tuibench.runs.host_queue import HostQueue
from tuibench.runs.stopping import StopSwitch
queue = HostQueue(sys.argv[1], sys.argv[2], lambda: {"run": sys.argv[2], "eta_s": 42}, StopSwitch())
queue.enter(None, lambda wait: None)
print("in", flush=True)
sys.stdin.read()
"""


def ticket(number: int) -> str:
    return f"{number:026d}"


@pytest.fixture
def name() -> str:
    """A host of the test's own."""
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
    """A process that stands in line behind the holder, and is stopped there."""
    waiter = subprocess.Popen(
        [sys.executable, "-c", HOLD, name, ticket(2)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        until(lambda: find_tickets(name) == [ticket(2)], "a waiter")
        waiter.send_signal(signal.SIGSTOP)
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


def ignore(_: Wait) -> None:
    """Told while a run waits."""


def test_a_free_host_is_taken_at_once_and_given_back(name: str) -> None:
    for number in (1, 2):
        mine = queue(name, number)
        assert mine.enter(None, refuse) < 1
        found = find_holder(name)
        assert found is not None
        assert (found.pid, found.run, found.eta_s, found.stopped) == (os.getpid(), ticket(number), None, False)
        mine.leave()
        assert find_holder(name) is None
        assert find_tickets(name) == []


def test_who_does_not_wait_is_told_who_measures(name: str, holder: subprocess.Popen[bytes]) -> None:
    with pytest.raises(HostBusy) as caught:
        queue(name, 2).enter(0, refuse)
    assert f"pid {holder.pid}" in caught.value.message
    assert "42 s left" in caught.value.message
    assert "--share-host" in caught.value.hint
    assert int(caught.value.exit_code) == 7


def test_a_killed_holder_lets_the_next_one_in(name: str, holder: subprocess.Popen[bytes]) -> None:
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


def test_a_stopped_holder_is_named_as_such(name: str, holder: subprocess.Popen[bytes]) -> None:
    holder.send_signal(signal.SIGSTOP)
    until(lambda: (found := find_holder(name)) is not None and found.stopped, "a stopped holder")
    with pytest.raises(HostBusy, match="which is stopped"):
        queue(name, 2).enter(0, refuse)


def test_the_oldest_ticket_comes_first_whoever_looks_first(name: str, holder: subprocess.Popen[bytes]) -> None:
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
    holder.kill()
    until(lambda: order == [2], "the older one measures")
    released.set()
    early.join(30)
    late.join(30)
    assert order == [2, 3]
    assert places[2][0] == 1


def test_who_drew_a_ticket_is_not_passed_by_a_later_one_that_is_faster(name: str) -> None:
    first, second = queue(name, 1), queue(name, 2)
    first.draw()
    first.draw()
    waits: list[Wait] = []

    def tell(wait: Wait) -> None:
        waits.append(wait)
        first.enter(None, refuse)
        first.leave()

    second.enter(None, tell)
    assert [(wait.place, wait.holder) for wait in waits] == [(2, None)]
    second.leave()
    assert find_tickets(name) == []


def test_who_shares_does_not_pass_who_stands_in_line(name: str) -> None:
    first, other = queue(name, 1), queue(name, 2)
    first.draw()
    assert other.share(), "somebody is about to measure"
    assert find_holder(name) is None
    first.enter(None, refuse)
    assert other.share()
    for one in (first, other):
        one.leave()
    assert not other.share()
    other.leave()


@pytest.mark.usefixtures("stopped_waiter")
def test_who_shares_takes_no_notice_of_a_waiter_that_is_stopped(name: str, holder: subprocess.Popen[bytes]) -> None:
    holder.kill()
    holder.wait()
    mine = queue(name, 3)
    assert not mine.share()
    mine.leave()


def test_who_leaves_without_having_come_in_is_out_of_the_line(name: str) -> None:
    first = queue(name, 1)
    first.draw()
    first.leave()
    assert find_tickets(name) == []


@pytest.mark.usefixtures("stopped_waiter")
def test_a_stopped_waiter_does_not_hold_up_the_line(name: str, holder: subprocess.Popen[bytes]) -> None:
    mine = queue(name, 3)
    mine.enter(None, lambda wait: holder.kill())
    mine.leave()


def test_waiting_ends_when_the_run_is_cancelled(name: str, holder: subprocess.Popen[bytes]) -> None:
    stop = StopSwitch()
    with pytest.raises(Cancelled):
        queue(name, 2, stop).enter(None, lambda wait: stop.trip("SIGTERM"))
    assert find_tickets(name) == []


def test_sharing_says_whether_somebody_else_measures(name: str, holder: subprocess.Popen[bytes]) -> None:
    mine = queue(name, 2)
    assert mine.share() is True
    mine.leave()
    free = queue(f"{name}-free", 2)
    assert free.share() is False
    free.leave()


HOSTILE = (
    b"",
    b"\x1b[31m",
    json.dumps({"run": "\x1b]0;x\x07", "eta_s": "soon"}).encode(),
    b"[1]",
    b"null",
    b"{" * 9000,
    b"[" * 4096,
    b'{"run":' * 500,
    json.dumps({"run": "0" * 26, "eta_s": 2}).encode() + b" " * 5000 + b"x",
)
"""Answers that no holder sends."""


@contextmanager
def answering(name: str, answer: bytes) -> Iterator[None]:
    """An owner of a name that sends the same to whoever connects."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(f"\0{name}")
        server.listen(64)

        def serve() -> None:
            while True:
                try:
                    peer, _ = server.accept()
                except OSError:
                    return
                with peer:
                    try:
                        peer.sendall(answer)
                    except OSError:
                        continue  # it has heard enough

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(10)


@pytest.mark.parametrize("answer", HOSTILE)
def test_a_stranger_at_the_name_is_believed_nothing(name: str, answer: bytes) -> None:
    with answering(name, answer):
        found = find_holder(name)
        assert found is not None
        assert (found.pid, found.run, found.eta_s, found.brief) == (os.getpid(), "", None, False)
        assert holder_words(found).isprintable()


@pytest.mark.parametrize("answer", HOSTILE)
def test_a_hostile_answer_ends_no_waiting_run(name: str, answer: bytes) -> None:
    with answering(name, answer), answering(f"{name}-line-{ticket(0)}", answer):
        with pytest.raises(HostBusy, match="1 more before"):
            queue(name, 1).enter(0, refuse)
        mine = queue(name, 1)
        assert mine.share() is True
        mine.leave()


@pytest.mark.parametrize("eta", ["1e9", "604801", "-1", "NaN", "Infinity", "9" * 4000, "true", "[5]", "null", '"5"'])
def test_an_eta_beyond_reason_is_shown_as_unknown(name: str, eta: str) -> None:
    with answering(name, b'{"run":"%s","eta_s":%s}' % (b"1" * 26, eta.encode())):
        found = find_holder(name)
        assert found is not None
        assert (found.run, found.eta_s) == ("1" * 26, None)
        assert holder_words(found).endswith("time left unknown")


class Crowd:
    """A clock, and 3,000 tickets and a lock whose owner accepts connections and answers nothing."""

    def __init__(self, connect_s: float) -> None:
        self.now = 1000.0
        self.connect_s = connect_s
        self.connects = self.open = self.most_open = 0

    def monotonic(self) -> float:
        return self.now

    def socket(self, family: int, kind: int) -> SilentSocket:
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        return SilentSocket(self)


class SilentSocket:
    """The client's end of a connection to one of them."""

    def __init__(self, crowd: Crowd) -> None:
        self._crowd = crowd
        self._timeout_s = 0.0

    def __enter__(self) -> SilentSocket:
        return self

    def __exit__(self, *_: object) -> None:
        self._crowd.open -= 1

    def settimeout(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s

    def setblocking(self, _: bool) -> None:
        self._timeout_s = 0.0

    def connect(self, _: str) -> None:
        self._crowd.connects += 1
        self._crowd.now += self._crowd.connect_s

    def getsockopt(self, *_: int) -> bytes:
        return struct.pack("3i", os.getpid(), os.getuid(), os.getgid())

    def recv(self, _: int) -> bytes:
        self._crowd.now += self._timeout_s
        raise TimeoutError


class Silent(Doorman):
    """A name that is taken already; a ticket is anybody's."""

    def __init__(self, name: str, describe: Describe) -> None:
        if "-line-" not in name:
            raise OSError(errno.EADDRINUSE, "taken")

    def close(self) -> None:
        """Nothing was bound."""


def crowded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, connect_s: float) -> tuple[Crowd, HostQueue]:
    (tmp_path / "proc/net").mkdir(parents=True)
    lines = "".join(f"0: 2 0 0 1 1 1 @h-line-{ticket(n)}\n" for n in range(3000))
    (tmp_path / "proc/net/unix").write_text(lines, encoding="utf-8")
    crowd = Crowd(connect_s)
    sockets = {name: getattr(socket, name) for name in ("AF_UNIX", "SOCK_STREAM", "SOL_SOCKET", "SO_PEERCRED")}
    monkeypatch.setattr(host_queue, "socket", SimpleNamespace(socket=crowd.socket, **sockets))
    monkeypatch.setattr(host_queue, "time", crowd)
    monkeypatch.setattr(host_queue, "Doorman", Silent)
    mine = HostQueue("h", ticket(9000), dict, StopSwitch(), root=tmp_path)

    def pause(seconds: float) -> None:
        crowd.now += seconds

    monkeypatch.setattr(mine._stop, "pause", pause)
    return crowd, mine


@pytest.mark.parametrize("connect_s", [0.0, 0.01])
@pytest.mark.parametrize(("wait_s", "most_s"), [(0.0, 2.0), (3.0, 5.0)])
def test_silent_tickets_do_not_lengthen_a_wait(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, connect_s: float, wait_s: float, most_s: float
) -> None:
    crowd, mine = crowded(monkeypatch, tmp_path, connect_s)
    began = crowd.now
    with pytest.raises(HostBusy, match="3000 more before"):
        mine.enter(wait_s, ignore)
    assert wait_s <= crowd.now - began < most_s
    assert crowd.most_open == 1 and crowd.open == 0


@pytest.mark.parametrize("connect_s", [0.0, 0.01])
def test_silent_tickets_do_not_hold_up_who_shares(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, connect_s: float
) -> None:
    crowd, mine = crowded(monkeypatch, tmp_path, connect_s)
    began = crowd.now
    assert mine.share() is True
    assert crowd.now - began < 0.5
    assert 0 < crowd.connects <= 3000 and crowd.most_open == 1


def test_names_of_others_in_the_kernels_list_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "proc/net").mkdir(parents=True)
    lines = [f"0: 2 0 0 1 1 1 @h-line-{ticket(n)}" for n in (3, 1)] + ["0: @h-line-junk", "0: /run/x", "0: @h"]
    (tmp_path / "proc/net/unix").write_text("\n".join(lines), encoding="utf-8")
    assert find_tickets("h", tmp_path) == [ticket(1), ticket(3)]


def test_a_stopped_holder_keeps_its_name_however_often_it_is_asked(name: str, holder: subprocess.Popen[bytes]) -> None:
    holder.send_signal(signal.SIGSTOP)
    until(lambda: (found := find_holder(name)) is not None and found.stopped, "a stopped holder")
    mine = queue(name, 2)
    seen = [mine._look([]).holder for _ in range(80)]
    assert {found.pid for found in seen if found is not None} == {holder.pid}
    assert all(found is not None and found.stopped for found in seen)


def test_a_holder_that_takes_no_more_calls_is_still_one(name: str) -> None:
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
