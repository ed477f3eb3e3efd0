"""The truth about a run while it goes on: one checked line per event, appended whole, durable where a result is."""

from __future__ import annotations

import json
import os
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

VERSION = 1
NAME = "journal.jsonl"
DURABLE = frozenset({"run_start", "plan", "execution_done", "execution_failed", "cell_done", "run_end"})


def encode(event: dict[str, Any]) -> bytes:
    """One line: checksum, space, JSON, line feed."""
    body = json.dumps(event, separators=(",", ":"), allow_nan=False).encode()
    return b"%08x %s\n" % (zlib.crc32(body), body)


def decode(line: bytes) -> dict[str, Any] | None:
    """The event of a line, or None where the line is torn or damaged."""
    check, _, body = line.rstrip(b"\n").partition(b" ")
    try:
        if int(check, 16) != zlib.crc32(body):
            return None
        event = json.loads(body)
    except ValueError:
        return None
    return event if isinstance(event, dict) else None


class Journal:
    """Appends events; one write each, so that a reader never sees half an event that was acknowledged."""

    def __init__(self, run_dir: Path, seq: int = 0) -> None:
        self._fd = os.open(run_dir / NAME, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._seq = seq
        if seq:
            # Its first writer may have died in the middle of a line.
            os.write(self._fd, b"\n")

    def append(self, ev: str, **fields: Any) -> None:
        """Write one event and, where it carries a result, wait until the disk has it."""
        line = encode({"v": VERSION, "seq": self._seq, "t_ns": time.monotonic_ns(), "ev": ev, **fields})
        self._seq += 1
        written = os.write(self._fd, line)
        if written != len(line):
            raise OSError(f"the journal took {written} of {len(line)} bytes")
        if ev in DURABLE:
            os.fdatasync(self._fd)

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self._fd)


class Follower:
    """Reads what was appended since the last look; costs one fstat where nothing was."""

    def __init__(self, run_dir: Path) -> None:
        self._path = run_dir / NAME
        self._offset = 0
        self._rest = b""

    def read(self) -> list[dict[str, Any]]:
        """The new events; a line that is still being written waits for its end."""
        try:
            if os.stat(self._path).st_size <= self._offset:
                return []
            with self._path.open("rb") as handle:
                handle.seek(self._offset)
                data = handle.read()
        except FileNotFoundError:
            return []
        self._offset += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [event for event in map(decode, lines) if event is not None]


def read_events(run_dir: Path) -> Iterator[dict[str, Any]]:
    """Every whole event of a run; what follows a damaged line still counts, a torn tail does not."""
    with (run_dir / NAME).open("rb") as handle:
        for line in handle:
            event = decode(line)
            if event is not None:
                yield event
