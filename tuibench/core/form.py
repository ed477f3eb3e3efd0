"""The forms of what is written: each thing states the least one whose readers understand it.

So what has not changed stays readable for every version, and what one cannot understand it can tell by a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tuibench.core.errors import StoreNewer
from tuibench.core.profile_spec import KINDS
from tuibench.core.text import show

BENCHMARK, PROFILE, FACTS = 1, 2, 3
"""FACTS is a record of the store without sentences; exports have them and stay as they were."""
NEWEST = FACTS
"""The newest form that this version reads; records, journals, requests and exports count alike."""

_HINT = "Use that version, or a newer one. Nothing is wrong with it."


def form_of(spec: Mapping[str, Any]) -> int:
    """The form of what comes of a specification, which is given in plain values."""
    return BENCHMARK if spec.get("profile") is None else PROFILE


def require_form(what: str, number: object, versions: object = None) -> None:
    """StoreNewer where `number` is a form that this version does not know; `versions` may say who wrote it."""
    if type(number) is int and number > NEWEST:
        tool = versions.get("tuibench") if isinstance(versions, Mapping) else None
        who = f"tuibench {show(tool, 30)}" if isinstance(tool, str) and tool else "a newer tuibench"
        raise StoreNewer(f"{what} was written by {who} (schema {number}): this version cannot read it", _HINT)


def require_kind(what: str, spec: object) -> None:
    """StoreNewer where a specification in plain values asks for a kind of profile that this version does not make."""
    asked = spec.get("profile") if isinstance(spec, Mapping) else None
    kind = asked.get("kind") if isinstance(asked, Mapping) else None
    if isinstance(kind, str) and kind not in KINDS:
        raise StoreNewer(f"{what} is a profile of a kind that this version does not know: {show(kind, 30)}", _HINT)
