"""Chooses the heavier branch of an If when no run showed which one is taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tuibench.core.profile import LIGHTER_BRANCH, NodeCost
from tuibench.models.cost.site import Scope, Site


def choose_branches(sites: Sequence[Site], costs: list[NodeCost]) -> None:
    """Set the costs in all lighter branches to zero, inner branches first, so that outer ones weigh the rest."""
    last = ends(sites)
    for site in reversed(sites):
        if site.op != "If" or len(site.inner) < 2:
            continue
        weighed = [(_weight(costs, scope, last), scope) for scope in site.inner]
        heaviest = max(weighed, key=lambda pair: pair[0])[1]
        for _, scope in weighed:
            if scope is not heaviest:
                for index in _inside(scope, last):
                    costs[index] = replace(
                        costs[index], macs=0, element_flops=0, activation_bytes=0, times=0, why=LIGHTER_BRANCH
                    )


def ends(sites: Sequence[Site]) -> list[int]:
    """Return for each node the index after the last node of its subgraphs."""
    last = [site.index + 1 for site in sites]
    for site in reversed(sites):
        if site.scope.owner >= 0:
            last[site.scope.owner] = max(last[site.scope.owner], last[site.index])
    return last


def _inside(scope: Scope, last: Sequence[int]) -> range:
    if not scope.sites:
        return range(0)
    return range(scope.sites[0].index, last[scope.sites[-1].index])


def _weight(costs: Sequence[NodeCost], scope: Scope, last: Sequence[int]) -> tuple[int, int]:
    inside = [costs[index] for index in _inside(scope, last)]
    return sum(c.macs or 0 for c in inside), sum(c.element_flops or 0 for c in inside)
