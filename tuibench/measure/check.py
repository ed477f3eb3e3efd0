"""Compares outputs of the path to be timed with the reference outputs."""

from __future__ import annotations

import math
from typing import Any

from tuibench.core.cell import Check
from tuibench.core.model import Reference

_REDUCED = ("f16", "bf16")
_REDUCED_TOLERANCE = 3e-2


def check_outputs(outputs: dict[str, Any], reference: Reference, precision: str | None) -> Check:
    """Return agrees or differs by the rule of equal work; unchecked, with the reason, without a reference."""
    from tuibench.arrays.bundle import read_bundle, read_dtypes
    from tuibench.arrays.difference import compare, differs

    if reference.file is None or reference.tolerance is None:
        return Check("unchecked", None, None, reference.reason or "no reference outputs")
    if not outputs:
        return Check("unchecked", None, None, "the engine computes no outputs")
    tolerance = max(reference.tolerance, _REDUCED_TOLERANCE) if precision in _REDUCED else reference.tolerance
    found = compare(read_bundle(reference.file)[0], outputs, read_dtypes(reference.file))
    wrong = differs(found.value, tolerance, reference.difference or 0.0)
    # Incomparable outputs have no figure: JSON has no infinity, and the reason explains more.
    value = found.value if math.isfinite(found.value) else None
    return Check("differs" if wrong else "agrees", value, tolerance, found.reason)
