"""The form of what `doctor` objects to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Facts = Mapping[str, Any]
"""What `checkup.examine` gathers."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that makes numbers worse or less certain: what was seen, why it matters and what mends it."""

    topic: str
    level: str
    """harm: numbers suffer now; note: good to know when numbers are compared."""
    seen: str
    why: str
    mend: str
