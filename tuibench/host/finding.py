"""The type of a `doctor` finding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Facts = Mapping[str, Any]
"""The result of `checkup.examine`."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause of worse or less certain numbers: the observation, why it matters and how to fix it."""

    topic: str
    level: str
    """harm: numbers suffer now; note: matters when numbers are compared."""
    seen: str
    why: str
    mend: str
