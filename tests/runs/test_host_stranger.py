"""Any user can own the queue's names: answers or silence of strangers change nothing."""

from __future__ import annotations

import errno
import json
import os
import secrets
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.refusal import refused
from tests.runs.test_host_queue import queue, refuse, ticket
from tuibench.core.errors import HostBusy
from tuibench.present.run_list import owner_words
from tuibench.runs import host_queue
from tuibench.runs.host_queue import Describe, HostQueue, LockOwner, Wait, find_holder
from tuibench.runs.task import StopSwitch


@pytest.fixture
def name() -> str:
    """A host name of the test's own."""
    return f"tuibench-test-{secrets.token_hex(6)}"


def ignore(_: Wait) -> None:
    """Ignore messages during a wait."""


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
    """Own a name and send the same answer to every client."""
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
                        continue  # the client has read enough

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(10)


@pytest.mark.parametrize("answer", HOSTILE)
def test_stranger_at_the_name_is_not_believed(name: str, answer: bytes) -> None:
    with answering(name, answer):
        found = find_holder(name)
        assert found is not None
        assert (found.pid, found.run, found.eta_s, found.brief) == (os.getpid(), "", None, False)
        assert owner_words(found).isprintable()


@pytest.mark.parametrize("answer", HOSTILE)
def test_hostile_answer_ends_no_waiting_run(name: str, answer: bytes) -> None:
    with answering(name, answer), answering(f"{name}-line-{ticket(0)}", answer):
        with refused(HostBusy, "host_measuring", before=1):
            queue(name, 1).enter(0, refuse)
        mine = queue(name, 1)
        assert mine.share() is True
        mine.leave()


@pytest.mark.parametrize("eta", ["1e9", "604801", "-1", "NaN", "Infinity", "9" * 4000, "true", "[5]", "null", '"5"'])
def test_absurd_eta_is_shown_as_unknown(name: str, eta: str) -> None:
    with answering(name, b'{"run":"%s","eta_s":%s}' % (b"1" * 26, eta.encode())):
        found = find_holder(name)
        assert found is not None
        assert (found.run, found.eta_s) == ("1" * 26, None)
        assert owner_words(found).endswith("time left unknown")


class Crowd:
    """A clock, 3,000 tickets, and a lock whose owner accepts connections and never answers."""

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
    """The client's end of a connection to a silent owner."""

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


class Silent(LockOwner):
    """A name that is already used; a ticket may belong to anybody."""

    def __init__(self, name: str, describe: Describe) -> None:
        if "-line-" not in name:
            raise OSError(errno.EADDRINUSE, "taken")

    def close(self) -> None:
        """Close nothing, because nothing was bound."""


def crowded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, connect_s: float) -> tuple[Crowd, HostQueue]:
    (tmp_path / "proc/net").mkdir(parents=True)
    lines = "".join(f"0: 2 0 0 1 1 1 @h-line-{ticket(n)}\n" for n in range(3000))
    (tmp_path / "proc/net/unix").write_text(lines, encoding="utf-8")
    crowd = Crowd(connect_s)
    sockets = {name: getattr(socket, name) for name in ("AF_UNIX", "SOCK_STREAM", "SOL_SOCKET", "SO_PEERCRED")}
    monkeypatch.setattr(host_queue, "socket", SimpleNamespace(socket=crowd.socket, **sockets))
    monkeypatch.setattr(host_queue, "time", crowd)
    monkeypatch.setattr(host_queue, "LockOwner", Silent)
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
    with refused(HostBusy, "host_measuring", before=3000):
        mine.enter(wait_s, ignore)
    assert wait_s <= crowd.now - began < most_s
    assert crowd.most_open == 1 and crowd.open == 0


@pytest.mark.parametrize("connect_s", [0.0, 0.01])
def test_silent_tickets_do_not_block_a_sharing_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, connect_s: float
) -> None:
    crowd, mine = crowded(monkeypatch, tmp_path, connect_s)
    began = crowd.now
    assert mine.share() is True
    assert crowd.now - began < 0.5
    assert 0 < crowd.connects <= 3000 and crowd.most_open == 1
