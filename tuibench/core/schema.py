"""Schema versions of written files: each file records the lowest version that can read it.

Files without new features stay readable for older versions, and newer files are recognized by the number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tuibench.core.errors import StoreNewer
from tuibench.core.spec import KINDS

BENCHMARK, PROFILE, FACTS, REASONS = 1, 2, 3, 4
"""FACTS was a store record without the sentence of its headline; REASONS holds codes for every cause.

Exports keep their sentences, and BENCHMARK or PROFILE.
"""
NEWEST = REASONS
"""The newest schema version that this release reads; records, journals, requests and exports share the numbers."""


def schema_of(spec: Mapping[str, Any]) -> int:
    """Return the schema version for the result of a specification, given as plain values."""
    return BENCHMARK if spec.get("profile") is None else PROFILE


def require_form(number: object, versions: object = None) -> None:
    """Raise StoreNewer if a run has an unknown schema version; `versions` may name the release that wrote it."""
    if type(number) is int and number > NEWEST:
        tool = versions.get("tuibench") if isinstance(versions, Mapping) else None
        raise StoreNewer("run_newer", schema=number, version=tool if isinstance(tool, str) else None)


def require_kind(spec: object) -> None:
    """Raise StoreNewer if the specification of a run, in plain values, has an unknown kind of profile."""
    asked = spec.get("profile") if isinstance(spec, Mapping) else None
    kind = asked.get("kind") if isinstance(asked, Mapping) else None
    if isinstance(kind, str) and kind not in KINDS:
        raise StoreNewer("profile_kind_unknown", kind=kind)


Range = tuple[float, float]

CORES = (1, 65_536)
"""On any machine; on this one the maximum of `-ncores` is the number of usable cores."""
LENGTH = (1, 2**31 - 1)
"""No engine accepts a longer axis."""
SIZE = (0, 2**31 - 1)
"""Zero is a valid length: the past of a decoder at its first token."""
MAX_S = 10_000_000.0

AMOUNT = (0.0, math.inf)
"""A measured number that cannot be negative; it may be unknown (NaN)."""
COUNT = (1.0, math.inf)
"""A count of at least one."""


def holds(allowed: Range, value: float) -> bool:
    """Return whether `value` lies in the range."""
    low, high = allowed
    return low <= value <= high or (math.isnan(value) and high == math.inf)
