"""Short names for ids: the form shown on screen and the forms users may type."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tuibench.core.errors import StoreError, UnknownId

LENGTH = 4
_LAST = re.compile(r"last(?:~(\d{1,9}))?", re.IGNORECASE)
_LIKE = str.maketrans("ILO", "110")
"""Letters that ids do not use, mapped to the digits they look like."""
_SHOWN = 8


def short_id(ulid: str) -> str:
    """Return a benchmark's id as shown on screen."""
    return ulid[-LENGTH:].lower()


def short_ids(ulids: Iterable[str]) -> dict[str, str]:
    """Return a unique short name for each: four characters, more only if four are shared."""
    every = list(dict.fromkeys(ulids))
    names: dict[str, str] = {}
    length = LENGTH
    left = every
    while left:
        ends: dict[str, list[str]] = {}
        for ulid in every:
            ends.setdefault(ulid[-length:], []).append(ulid)
        for ulid in left:
            if len(ends[ulid[-length:]]) == 1 or length >= len(ulid):
                names[ulid] = ulid[-length:].lower()
        left = [ulid for ulid in left if ulid not in names]
        length += 1
    return names


def resolve(token: str, ids: Sequence[str], rerun_of: Mapping[str, str], noun: str = "benchmark") -> str:
    """Return the one id of `ids`, newest first, that matches the token: its end or beginning, last, last~1, or ID~.

    Raise UnknownId with the candidates if none or several match.
    """
    typed = token.strip()
    if typed.endswith("~"):
        newer = resolve(typed[:-1], ids, rerun_of, noun)
        older = rerun_of.get(newer, "")
        if not older:
            raise UnknownId("id_repeats_none", noun=noun, id=newer)
        return older
    if found := _LAST.fullmatch(typed):
        place = int(found[1] or 0)
        if place < len(ids):
            return ids[place]
        raise UnknownId("id_past_oldest", noun=noun, given=typed, **_list_fields(ids))
    return _match(typed, ids, noun)


def _match(typed: str, ids: Sequence[str], noun: str) -> str:
    wanted = typed.upper().translate(_LIKE)
    if not wanted:
        raise UnknownId("id_empty", noun=noun, **_list_fields(ids))
    if wanted in ids:
        return wanted
    ends = [one for one in ids if one.endswith(wanted)]
    # An id shown on screen matches exactly, even if other ids begin with the same characters.
    if len(ends) == 1 and len(wanted) >= LENGTH:
        return ends[0]
    candidates = list(dict.fromkeys(ends + [one for one in ids if one.startswith(wanted)]))
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        raise UnknownId("id_unknown", noun=noun, given=typed, **_list_fields(ids))
    raise UnknownId("id_ambiguous", noun=noun, given=typed, **_list_fields(candidates))


def _list_fields(ids: Sequence[str]) -> dict[str, Any]:
    """Return the first ids and their count, as fields of an error."""
    return {"ids": list(ids[:_SHOWN]), "count": len(ids)}


_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def make_ulid(time_ms: int, entropy: bytes) -> str:
    """Return the 26 characters for a time and ten random bytes; the caller provides both."""
    if len(entropy) != 10:
        raise ValueError("a ULID takes ten random bytes")
    value = (time_ms << 80) | int.from_bytes(entropy, "big")
    return "".join(_ALPHABET[(value >> shift) & 31] for shift in range(125, -1, -5))


_DRAWS = 1000


def draw_ulid(time_ms: int, entropy: Callable[[int], bytes], taken: Iterable[str]) -> str:
    """Return a new id whose short form is none of the short forms in `taken`; raise StoreError if none is free."""
    ends = {one[-LENGTH:] for one in taken}
    for _ in range(_DRAWS):
        ulid = make_ulid(time_ms, entropy(10))
        if ulid[-LENGTH:] not in ends:
            return ulid
    raise StoreError("no_free_id", attempts=_DRAWS)
