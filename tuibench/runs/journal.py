"""The truth about a run while it goes on: one checked line per event, appended whole, durable where a result is."""

from __future__ import annotations

import errno
import json
import os
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tuibench.core.errors import StoreError
from tuibench.core.form import BENCHMARK
from tuibench.runs.event_check import has_envelope, is_sane
from tuibench.runs.regular import open_regular

NAME = "journal.jsonl"
DURABLE = frozenset(
    {"run_start", "sitting", "plan", "execution_done", "execution_failed", "cell_done", "extended", "run_end"}
    | {"profile_part"}
)
_RESERVE = "reserve"
_RESERVE_BYTES = 1 << 18
_LEAST_BYTES = 1 << 18
_FULL = (errno.ENOSPC, errno.EDQUOT)


def encode(event: dict[str, Any]) -> bytes:
    """One line: checksum, space, JSON, line feed."""
    body = json.dumps(event, separators=(",", ":"), allow_nan=False).encode()
    return b"%08x %s\n" % (zlib.crc32(body), body)


def decode(line: bytes) -> dict[str, Any] | None:
    """Return the object of a line, or None where the line is torn, damaged, or holds nonsense."""
    check, _, body = line.rstrip(b"\n").partition(b" ")
    try:
        if int(check, 16) != zlib.crc32(body):
            return None
        event = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and is_sane(event) else None


def decode_event(line: bytes) -> dict[str, Any] | None:
    """Return the event of a line of a journal, or None where there is none."""
    event = decode(line)
    return event if event is not None and has_envelope(event) else None


class JournalBroken(StoreError):
    """The journal takes nothing more; what it has, it keeps."""


class DiskFull(JournalBroken):
    """The disk is full; the event that found out was kept all the same."""


class Journal:
    """Appends events; one write each, so that a reader never sees half an event that was acknowledged.

    A reserve beside it is given up when the disk is full: what was just measured, and how the run ended, still fit.
    """

    def __init__(self, run_dir: Path, seq: int = 0, form: int = BENCHMARK) -> None:
        self._form = form
        self._reserve = run_dir / _RESERVE
        self._fd = open_regular(run_dir / NAME, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._seq = seq
        self.latest: dict[str, Any] = {}
        """The last progress, for whoever asks how long this still takes."""
        _fill(self._reserve)
        if not seq:
            self._sync_name(run_dir)

    def append(self, ev: str, **fields: Any) -> None:
        """Write one event and, where it carries a result, wait until the disk has it."""
        line = encode({"v": self._form, "seq": self._seq, "t_ns": time.monotonic_ns(), "ev": ev, **fields})
        try:
            full = not self._write_whole(line, ev in DURABLE)
        except OSError as error:
            reason = error.strerror or str(error)
            raise JournalBroken(
                f"the journal of the run cannot be written: {reason}", "tuibench resume goes on"
            ) from error
        self._seq += 1
        if ev == "progress":
            self.latest = fields
        if full:
            raise _disk_full()

    def _write_whole(self, line: bytes, durable: bool) -> bool:
        """Whether it went without the reserve; OSError where that did not help either."""
        try:
            self._write(line, durable)
        except OSError as error:
            if error.errno not in _FULL or not self._reserve.exists():
                raise
            self._reserve.unlink()
            self._write(line, durable)
            return False
        return True

    def _write(self, line: bytes, durable: bool) -> None:
        before = os.fstat(self._fd).st_size
        try:
            written = os.write(self._fd, line)
            if written != len(line):
                raise OSError(errno.ENOSPC, f"the journal took {written} of {len(line)} bytes")
            if durable:
                os.fdatasync(self._fd)
        except OSError:
            # Half a line must not be glued to the next one, nor an unacknowledged one be there twice.
            os.ftruncate(self._fd, before)
            raise

    def _sync_name(self, run_dir: Path) -> None:
        """A file is only as durable as its name."""
        directory = os.open(run_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def close(self) -> None:
        """Give descriptor and reserve back."""
        os.close(self._fd)
        self._reserve.unlink(missing_ok=True)


def require_room(run_dir: Path) -> None:
    """Raise DiskFull where a run could not even write down how its next execution fails."""
    found = os.statvfs(run_dir)
    if found.f_bavail * found.f_frsize < _LEAST_BYTES:
        raise _disk_full()


def _disk_full() -> DiskFull:
    return DiskFull("the disk is full", "free some space, then tuibench resume goes on")


def _fill(path: Path) -> None:
    """Blocks that are really there: a hole would reserve nothing."""
    descriptor = open_regular(path, os.O_WRONLY | os.O_CREAT)
    try:
        os.posix_fallocate(descriptor, 0, _RESERVE_BYTES)
    finally:
        os.close(descriptor)


class Follower:
    """Reads what was appended since the last look; costs one stat where nothing was."""

    def __init__(self, run_dir: Path, first_seq: int = 0) -> None:
        self._path = run_dir / NAME
        self._first_seq = first_seq
        self._offset = 0
        self.damaged = 0
        """Lines that cannot be read."""

    def read(self) -> list[dict[str, Any]]:
        """The new events; a line that is still being written, or was broken off, is looked at again."""
        try:
            if os.stat(self._path).st_size <= self._offset:
                return []
            with os.fdopen(open_regular(self._path), "rb") as handle:
                handle.seek(self._offset)
                data = handle.read()
        except FileNotFoundError:
            return []
        whole = data.rfind(b"\n") + 1
        self._offset += whole
        found = [decode_event(line) for line in data[:whole].split(b"\n")[:-1]]
        self.damaged += found.count(None)
        return [event for event in found if event is not None and event["seq"] >= self._first_seq]


def read_events(run_dir: Path) -> Iterator[dict[str, Any]]:
    """Every whole event of a run; what follows a damaged line still counts, a torn tail does not."""
    with (run_dir / NAME).open("rb") as handle:
        for line in handle:
            event = decode_event(line)
            if event is not None:
                yield event


@dataclass(frozen=True, slots=True)
class History:
    """A whole journal, and what of it nobody can read any more."""

    events: tuple[dict[str, Any], ...]
    damaged: tuple[int, ...]
    """Numbers of lines, from 1. The last one may be torn by the end of its writer, which is no damage."""
    lost: int
    """Events that were numbered and are not there."""
    whole_bytes: int
    """Where the next writer goes on: behind the last line that can be read."""

    @property
    def missing(self) -> int:
        """Lines that cannot be read, or that are gone."""
        return len(self.damaged) or self.lost

    @property
    def next_seq(self) -> int:
        """What the next event is numbered."""
        return max(int(event["seq"]) for event in self.events) + 1 if self.events else 0


def read_history(run_dir: Path) -> History:
    """The journal as far as it can be read; StoreError where there is none."""
    try:
        descriptor = open_regular(run_dir / NAME)
    except OSError as error:
        raise StoreError(f"the journal of run {run_dir.name} cannot be read: {error.strerror}") from error
    events: list[dict[str, Any]] = []
    damaged: list[int] = []
    whole = position = 0
    with os.fdopen(descriptor, "rb") as handle:
        for number, line in enumerate(handle, 1):
            event = decode_event(line) if line.endswith(b"\n") else None
            if event is None:
                whole = position
                damaged.append(number)
            else:
                events.append(event)
                whole = position + len(line)
            position += len(line)
    if damaged and whole < position:
        # The last line: its writer died in the middle of it, or its disk did.
        damaged.pop()
    seqs = [int(event["seq"]) for event in events]
    lost = max(seqs) + 1 - len(set(seqs)) if seqs else 0
    return History(tuple(events), tuple(damaged), lost, whole)


def cut_tail(run_dir: Path, history: History) -> None:
    """Take away what the last writer could not finish; damage before the last whole line stays for whoever looks."""
    descriptor = open_regular(run_dir / NAME, os.O_WRONLY)
    try:
        os.ftruncate(descriptor, history.whole_bytes)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
