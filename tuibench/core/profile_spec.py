"""What is asked of a profile; apart from what profiles say, since every specification may hold it."""

from __future__ import annotations

from dataclasses import dataclass

PERFORMANCE, LOSS = "performance", "loss"
KINDS = frozenset({PERFORMANCE, LOSS})

PRUNED_LEVELS = (0.5, 0.8, 0.9, 0.95)
INT8 = "int8"
LEVELS = (*(f"pruned {level:g}" for level in PRUNED_LEVELS), INT8)
"""What a layer may be changed to, as it is written in records and on screens."""

WHAT_IF = (INT8,)
"""Forms in which a layer can be measured alone."""


@dataclass(frozen=True, slots=True)
class ProfileSpec:
    """What is asked of a profile beside what a benchmark is asked: one model, one batch, one core count."""

    kind: str
    """performance or loss."""
    runs: int = 10
    """Profiled runs in each process, of which a layer's time is the median."""
    what_if: tuple[str, ...] = ()
    """Of a performance profile: 'int8' measures each heavy layer in isolation in that precision, too."""
    levels: tuple[str, ...] = LEVELS
    samples: int = 2
    """Of a loss profile: how many samples of the data each variant is run on."""
    budget: bool = False
    """Of a loss profile: one level for all layers, the others for the worst layers alone."""
    approximate: bool = False
    """Of a loss profile: from the weights alone; nothing is run."""
    processes: int = 3
    """Of a performance profile: fresh ones, over which a layer's time gets its interval."""
    fresh_roofs: bool = False
    """Of a performance profile: measure what this machine can do even if it was measured in the last week."""
