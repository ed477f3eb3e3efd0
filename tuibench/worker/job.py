"""Input of a worker, and the frames between processes: four bytes of length, then UTF-8 JSON."""

from __future__ import annotations

import json
import os
import re
import struct
from typing import Any

from tuibench.core.cell import Cell
from tuibench.core.model import Reference
from tuibench.core.scenario import Scenario
from tuibench.core.value import dataclass


@dataclass(frozen=True, slots=True)
class Job:
    """One execution to run."""

    cell: Cell
    scenario: Scenario
    """The cell's scenario, including the drive that this worker imports."""
    model_path: str
    bundle: str
    reference: Reference
    check: bool
    cpus: tuple[int, ...]
    streams: int
    stream_kind: str | None
    """The value of --stream-kind; None: choose by rule."""
    io: str | None
    """The I/O class requested or required by a comparison; None: the cheapest one that works."""
    timed_s: float
    warmup_s: float
    work_dir: str
    log_path: str
    samples_path: str
    keep_raw: bool
    memory_room_bytes: int | None
    memory_limit_bytes: int | None
    seed: int
    nodes: tuple[tuple[int, ...], ...] = ()
    """The CPUs of `cpus` on each NUMA node."""
    interpreter: str = ""
    """The Python of an engine that has its own; '' for that of tuibench."""
    weight_types: tuple[str, ...] = ()
    series_points: int = 64
    """Points of the time series; fewer if a cell may have many executions, because a stored cell is bounded."""
    histogram_bins: int = 256
    """Bins of the histogram, bounded for the same reason."""


_HEAD = struct.Struct(">I")
_LIMIT = 64 << 20
_MOST_LOG = 1 << 18
_ASSERTION = re.compile(r"\s*(?:F\d{4,8} [^]]{1,100}] (?P<logged>.+)|assert|fatal|received signal)", re.IGNORECASE)
"""A line in which a library says why it ends the process; glog puts time, thread and source before it."""


def encode(message: dict[str, Any]) -> bytes:
    """Return the message as one frame."""
    body = json.dumps(message, separators=(",", ":")).encode()
    return _HEAD.pack(len(body)) + body


def send(fd: int, message: dict[str, Any]) -> None:
    """Write one whole frame."""
    view = memoryview(encode(message))
    while view:
        view = view[os.write(fd, view) :]


def receive(fd: int) -> dict[str, Any]:
    """Block until a frame arrives; raise EOFError if the other process closed the channel."""
    (length,) = _HEAD.unpack(_exactly(fd, _HEAD.size))
    if length > _LIMIT:
        raise ValueError(f"a frame of {length} bytes is no valid frame")
    return dict(json.loads(_exactly(fd, length)))


def _exactly(fd: int, count: int) -> bytes:
    parts: list[bytes] = []
    while count:
        part = os.read(fd, count)
        if not part:
            raise EOFError("the other process closed the channel")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


class Assembler:
    """Collects frames from a non-blocking descriptor, so that one slow writer cannot block the supervisor."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """Add received bytes and return the frames completed by them."""
        self._buffer += data
        frames: list[dict[str, Any]] = []
        while len(self._buffer) >= _HEAD.size:
            (length,) = _HEAD.unpack_from(self._buffer)
            if length > _LIMIT:
                raise ValueError(f"a frame of {length} bytes is no valid frame")
            end = _HEAD.size + length
            if len(self._buffer) < end:
                break
            frames.append(dict(json.loads(self._buffer[_HEAD.size : end])))
            del self._buffer[:end]
        return frames


def find_assertion(log_path: str) -> str:
    """Return the line in which an engine says why it ends its process, above its stack trace; '' if there is none."""
    try:
        with open(log_path, encoding="utf-8", errors="replace") as log:
            lines = log.read(_MOST_LOG).splitlines()
    except OSError:
        return ""
    found = next((match for line in lines if (match := _ASSERTION.match(line))), None)
    return (found["logged"] or found.string).strip() if found else ""
