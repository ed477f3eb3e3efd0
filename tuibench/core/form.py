"""Schema versions of written files: each file records the lowest version that can read it.

Files without new features stay readable for older versions, and newer files are recognized by the number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tuibench.core.errors import StoreNewer
from tuibench.core.profile_spec import KINDS
from tuibench.core.text import show

BENCHMARK, PROFILE, FACTS = 1, 2, 3
"""FACTS is a store record without sentences; exports keep their sentences and version."""
NEWEST = FACTS
"""The newest schema version that this release reads; records, journals, requests and exports share the numbers."""

_HINT = "Use that version, or a newer one. Nothing is wrong with it."


def form_of(spec: Mapping[str, Any]) -> int:
    """Return the schema version for the result of a specification, given as plain values."""
    return BENCHMARK if spec.get("profile") is None else PROFILE


def require_form(what: str, number: object, versions: object = None) -> None:
    """Raise StoreNewer if `number` is an unknown schema version; `versions` may name the release that wrote it."""
    if type(number) is int and number > NEWEST:
        tool = versions.get("tuibench") if isinstance(versions, Mapping) else None
        who = f"tuibench {show(tool, 30)}" if isinstance(tool, str) and tool else "a newer tuibench"
        raise StoreNewer(f"{what} was written by {who} (schema {number}): this version cannot read it", _HINT)


def require_kind(what: str, spec: object) -> None:
    """Raise StoreNewer if a specification in plain values has an unknown kind of profile."""
    asked = spec.get("profile") if isinstance(spec, Mapping) else None
    kind = asked.get("kind") if isinstance(asked, Mapping) else None
    if isinstance(kind, str) and kind not in KINDS:
        raise StoreNewer(f"{what} is a profile of a kind that this version does not know: {show(kind, 30)}", _HINT)
