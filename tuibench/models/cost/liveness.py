"""Peak bytes of activations; each lives from the node that makes it to the last node that reads it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from tuibench.models.cost.constant import Constants
from tuibench.models.cost.known import Known
from tuibench.models.cost.site import Scope, Site
from tuibench.models.graph import text


@dataclass
class _Lives:
    """Lifetimes in one graph, by node index: names that begin before a node, and the last reader of each name."""

    begin: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    last: dict[str, int] = field(default_factory=dict)


def find_peak(sites: Sequence[Site], top: Scope, constants: Constants, known: Known) -> int | None:
    """Return the peak of bytes alive at once, without in-place computation; None if a size is unknown."""
    running = [site for site in sites if known.times[site.index] != 0]
    lives = _find_lives(running, sites, top)
    peaks: dict[int, int] = {}
    # Inner graphs come after the node that owns them, so the reverse order handles them first.
    scopes = {id(site.scope): site.scope for site in reversed(running)}
    scopes.setdefault(id(top), top)
    for scope in sorted(scopes.values(), key=lambda s: -s.owner):
        peak = _peak(scope, lives[id(scope)], constants, peaks)
        if peak is None:
            return None
        if scope.owner < 0:
            return peak
        peaks[scope.owner] = max(peaks.get(scope.owner, 0), peak)
    return 0


def _find_lives(running: Sequence[Site], sites: Sequence[Site], top: Scope) -> dict[int, _Lives]:
    lives: dict[int, _Lives] = defaultdict(_Lives)
    for scope in {id(s): s for s in (top, *(site.scope for site in running))}.values():
        end = scope.sites[-1].index + 1 if scope.sites else 0
        begin = scope.sites[0].index if scope.sites else 0
        lives[id(scope)].begin[begin].extend(text(value.name) for value in scope.graph.input)
        lives[id(scope)].last.update((text(value.name), end) for value in scope.graph.output)
    for site in running:
        lives[id(site.scope)].begin[site.index].extend(name for name in site.outputs if name)
        for name in filter(None, site.inputs):
            _read(lives, sites, site, name)
    return lives


def _read(lives: dict[int, _Lives], sites: Sequence[Site], site: Site, name: str) -> None:
    """Extend a name's life in its own graph to the node there that reads it, directly or in a subgraph."""
    home, at = site.scope.home(name), site
    while at.scope is not home and at.scope.owner >= 0:
        at = sites[at.scope.owner]
    if home is at.scope:
        last = lives[id(home)].last
        last[name] = max(last.get(name, 0), at.index)


def _peak(scope: Scope, lives: _Lives, constants: Constants, inner: dict[int, int]) -> int | None:
    ends: dict[int, int] = defaultdict(int)
    alive = peak = 0
    for site in scope.sites or ():
        for name in lives.begin.get(site.index, ()):
            if (id(scope), name) in constants.behind:
                continue
            size = scope.tensor(name).size
            if size is None:
                return None
            alive += size
            ends[max(lives.last.get(name, site.index), site.index)] += size
        peak = max(peak, alive + inner.get(site.index, 0))
        alive -= ends.pop(site.index, 0)
    return peak
