"""The task `fetch`: takes the name of a remote model and returns the path of its cached file."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tuibench.core.errors import UsageError
from tuibench.core.remote import FETCHED, public_name, remote_scheme
from tuibench.core.text import show
from tuibench.fetch.address import key_of, parse_address
from tuibench.fetch.download import Download, Kept, Terms, Wanted
from tuibench.fetch.hub import find_wanted
from tuibench.fetch.shelf import ModelCache, cannot_write
from tuibench.fetch.web import Web

_SPEAK_EVERY_S = 0.2

Send = Callable[[dict[str, Any]], None]


class Meter:
    """Sends {"fetched", "total"} a few times a second, and always at the start and end of a file."""

    def __init__(self, send: Send, clock: Callable[[], float] = time.monotonic) -> None:
        self._send = send
        self._clock = clock
        self._spoken_at = float("-inf")

    def at(self, fetched: int, total: int | None) -> None:
        """Report the progress."""
        now = self._clock()
        if fetched == 0 or fetched == total or now - self._spoken_at >= _SPEAK_EVERY_S:
            self._spoken_at = now
            self._send({"fetched": fetched, "total": total})


def fetch(request: dict[str, Any], send: Send) -> dict[str, Any]:
    """Fetch a model: takes {address, cache, stall_s?, most_bytes?, spare_bytes?}, returns path, checksum and sizes."""
    token = str(request["address"])
    terms = Terms()
    given = {name: request[name] for name in ("stall_s", "most_bytes", "spare_bytes") if name in request}
    terms = replace(terms, **given)
    scheme = remote_scheme(token)
    if scheme not in FETCHED:
        raise UsageError(f"{show(public_name(token), 120)} cannot be fetched", "give hf:ORG/REPO[/FILE] or https://…")
    address = parse_address(token) if scheme == "https" else None
    cache = ModelCache(str(request["cache"]), address.key if address is not None else key_of(token))
    web = Web(terms.stall_s)
    try:
        with cache.locked():
            if address is not None:
                wanted = [Wanted(address, address.file_name)]
            else:
                wanted = find_wanted(token, cache, terms.stall_s)
            kept = _fetch_all(wanted, cache, web, terms, Meter(send))
    except OSError as error:
        # Network errors are already raised as other types; the rest are disk errors.
        raise cannot_write(cache.directory, error) from error
    return {
        "path": kept[0].path,
        "name": wanted[0].name,
        "sha256": kept[0].sha256,
        "bytes": sum(one.bytes for one in kept),
        "fetched": sum(one.fetched for one in kept),
    }


def _fetch_all(wanted: list[Wanted], cache: ModelCache, web: Web, terms: Terms, meter: Meter) -> list[Kept]:
    """Fetch all files of a model; report one progress for all."""
    kept: list[Kept] = []
    after = [one.bytes for one in wanted[1:]]
    for index, one in enumerate(wanted):
        before = sum(done.bytes for done in kept)
        rest = after[index:]

        def tell(fetched: int, total: int | None, before: int = before, rest: list[int | None] = rest) -> None:
            known = None if total is None or None in rest else before + total + sum(b for b in rest if b is not None)
            meter.at(before + fetched, known)

        # The weights beside a model may be longer than the format allows for the model itself.
        bounds = terms if index == 0 or one.bytes is None else replace(terms, most_bytes=one.bytes)
        kept.append(Download(one, cache, web, bounds, tell).carry_out())
    return kept
