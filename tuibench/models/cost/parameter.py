"""Assigns each weight to one node: the first that reads it while the model runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from tuibench.models.cost.constant import Constant, Constants
from tuibench.models.cost.site import Site

CountZeros = Callable[[Constant], int]


@dataclass(frozen=True, slots=True)
class Holding:
    """The weights of one node."""

    weight: str = ""
    shape: tuple[int, ...] = ()
    parameters: int = 0
    zeros: int = 0
    weight_bytes: int = 0


def share_out(sites: list[Site], constants: Constants, count_zeros: CountZeros) -> list[Holding]:
    """Return the holding of each node, in node order."""
    claimed: set[Constant] = set()
    held: dict[int, Holding] = {}
    # Nodes that depend only on constants are computed beforehand; their weights belong to the reader of the result.
    for site in [s for s in sites if s.index not in constants.folded]:
        held[site.index] = _hold(constants.sources(site), claimed, count_zeros)
    for site in [s for s in sites if s.index in constants.folded]:
        left = [c for c in (*constants.sources(site), *_own(constants, site)) if c not in claimed]
        held[site.index] = _hold(left, claimed, count_zeros)
    return [held[site.index] for site in sites]


def _own(constants: Constants, site: Site) -> tuple[Constant, ...]:
    """Return the constant that the node itself creates; it counts here only if no other node reads it."""
    if site.op not in ("Constant", "ConstantOfShape") or not site.outputs:
        return ()
    return constants.find(site.scope, site.outputs[0]) or ()


def _hold(sources: list[Constant], claimed: set[Constant], count_zeros: CountZeros) -> Holding:
    fresh = [c for c in dict.fromkeys(sources) if c not in claimed]
    claimed.update(fresh)
    learned = [c for c in fresh if c.elements]
    large = max((c for c in sources if len(c.shape) > 1 and c.elements), key=_extent, default=None)
    return Holding(
        weight=large.name if large is not None else "",
        shape=large.shape if large is not None else (),
        parameters=sum(c.elements for c in learned),
        zeros=sum(count_zeros(c) for c in learned),
        weight_bytes=sum(c.size for c in sources),
    )


def _extent(constant: Constant) -> int:
    return math.prod(constant.shape)
