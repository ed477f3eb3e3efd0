"""The request for a profile; separate from the results, since every specification may contain it."""

from __future__ import annotations

from dataclasses import dataclass

PERFORMANCE, LOSS = "performance", "loss"
APPROXIMATED = "approximated"
"""A loss profile that looks at weights alone."""
KINDS = frozenset({PERFORMANCE, LOSS})

PRUNED_LEVELS = (0.5, 0.8, 0.9, 0.95)
INT8 = "int8"
LEVELS = (*(f"pruned {level:g}" for level in PRUNED_LEVELS), INT8)
"""Changes that a loss profile applies to a layer, as written in records and on screens."""

WHAT_IF = (INT8,)
"""Forms in which a layer can be measured in isolation."""


@dataclass(frozen=True, slots=True)
class ProfileSpec:
    """The options that only a profile has; it has one model, one batch and one core count."""

    kind: str
    """performance or loss."""
    runs: int = 10
    """Profiled runs in each process; a layer's time is their median."""
    what_if: tuple[str, ...] = ()
    """Performance profile: 'int8' also measures each heavy layer in isolation in that precision."""
    levels: tuple[str, ...] = LEVELS
    samples: int = 2
    """Loss profile: number of data samples on which each variant runs."""
    budget: bool = False
    """Loss profile: measure all layers at one level, and only the worst layers at the other levels."""
    approximate: bool = False
    """Loss profile: compute it from the weights alone; run nothing."""
    processes: int = 3
    """Performance profile: fresh processes; a layer's interval is computed over them."""
    fresh_roofs: bool = False
    """Performance profile: measure the machine's limits even if they were measured in the last week."""
