"""One benchmark at a time on a machine, for all users: the owner of an abstract socket measures, others queue.

The kernel frees the name when its owner dies and tells everyone the owner's pid. No world-writable file is needed.
Abstract sockets belong to a network namespace, so containers do not see each other.
"""

from __future__ import annotations

import contextlib
import errno
import json
import pwd
import re
import secrets
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tuibench.core.activity import Holder, holder_reason
from tuibench.core.errors import HostBusy
from tuibench.core.ids import make_ulid
from tuibench.host.system import is_stopped
from tuibench.runs.task import StopSwitch

_CREDENTIALS = struct.Struct("3i")
_ANSWER_S = 0.3
_LOOK_S = 2.0
_SHORT_LOOK_S = 0.05
_BRIEF_S = 10.0
"""Seconds that a run with --no-wait still waits for a brief holder, which measures nothing."""
_TELL_S = 10.0
_CROWD = 20
"""Number of tickets always checked, even after the deadline."""
_MAX_ANSWER_BYTES = 4096
_MAX_ETA_S = 7 * 86_400.0
"""Longer announcements are not believed."""
_BACKLOG = 64
_TICKET = re.compile(r"[0-9A-Z]{26}")

Describe = Callable[[], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Wait:
    """A run's place in the queue."""

    place: int
    """1: next."""
    holder: Holder | None
    """The current holder; None if unknown."""


class LockOwner:
    """Owns a socket name and answers who the owner is, in a thread that sleeps between requests."""

    def __init__(self, name: str, describe: Describe) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.bind(f"\0{name}")
            self._socket.listen(_BACKLOG)
        except BaseException:
            self._socket.close()
            raise
        self._describe = describe
        self._thread = threading.Thread(target=self._answer, name="lock-owner", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Release the name."""
        # Closing alone does not wake a thread in accept, and the name stays bound while it runs.
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(1.0)
        self._socket.close()

    def _answer(self) -> None:
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            with peer, contextlib.suppress(OSError):  # the client has gone
                peer.settimeout(_ANSWER_S)
                peer.sendall(json.dumps(self._describe()).encode("ascii"))


class HostQueue:
    """This run's place in the queue of this machine."""

    def __init__(
        self,
        name: str,
        ticket: str,
        describe: Describe,
        stop: StopSwitch,
        *,
        root: Path = Path("/"),
        look_s: float = _LOOK_S,
    ) -> None:
        self._look_s = look_s
        self._name = name
        self._ticket = ticket
        self._describe = describe
        self._stop = stop
        self._root = root
        self._held: list[LockOwner] = []
        self._own_ticket: LockOwner | None = None
        self._known: Holder | None = None
        """The last holder that answered: a stopped one accepts no connection."""
        self._pids: dict[str, int] = {}
        """The process behind each ticket at the last look, as stopped ones do not answer either."""

    def take_ticket(self) -> None:
        """Enter the queue: later tickets cannot pass this run, even if it starts slowly."""
        if self._own_ticket is None:
            self._own_ticket = LockOwner(self._line(self._ticket), self._describe)

    def enter(self, wait_s: float | None, tell: Callable[[Wait], None]) -> float:
        """Wait until this run may measure; return the seconds waited, or raise HostBusy after `wait_s`."""
        begin = time.monotonic()
        self.take_ticket()
        try:
            said, said_at = Wait(0, None), 0.0
            while (before := self._before()) or not self._take():
                now = self._look(before)
                waited = time.monotonic() - begin
                brief = now.holder is not None and now.holder.brief
                most_s = max(wait_s, _BRIEF_S) if wait_s is not None and brief else wait_s
                if most_s is not None and waited >= most_s:
                    raise _busy(now, waited if brief else most_s)
                if _differ(said, now) or time.monotonic() - said_at >= _TELL_S:
                    tell(now)
                    said, said_at = now, time.monotonic()
                left = self._look_s if most_s is None else min(self._look_s, most_s - waited)
                # Without a holder, one is just starting or has just left.
                self._stop.pause(left if now.holder and not brief else min(left, _SHORT_LOOK_S))
        finally:
            self._step_out()
        return time.monotonic() - begin

    def share(self) -> bool:
        """Measure without waiting; return whether another run measures or is queued.

        Take the name only if there is none: queued runs keep their turn.
        """
        others = (ticket for ticket in find_tickets(self._name, self._root) if ticket != self._ticket)
        return bool(self._waiting(others)) or not self._take()

    def leave(self) -> None:
        """Let the next run in."""
        self._step_out()
        while self._held:
            self._held.pop().close()

    def _step_out(self) -> None:
        """Leave the queue."""
        if self._own_ticket is not None:
            self._own_ticket.close()
            self._own_ticket = None

    def _take(self) -> bool:
        try:
            self._held.append(LockOwner(self._name, self._describe))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            return False
        return True

    def _look(self, before: Sequence[str]) -> Wait:
        self._known = find_holder(self._name, self._root, self._known)
        return Wait(len(before) + 1, self._known)

    def _before(self) -> list[str]:
        """Return the tickets drawn before this run's."""
        return self._waiting(ticket for ticket in find_tickets(self._name, self._root) if ticket < self._ticket)

    def _waiting(self, tickets: Iterable[str]) -> list[str]:
        """Return the tickets of running processes; a stopped process must not hold up the line.

        The kernel names a ticket's process, so no answer is awaited and one socket is open at a time. Of a crowd,
        tickets not reached by the deadline count as waiting.
        """
        deadline = time.monotonic() + _ANSWER_S
        before, self._pids = self._pids, {}
        return [
            ticket
            for number, ticket in enumerate(tickets)
            if (number >= _CROWD and time.monotonic() >= deadline) or self._is_waiting(ticket, before.get(ticket))
        ]

    def _is_waiting(self, ticket: str, known: int | None) -> bool:
        """Return whether a running process owns a ticket; `known` is its process at the last look."""
        pid = known
        if pid is None or not is_stopped(pid, self._root):
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
                client.setblocking(False)
                try:
                    pid, _ = _connect(client, self._line(ticket))
                except BlockingIOError:
                    return True  # its queue of connections is full
                except OSError:
                    return False
        self._pids[ticket] = pid
        return not is_stopped(pid, self._root)

    def _line(self, ticket: str) -> str:
        return f"{self._name}-line-{ticket}"


def find_tickets(name: str, root: Path = Path("/")) -> list[str]:
    """Return all queued tickets, oldest first; the kernel lists every name of this network namespace."""
    try:
        text = (root / "proc/net/unix").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    mark = f"@{name}-line-"
    found = (line.rpartition(mark)[2].strip() for line in text.splitlines() if mark in line)
    return sorted({ticket for ticket in found if _TICKET.fullmatch(ticket)})


def find_holder(name: str, root: Path = Path("/"), known: Holder | None = None) -> Holder | None:
    """Return the owner of a name and its answer, after at most a third of a second; None without an owner.

    `known` is the last answer; use it while the process is stopped or too busy to answer.
    """
    if known is not None and known.stopped and is_stopped(known.pid, root):
        return known
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(_ANSWER_S)
        try:
            pid, uid = _connect(client, name)
        except (BlockingIOError, TimeoutError):
            return known or Holder(0, "unknown", "", None)
        except OSError:
            return None
        found = Holder(pid, _user(uid), "", None, is_stopped(pid, root))
        return found if found.stopped else _believe(found, _hear(client))


def _connect(client: socket.socket, name: str) -> tuple[int, int]:
    """Connect to a name; return pid and uid of its owner as the kernel knows them."""
    client.connect(f"\0{name}")
    pid, uid, _ = _CREDENTIALS.unpack(client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return pid, uid


def _hear(client: socket.socket) -> bytes:
    """Return what the owner sends within its time; b"" for more than any holder sends."""
    data, deadline = b"", time.monotonic() + _ANSWER_S
    with contextlib.suppress(OSError):  # too busy to answer; the kernel has named it
        while (room := _MAX_ANSWER_BYTES - len(data)) and (left_s := deadline - time.monotonic()) > 0:
            client.settimeout(left_s)
            part = client.recv(room)
            if not part:
                break
            data += part
    return data if len(data) < _MAX_ANSWER_BYTES else b""


def _believe(owner: Holder, data: bytes) -> Holder:
    """Return the owner with what it sent; any user may own a name, so only the form of a holder's answer counts."""
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        return owner
    if not isinstance(said, dict):
        return owner
    if said.get("brief") is True:
        return replace(owner, brief=True)
    run, eta = said.get("run"), said.get("eta_s")
    if not isinstance(run, str) or not _TICKET.fullmatch(run):
        return owner
    plausible = isinstance(eta, (int, float)) and not isinstance(eta, bool) and 0 <= eta <= _MAX_ETA_S
    return replace(owner, run=run, eta_s=float(eta) if eta is not None and plausible else None)


def _differ(old: Wait, new: Wait) -> bool:
    """Return whether anything but the time has changed."""
    pids = [None if wait.holder is None else (wait.holder.pid, wait.holder.stopped) for wait in (old, new)]
    return old.place != new.place or pids[0] != pids[1]


def _busy(wait: Wait, wait_s: float) -> HostBusy:
    return HostBusy("host_measuring", holder=holder_reason(wait.holder), before=wait.place - 1, waited_s=wait_s)


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"


@contextmanager
def hold_for_a_moment(name: str) -> Iterator[None]:
    """Hold the host lock; raise HostBusy at once if a run is measuring or queued. New runs queue behind."""
    stop = StopSwitch()
    queue = HostQueue(name, make_ulid(int(time.time() * 1000), secrets.token_bytes(10)), _describe, stop)
    try:
        queue.enter(0.0, _wait)
        yield
    finally:
        queue.leave()
        stop.close()


def _describe() -> dict[str, Any]:
    return {"brief": True}


def _wait(_: Wait) -> None:
    """Do nothing: other brief holders leave in a moment."""
