"""Checksums of model files, cached while device, inode, size and mtime stay the same, because models have gigabytes."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tuibench.core.errors import ModelError
from tuibench.core.project import FileStamp
from tuibench.core.text import show
from tuibench.models.file import open_regular

_FILE = "checksums.json"
_MOST_KEPT = 2000
_PIECE_BYTES = 4 << 20
_YOUNG_NS = 2_000_000_000
"""A file this young may change again without a new mtime, so its checksum is not cached."""


class Checksums:
    """Checksum cache; without a directory it lasts as long as the object."""

    def __init__(self, cache: str | None = None, clock_ns: Callable[[], int] = time.time_ns) -> None:
        self._path = None if cache is None else os.path.join(cache, _FILE)
        self._clock_ns = clock_ns
        self._known = _load(self._path)
        self._new: dict[str, str] = {}
        self.read_bytes = 0
        """Bytes hashed so far."""

    def stamps(self, paths: Sequence[Path], first: bytes | None = None) -> tuple[tuple[FileStamp, ...], str]:
        """Return the stamp of each file and the sha256 of their concatenation; `first` is the first file's content."""
        found = [os.stat(path) for path in paths]
        keys = [_key(one) for one in found]
        whole = "+".join(keys) if len(keys) > 1 else keys[0]
        known = [self._known.get(key) for key in (*keys, whole)]
        if None in known:
            known = self._hash(paths, found, [*keys, whole], first)
        digests = [str(one) for one in known]
        stamps = zip(paths, found, digests[:-1], strict=True)
        return tuple(FileStamp(str(p), s.st_size, s.st_mtime_ns, d) for p, s, d in stamps), digests[-1]

    def stamp_or_none(self, path: str) -> FileStamp | None:
        """Return the stamp of one file; None if it cannot be read."""
        try:
            return self.stamps([Path(path)])[0][0]
        except (OSError, ValueError, ModelError):
            return None

    def save(self) -> None:
        """Write new checksums to the cache; ignore write errors, as the files can be hashed again."""
        if self._path is None or not self._new:
            return
        merged = {**_load(self._path), **self._new}
        kept = dict(list(merged.items())[-_MOST_KEPT:])
        temporary = f"{self._path}.{os.getpid()}.tmp"
        try:
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
            with open(os.open(temporary, flags, 0o600), "w", encoding="ascii") as handle:
                json.dump(kept, handle)
            os.replace(temporary, self._path)
        except OSError:
            return

    def _hash(
        self, paths: Sequence[Path], found: Sequence[os.stat_result], keys: list[str], first: bytes | None
    ) -> list[str | None]:
        total = hashlib.sha256()
        digests = []
        for index, path in enumerate(paths):
            own = hashlib.sha256()
            for piece in [first] if first is not None and index == 0 else _pieces(path):
                own.update(piece)
                if len(paths) > 1:
                    total.update(piece)
                self.read_bytes += len(piece)
            digests.append(own.hexdigest())
        digests.append(total.hexdigest() if len(paths) > 1 else digests[0])
        if [_key(os.stat(path)) for path in paths] != keys[:-1] or (
            first is not None and len(first) != found[0].st_size
        ):
            raise ModelError(f"{show(paths[0])} changed while it was read", "run it again")
        if all(self._clock_ns() - one.st_mtime_ns >= _YOUNG_NS for one in found):
            self._new.update(zip(keys, digests, strict=True))
            self._known.update(self._new)
        return list(digests)


def _pieces(path: Path) -> Iterator[bytes]:
    with open(open_regular(path), "rb", buffering=0) as file:
        while piece := file.read(_PIECE_BYTES):
            yield piece


def _key(found: os.stat_result) -> str:
    return f"{found.st_dev}:{found.st_ino}:{found.st_size}:{found.st_mtime_ns}"


def _load(path: str | None) -> dict[str, str]:
    """Return the cached checksums; none if the cache is missing or damaged."""
    if path is None:
        return {}
    try:
        with open(path, encoding="ascii") as handle:
            found = json.load(handle)
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {key: value for key, value in found.items() if isinstance(value, str) and len(value) == 64}
