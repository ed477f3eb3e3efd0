"""Frames between processes: four bytes of length, then UTF-8 JSON; pickles may not load in another interpreter."""

from __future__ import annotations

import json
import os
import struct
from typing import Any

_HEAD = struct.Struct(">I")
_LIMIT = 64 << 20


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
        raise ValueError(f"a frame of {length} bytes is no frame of ours")
    return dict(json.loads(_exactly(fd, length)))


def _exactly(fd: int, count: int) -> bytes:
    parts: list[bytes] = []
    while count:
        part = os.read(fd, count)
        if not part:
            raise EOFError("the other side closed the channel")
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
                raise ValueError(f"a frame of {length} bytes is no frame of ours")
            end = _HEAD.size + length
            if len(self._buffer) < end:
                break
            frames.append(dict(json.loads(self._buffer[_HEAD.size : end])))
            del self._buffer[:end]
        return frames
