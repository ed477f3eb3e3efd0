"""The journal of a run: one checksummed line per event, appended whole; results are synced to disk."""

from __future__ import annotations

import errno
import json
import os
import stat
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tuibench.core.cell import Cell, Execution
from tuibench.core.errors import ExitCode, StoreError, TuibenchError
from tuibench.core.model import Point
from tuibench.core.reason import LEGACY_TEXT, Reason, because
from tuibench.core.record import fits, from_plain, to_plain
from tuibench.core.schema import REASONS
from tuibench.core.spec import BenchmarkSpec

NONSENSE = (KeyError, ValueError, TypeError, IndexError, AttributeError, ArithmeticError, RecursionError, StopIteration)
"""Errors that invalid events cause in their readers."""
_MOST_DEEP = 64
_LARGEST = 2**63
"""Greater than any count, time or size."""
_MOST_PROCESSES = 10_000
_MOST_BINS = 256
_WIDEST_BIN = 2.0
_NUMBER = int | float | None
_REASON = str | dict[str, Any] | None
"""A reason, or the sentence of an older version."""
_PLACE = {"cell": str, "n": int, "round": int, "anchor": bool}
_START = {
    **dict.fromkeys(("run", "host_id", "boot_id", "started_utc", "again"), str),
    **dict.fromkeys(("spec", "host"), dict[str, Any]),
    "pid": int | None,
    "pid_start": int | None,
    "versions": dict[str, str],
}
_FIELDS: dict[str, dict[str, Any]] = {
    "run_start": _START,
    "sitting": _START,
    "waiting": {"place": int, "holder": dict[str, Any] | None, "words": str},
    "granted": {"waited_s": _NUMBER, "shared": bool},
    "plan": {"inputs_sha256": str | None},
    "execution_start": _PLACE,
    "execution_done": {**_PLACE, "wall_s": _NUMBER, "result": dict[str, Any]},
    "execution_failed": {**_PLACE, "wall_s": _NUMBER, "again": bool, "failure": dict[str, Any]},
    "cell_done": {"cell": str, "stopped_by": _REASON},
    "warning": {"cell": str | None, "message": _REASON, "keep_io": str | None},
    "extended": {"wish": str, "limit_s": _NUMBER, "executions": int, "cells": dict[str, dict[str, Any]]},
    "profile_part": {"part": str, "n": int | None, "id": str | None, "level": str, "begin": dict[str, Any] | None},
    "progress": {
        **dict.fromkeys(("cell", "stage", "phase", "grade"), str | None),
        "activity": _REASON,
        **dict.fromkeys(("eta_s", "p50_ms", "half_width_pct"), _NUMBER),
        **dict.fromkeys(("n", "round", "done", "of", "live"), int | None),
    },
    "run_end": {
        **dict.fromkeys(("status", "project", "note"), str | None),
        **dict.fromkeys(("reason", "why"), _REASON),
        **dict.fromkeys(("cells", "cells_done", "executions", "exit_code"), int | None),
        "saved": bool | None,
        "error": dict[str, Any] | None,
    },
}
"""Types of the fields that readers rely on; readers handle missing fields themselves."""
_INNER: dict[str, dict[str, Any]] = {
    "holder": {"pid": int, "user": str, "run": str, "eta_s": _NUMBER, "stopped": bool},
    "begin": {"points": int | None, "ms_each": _NUMBER},
    "error": {"message": str, "hint": str | None, "reason": _REASON, "exit_code": int},
}
"""The same for objects inside an event."""
_NOT_NEGATIVE = ("timed_s", "seconds_ran", "mean_ns", "std_ns", "floor_ns", "effective_n", "calls_per_s", "load_ms")


def is_sane(value: Any) -> bool:
    """Return whether a JSON value has limited depth and every number is in the range of a clock or counter."""
    level = [value]
    for _ in range(_MOST_DEEP):
        below: list[Any] = []
        for each in level:
            kind = type(each)
            if kind is float or kind is int:
                if not -_LARGEST <= each < _LARGEST:
                    return False
            elif kind is dict:
                below.extend(each.values())
            elif kind is list:
                below.extend(each)
        if not below:
            return True
        level = below
    return False


def plain_error(error: TuibenchError) -> dict[str, Any]:
    """Return the field `error` of an event."""
    return {"reason": to_plain(error.reason), "exit_code": int(error.exit_code)}


def read_error(plain: Mapping[str, Any]) -> TuibenchError:
    """Return the error in an event's `error` field; an older version wrote its message and hint."""
    if "reason" in plain:
        reason = from_plain(Reason, plain["reason"])
        if reason is None:
            raise ValueError("an error without a code")
        error = TuibenchError.from_reason(reason)
    else:
        legacy = because(LEGACY_TEXT, text=str(plain.get("message") or ""), hint=str(plain.get("hint") or ""))
        error = TuibenchError.from_reason(legacy)
    error.exit_code = ExitCode(int(plain.get("exit_code") or ExitCode.SOME_FAILED))
    return error


def has_envelope(event: Mapping[str, Any]) -> bool:
    """Return whether an event has its type, number and time."""
    numbers = (event.get("seq"), event.get("t_ns"), event.get("v", 1))
    return type(event.get("ev")) is str and all(type(each) is int and each >= 0 for each in numbers)


def check_fields(event: Mapping[str, Any]) -> None:
    """Raise TypeError or ValueError if a field of an event is invalid."""
    fields = _FIELDS.get(event["ev"], {})
    _check(event, fields)
    for name, inner in _INNER.items():
        if name in fields and event.get(name) is not None:
            _check(event[name], inner)
    if event["ev"] == "run_end":
        ExitCode(event.get("exit_code") or 0)
        if event.get("error"):
            read_error(event["error"])
    for bounds in event["cells"].values() if event["ev"] == "extended" else ():
        _check(bounds, {"limit_s": int | float, "executions": int})


def _check(found: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
    for name, kind in fields.items():
        if name not in found:
            continue
        value = found[name]
        if not fits(kind, value):
            raise TypeError(f"{name} is of another type")
        # Executions of the anchor count downwards.
        if name != "n" and type(value) in (int, float) and value < 0:
            raise ValueError(f"{name} is below zero")


def check_spec(spec: BenchmarkSpec) -> BenchmarkSpec:
    """Return a specification that a run can have; raise ValueError for others."""
    asked, effort = spec.profile, spec.effort
    axes = (*spec.cores, *spec.batches, *spec.sequence_lengths, spec.inputs.distinct, effort.max_executions)
    times = (effort.timed_s, effort.warmup_s, effort.limit_s, effort.min_executions)
    if not spec.models or not spec.engines or min(axes) < 1 or min(times) < 0:
        raise ValueError("no specification of a run")
    if asked is not None and not (1 <= asked.processes <= _MOST_PROCESSES and spec.cores and asked.levels):
        raise ValueError("no specification of a profile")
    return spec


def check_plan(models: int, points: Sequence[Point], cells: Sequence[Cell]) -> None:
    """Raise ValueError if a cell has no model or point, or a point no model."""
    ids = {point.id for point in points}
    if any(cell.point not in ids for cell in cells):
        raise ValueError("a cell without its point")
    if any(not 0 <= model < models for model in (*(p.model for p in points), *(c.model for c in cells))):
        raise ValueError("a cell without its model")
    if any(point.items < 1 for point in points) or any(cell.asked.cores < 1 for cell in cells):
        raise ValueError("a cell of nothing")


def check_execution(execution: Execution) -> Execution:
    """Return an execution with plausible figures; raise ValueError for others."""
    if execution.iterations < 1 or execution.p50_ns <= 0:
        raise ValueError("an execution without iterations")
    if min(*(getattr(execution, name) for name in _NOT_NEGATIVE), *execution.percentiles_ns.values()) < 0:
        raise ValueError("a time below zero")
    bins = execution.histogram
    counts = (*bins["counts"], bins["under"], bins["over"])
    if not 0 < bins["ratio"] <= _WIDEST_BIN or not bins["low_ns"] > 0 or len(counts) > _MOST_BINS + 2:
        raise ValueError("a histogram that no execution has")
    if any(type(count) is not int or count < 0 for count in counts) or not sum(counts):
        raise ValueError("a histogram without counts")
    return execution


_ALWAYS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def open_regular(path: Path, flags: int = os.O_RDONLY) -> int:
    """Open a regular file; raise OSError for anything else, links included."""
    descriptor = os.open(path, flags | _ALWAYS, 0o600)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return descriptor


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
    """Encode one line: checksum, space, JSON, line feed."""
    body = json.dumps(event, separators=(",", ":"), allow_nan=False).encode()
    return b"%08x %s\n" % (zlib.crc32(body), body)


def decode(line: bytes) -> dict[str, Any] | None:
    """Return the object of a line, or None if the line is torn, damaged or invalid."""
    check, _, body = line.rstrip(b"\n").partition(b" ")
    try:
        if int(check, 16) != zlib.crc32(body):
            return None
        event = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and is_sane(event) else None


def decode_event(line: bytes) -> dict[str, Any] | None:
    """Return the event of a journal line, or None if it is not an event."""
    event = decode(line)
    return event if event is not None and has_envelope(event) else None


class JournalBroken(StoreError):
    """The journal cannot be written any more; existing events stay."""


class DiskFull(JournalBroken):
    """The disk is full; the event that met this is still written."""


class Journal:
    """Appends each event with one write, so that a reader never sees half of an acknowledged event.

    A reserve file is deleted when the disk is full, so that the last result and the end event still fit.
    """

    def __init__(self, run_dir: Path, seq: int = 0) -> None:
        self._reserve = run_dir / _RESERVE
        self._fd = open_regular(run_dir / NAME, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._seq = seq
        self.latest: dict[str, Any] = {}
        """The last progress event, for queries of the time left."""
        _fill(self._reserve)
        if not seq:
            self._sync_name(run_dir)

    def append(self, ev: str, **fields: Any) -> None:
        """Write one event; sync it to disk if its type is durable."""
        plain = {name: to_plain(value) if isinstance(value, Reason) else value for name, value in fields.items()}
        line = encode({"v": REASONS, "seq": self._seq, "t_ns": time.monotonic_ns(), "ev": ev, **plain})
        try:
            full = not self._write_whole(line, ev in DURABLE)
        except OSError as error:
            raise JournalBroken("journal_unwritable", text=error.strerror or str(error)) from error
        self._seq += 1
        if ev == "progress":
            self.latest = fields
        if full:
            raise _disk_full()

    def _write_whole(self, line: bytes, durable: bool) -> bool:
        """Write a line; return false if that needed the reserve, and raise OSError if that failed, too."""
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
            # Remove a partial line, and a line whose sync failed, as it may be written again.
            os.ftruncate(self._fd, before)
            raise

    def _sync_name(self, run_dir: Path) -> None:
        """Sync the directory: a file is only as durable as its name."""
        directory = os.open(run_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def close(self) -> None:
        """Close the descriptor and delete the reserve."""
        os.close(self._fd)
        self._reserve.unlink(missing_ok=True)


def require_room(run_dir: Path) -> None:
    """Raise DiskFull if there is no space even for recording a failure."""
    found = os.statvfs(run_dir)
    if found.f_bavail * found.f_frsize < _LEAST_BYTES:
        raise _disk_full()


def _disk_full() -> DiskFull:
    return DiskFull("disk_full")


def _fill(path: Path) -> None:
    """Allocate real blocks: a sparse file would reserve nothing."""
    descriptor = open_regular(path, os.O_WRONLY | os.O_CREAT)
    try:
        os.posix_fallocate(descriptor, 0, _RESERVE_BYTES)
    finally:
        os.close(descriptor)


class Follower:
    """Reads events appended since the last call; costs one stat if there are none."""

    def __init__(self, run_dir: Path) -> None:
        self._path = run_dir / NAME
        self.offset = 0
        """End of the last accepted line."""
        self.damaged: list[int] = []
        """Line numbers from 1 of unreadable lines."""
        self._lines = self._events = self._seqs = 0

    def read(self) -> list[dict[str, Any]]:
        """Return the new events; none if there is no journal."""
        try:
            return self.read_new() if os.stat(self._path).st_size > self.offset else []
        except FileNotFoundError:
            return []

    def read_new(self) -> list[dict[str, Any]]:
        """Return the new events; leave a torn or unreadable last line, which its writer may write again."""
        with os.fdopen(open_regular(self._path), "rb") as handle:
            handle.seek(self.offset)
            data = handle.read()
        *lines, torn = data.split(b"\n")
        decoded = [decode_event(line) for line in lines]
        if decoded and decoded[-1] is None and not torn:
            lines.pop()
            decoded.pop()
        self.damaged += [number for number, event in enumerate(decoded, self._lines + 1) if event is None]
        self._lines += len(lines)
        self.offset += sum(map(len, lines)) + len(lines)
        events = [event for event in decoded if event is not None]
        self._events += len(events)
        self._seqs = max(self._seqs, *(int(event["seq"]) + 1 for event in events)) if events else self._seqs
        return events

    @property
    def lost(self) -> int:
        """Return the number of missing sequence numbers."""
        return max(0, self._seqs - self._events)

    @property
    def missing(self) -> int:
        """Return the number of unreadable or lost lines."""
        return len(self.damaged) or self.lost


def read_events(run_dir: Path) -> Iterator[dict[str, Any]]:
    """Yield every readable event of a run; skip damaged lines and a torn tail."""
    with (run_dir / NAME).open("rb") as handle:
        for line in handle:
            event = decode_event(line)
            if event is not None:
                yield event


@dataclass(frozen=True, slots=True)
class History:
    """A whole journal, with counts of its unreadable parts."""

    events: tuple[dict[str, Any], ...]
    damaged: tuple[int, ...]
    """Line numbers from 1; a last line torn by the writer's end is not damage."""
    lost: int
    """Number of missing sequence numbers."""
    whole_bytes: int
    """Offset for the next writer: behind the last readable line."""

    @property
    def missing(self) -> int:
        """Return the number of unreadable or lost lines."""
        return len(self.damaged) or self.lost

    @property
    def next_seq(self) -> int:
        """Return the sequence number of the next event."""
        return max(int(event["seq"]) for event in self.events) + 1 if self.events else 0


def read_history(run_dir: Path) -> History:
    """Read the journal as far as possible; raise StoreError if there is none."""
    follower = Follower(run_dir)
    try:
        events = follower.read_new()
    except OSError as error:
        raise StoreError("journal_unopened", run=run_dir.name, text=error.strerror) from error
    return History(tuple(events), tuple(follower.damaged), follower.lost, follower.offset)


def cut_tail(run_dir: Path, history: History) -> None:
    """Cut off an unfinished last line; damage before the last whole line stays for inspection."""
    descriptor = open_regular(run_dir / NAME, os.O_WRONLY)
    try:
        os.ftruncate(descriptor, history.whole_bytes)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
