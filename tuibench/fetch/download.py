"""Downloads one file into the cache, whole or not at all."""

from __future__ import annotations

import hashlib
import http.client
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tuibench.core.errors import ModelError, WriteError
from tuibench.core.text import show
from tuibench.core.units import size
from tuibench.fetch.address import Address
from tuibench.fetch.shelf import ModelCache
from tuibench.fetch.web import Answer, Web, why

if TYPE_CHECKING:
    from hashlib import _Hash

_PIECE_BYTES = 1 << 18
_LOOK_EVERY_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Terms:
    """Limits of one download."""

    stall_s: float = 30.0
    most_bytes: int = 1 << 31
    """Largest model: a protobuf file cannot be longer."""
    spare_bytes: int = 200_000_000
    """Disk space that must stay free."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file to fetch, with its size and checksum if known."""

    address: Address
    name: str
    bytes: int | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """A file in the cache."""

    path: str
    bytes: int
    sha256: str
    fetched: int
    """Bytes downloaded for it in this call."""


class Download:
    """Downloads one file; calls `tell` with the bytes received and the total."""

    def __init__(
        self, wanted: Wanted, cache: ModelCache, web: Web, terms: Terms, tell: Callable[[int, int | None], None]
    ) -> None:
        self._wanted = wanted
        self._cache = cache
        self._web = web
        self._terms = terms
        self._tell = tell

    def carry_out(self) -> Kept:
        """Return the file; download it unless it is cached. A failed download leaves no file behind."""
        here = find_kept(self._cache, self._wanted.name)
        if here is not None:
            return here
        answer = self._web.ask(self._wanted.address)
        try:
            return self._take(answer)
        except BaseException:
            self._cache.forget(f"{self._wanted.name}.part")
            raise
        finally:
            answer.close()

    def _take(self, answer: Answer) -> Kept:
        # Remove the remains of a killed process, or a link that somebody planted.
        self._cache.forget(f"{self._wanted.name}.part")
        self._check_size(answer.body_bytes)
        digest = hashlib.sha256()
        with open(self._cache.open_part(self._wanted.name), "wb", buffering=0) as part:
            arrived = self._receive(answer, part.fileno(), digest)
            os.fsync(part.fileno())
        return self._keep(digest.hexdigest(), arrived)

    def _receive(self, answer: Answer, part: int, digest: _Hash) -> int:
        have = looked = 0
        total = answer.body_bytes
        self._tell(have, total)
        while total is None or have < total:
            try:
                piece = answer.read(_PIECE_BYTES if total is None else min(_PIECE_BYTES, total - have))
            except (OSError, http.client.HTTPException) as error:
                raise self._cut(have, total, why(error, self._terms.stall_s)) from None
            if not piece:
                break
            if have + len(piece) > self._terms.most_bytes:
                raise self._too_long(f"more than {size(self._terms.most_bytes)}")
            if have - looked >= _LOOK_EVERY_BYTES:
                looked = have
                self._check_room(0)
            _write_all(part, piece)
            digest.update(piece)
            have += len(piece)
            self._tell(have, total)
        if total is not None and have < total:
            raise self._cut(have, total, "the connection was closed")
        return have

    def _keep(self, sha256: str, arrived: int) -> Kept:
        expected = self._wanted.sha256
        if expected not in (None, sha256):
            what = f"{self._shown} arrived as {sha256[:12]}… instead of {show(expected, 12)}"
            raise ModelError(what, "it was changed on the way; fetch it again")
        note = {"address": self._shown, "bytes": arrived, "sha256": sha256}
        self._cache.write_note(self._wanted.name, note)
        self._cache.finish(self._wanted.name)
        return Kept(self._cache.path(self._wanted.name), arrived, sha256, arrived)

    def _check_size(self, total: int | None) -> None:
        if total is None:
            self._check_room(0)
            return
        if total > self._terms.most_bytes:
            raise self._too_long(size(total))
        if self._wanted.bytes not in (None, total):
            what = f"{self._shown} has {total} bytes instead of {self._wanted.bytes}"
            raise ModelError(what, "the repository has changed; fetch it again")
        self._check_room(total)

    def _check_room(self, needed: int) -> None:
        free = self._cache.free_bytes() - self._terms.spare_bytes
        if needed > free or free < 0:
            room = f"{size(max(free, 0))} can be used in {show(self._cache.directory)}"
            what = f"{self._shown} needs {size(needed)} more, and {room}" if needed else f"{self._shown}: {room}"
            raise WriteError(what, "free some space, or set TUIBENCH_HOME elsewhere")

    def _too_long(self, found: str) -> ModelError:
        what = f"{self._shown} has {found}, more than the 2 GB that a model's format can hold"
        return ModelError(what, "check that the address is that of a model")

    def _cut(self, have: int, total: int | None, reason: str) -> ModelError:
        of = "" if total is None else f" of {size(total)}"
        return ModelError(f"the download of {self._shown} broke off ({reason}) after {size(have)}{of}", "try it again")

    @property
    def _shown(self) -> str:
        return self._wanted.address.shown


def find_kept(cache: ModelCache, name: str) -> Kept | None:
    """Return a file that was fetched earlier and is complete, else None."""
    note = cache.read_note(name)
    path = cache.path(name)
    if not isinstance(note.get("sha256"), str) or note.get("bytes") != cache.size(path):
        return None
    return Kept(path, int(note["bytes"]), note["sha256"], 0)


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
