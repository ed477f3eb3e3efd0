"""One file from an address to the shelf: whole, or continued where it was cut, or not at all."""

from __future__ import annotations

import hashlib
import http.client
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tuibench.core.errors import ModelError, WriteError
from tuibench.core.text import show
from tuibench.core.units import size
from tuibench.fetch.address import Address
from tuibench.fetch.shelf import Shelf
from tuibench.fetch.web import Answer, Web, why

if TYPE_CHECKING:
    from hashlib import _Hash

_PIECE_BYTES = 1 << 18
_LOOK_EVERY_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Terms:
    """Bounds of one download."""

    stall_s: float = 30.0
    most_bytes: int = 1 << 31
    """Of a model: its format can hold no more, so what is longer is none."""
    spare_bytes: int = 200_000_000
    """What must stay free on the disk."""
    refetch: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file to be had, and what is known of it beforehand."""

    address: Address
    name: str
    bytes: int | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """A file that lies on the shelf."""

    path: str
    bytes: int
    sha256: str
    fetched: int
    """Bytes that crossed the network for it now."""


class Download:
    """Fetches one file; `tell` hears how many bytes of it are here and how many there will be."""

    def __init__(
        self, wanted: Wanted, shelf: Shelf, web: Web, terms: Terms, tell: Callable[[int, int | None], None]
    ) -> None:
        self._wanted = wanted
        self._shelf = shelf
        self._web = web
        self._terms = terms
        self._tell = tell
        self._note = f"{wanted.name}.part"

    def carry_out(self) -> Kept:
        """The file, fetched only as far as it is not here."""
        here = find_kept(self._shelf, self._wanted.name)
        if here is not None and (not self._terms.refetch or here.sha256 == self._wanted.sha256):
            return here
        return self._fetch(here)

    def _fetch(self, here: Kept | None) -> Kept:
        have = 0 if here is not None else self._resumable()
        answer = self._web.ask(self._wanted.address, self._conditions(here, have))
        if answer.status == 416 or (answer.status == 206 and not self._continues(answer, have)):
            answer.close()
            have = 0
            answer = self._web.ask(self._wanted.address, {})
        try:
            if here is not None and answer.status == 304:
                return here
            if answer.status == 206 and have:
                return self._take(answer, have)
            if answer.status == 200:
                return self._take(answer, 0)
            what = f"{self._shown}: the server answered {answer.status} to a plain request"
            raise ModelError(what, "try another address")
        finally:
            answer.close()

    def _resumable(self) -> int:
        """How much of it is here and can be trusted: what was being written when the power went cannot."""
        note = self._shelf.read_note(self._note)
        have = self._shelf.size(self._shelf.part(self._wanted.name)) or 0
        return have if note.get("boot") == _boot_id() and _validator(note) else 0

    def _conditions(self, here: Kept | None, have: int) -> dict[str, str]:
        if here is not None:
            note = self._shelf.read_note(self._wanted.name)
            conditions = {"If-None-Match": note.get("etag"), "If-Modified-Since": note.get("last_modified")}
            return {name: value for name, value in conditions.items() if value}
        if have:
            return {"Range": f"bytes={have}-", "If-Range": _validator(self._shelf.read_note(self._note))}
        return {}

    def _continues(self, answer: Answer, have: int) -> bool:
        """Whether a partial answer is the rest of the same file: not every server heeds If-Range."""
        note = self._shelf.read_note(self._note)
        start, _, total = _read_range(answer.content_range)
        same = all(note.get(k) in (None, v) for k, v in (("etag", answer.etag), ("total", total)))
        return bool(have) and start == have and total is not None and same

    def _take(self, answer: Answer, have: int) -> Kept:
        total = _read_range(answer.content_range)[2] if have else answer.body_bytes
        self._check_size(total, have)
        note = {"etag": answer.etag, "last_modified": answer.last_modified, "total": total, "boot": _boot_id()}
        digest = hashlib.sha256()
        if have:
            _add_file(digest, self._shelf.part(self._wanted.name))
        with open(self._shelf.open_part(self._wanted.name, anew=not have), "wb", buffering=0) as part:
            # Before the first byte: no note may vouch for bytes of another file.
            self._shelf.write_note(self._note, note)
            arrived = self._receive(answer, part.fileno(), digest, have, total)
            os.fsync(part.fileno())
        return self._keep(note, digest.hexdigest(), arrived, arrived - have)

    def _receive(self, answer: Answer, part: int, digest: _Hash, have: int, total: int | None) -> int:
        self._tell(have, total)
        looked = have
        while total is None or have < total:
            try:
                piece = answer.read(_PIECE_BYTES if total is None else min(_PIECE_BYTES, total - have))
            except (OSError, http.client.HTTPException) as error:
                raise self._cut(answer, have, total, why(error, self._terms.stall_s)) from None
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
            raise self._cut(answer, have, total, "the connection was closed")
        return have

    def _keep(self, note: dict[str, Any], sha256: str, arrived: int, fetched: int) -> Kept:
        expected = self._wanted.sha256
        if expected not in (None, sha256):
            self._shelf.forget(f"{self._wanted.name}.part", f"{self._note}.json")
            what = f"{self._shown} arrived as {sha256[:12]}… instead of {show(expected, 12)}"
            raise ModelError(what, "it was changed on the way; fetch it again")
        self._shelf.write_note(
            self._wanted.name,
            {**note, "address": self._shown, "bytes": arrived, "sha256": sha256},
        )
        self._shelf.finish(self._wanted.name)
        return Kept(self._shelf.path(self._wanted.name), arrived, sha256, fetched)

    def _check_size(self, total: int | None, have: int) -> None:
        if total is None:
            self._check_room(0)
            return
        if total > self._terms.most_bytes:
            raise self._too_long(size(total))
        if self._wanted.bytes not in (None, total):
            what = f"{self._shown} has {total} bytes instead of {self._wanted.bytes}"
            raise ModelError(what, "the repository has changed; fetch it again")
        self._check_room(total - have)

    def _check_room(self, needed: int) -> None:
        free = self._shelf.free_bytes() - self._terms.spare_bytes
        if needed > free or free < 0:
            room = f"{size(max(free, 0))} can be used in {show(self._shelf.directory)}"
            what = f"{self._shown} needs {size(needed)} more, and {room}" if needed else f"{self._shown}: {room}"
            raise WriteError(what, "free some space, or set TUIBENCH_HOME elsewhere")

    def _too_long(self, found: str) -> ModelError:
        what = f"{self._shown} has {found}, more than the 2 GB that a model's format can hold"
        return ModelError(what, "check that the address is that of a model")

    def _cut(self, answer: Answer, have: int, total: int | None, reason: str) -> ModelError:
        of = "" if total is None else f" of {size(total)}"
        what = f"the download of {self._shown} broke off ({reason}): {size(have)}{of} are here"
        goes_on = _validator({"etag": answer.etag, "last_modified": answer.last_modified})
        return ModelError(
            what, "the same command again goes on from there" if goes_on else "this server can only start anew"
        )

    @property
    def _shown(self) -> str:
        return self._wanted.address.shown


def find_kept(shelf: Shelf, name: str) -> Kept | None:
    """A file that was fetched before and is whole."""
    note = shelf.read_note(name)
    path = shelf.path(name)
    if not isinstance(note.get("sha256"), str) or note.get("bytes") != shelf.size(path):
        return None
    return Kept(path, int(note["bytes"]), note["sha256"], 0)


def _validator(note: dict[str, Any]) -> str:
    """What tells whether a file is still the same; a weak tag promises no equal bytes."""
    etag = note.get("etag") or ""
    return etag if etag and not etag.startswith("W/") else note.get("last_modified") or ""


def _read_range(text: str | None) -> tuple[int | None, int | None, int | None]:
    """First, last and total of a Content-Range."""
    found = re.fullmatch(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", text or "")
    if found is None:
        return None, None, None
    first, last, total = map(int, found.groups())
    return first, last, total


def _add_file(digest: _Hash, path: str) -> None:
    with open(path, "rb") as handle:
        while piece := handle.read(1 << 20):
            digest.update(piece)


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return "unknown"
