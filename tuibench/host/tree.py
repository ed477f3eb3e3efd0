"""Reads small kernel files below a root that tests can replace with a recorded machine."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_CHUNK = 65536
_LIMIT = 4 << 20


@dataclass(frozen=True, slots=True)
class Tree:
    """Files below a root; unreadable ones read as None, because every source is missing on some machine."""

    root: Path = Path("/")

    def at(self, path: str) -> str:
        """Return the real path of `path`, given without a leading slash."""
        return os.path.join(self.root, path.lstrip("/"))

    def read(self, path: str, limit: int = _LIMIT) -> str | None:
        """Return the stripped text of a file, at most about `limit` bytes."""
        try:
            descriptor = os.open(self.at(path), os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            return _drain(descriptor, limit).decode("utf-8", "replace").strip()
        except OSError:
            return None
        finally:
            os.close(descriptor)

    def number(self, path: str) -> int | None:
        """Return the integer in a file."""
        return to_int(self.read(path))

    def entries(self, path: str) -> list[str]:
        """Return the sorted names in a directory; empty if it is missing."""
        try:
            return sorted(os.listdir(self.at(path)))
        except OSError:
            return []

    def exists(self, path: str) -> bool:
        """Return whether `path` exists."""
        return os.path.exists(self.at(path))


def _drain(descriptor: int, limit: int) -> bytes:
    # A file in /proc may return fewer bytes than requested long before its end.
    parts: list[bytes] = []
    size = 0
    while size < limit and (part := os.read(descriptor, min(_CHUNK, limit - size))):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def to_int(text: str | None) -> int | None:
    """Return the integer in `text`, or None."""
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


def parse_cpus(text: str | None) -> tuple[int, ...]:
    """Return the numbers of a kernel list such as `0-3,8`; ignore parts that are not numbers."""
    found: set[int] = set()
    for part in (text or "").split(","):
        low, _, high = part.strip().partition("-")
        first = to_int(low)
        last = to_int(high) if high else first
        if first is not None and last is not None and last - first < 1 << 16:
            found.update(range(first, last + 1))
    return tuple(sorted(found))


def parse_pairs(text: str | None) -> dict[str, int]:
    """Return the `name number` or `name: number kB` lines of a kernel file; kB are converted to bytes."""
    pairs: dict[str, int] = {}
    for line in (text or "").splitlines():
        words = line.split()
        value = to_int(words[1]) if len(words) > 1 else None
        if value is not None:
            pairs[words[0].rstrip(":")] = value * 1024 if words[2:3] == ["kB"] else value
    return pairs
