"""Known executions of each node, from a traced run or from inference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tuibench.core.profile import DONE_BEFORE
from tuibench.models.cost.constant import Constants
from tuibench.models.cost.site import Scope, Site
from tuibench.models.cost.tensor import Tensor
from tuibench.models.cost.trace import Trace, Variant
from tuibench.models.graph import dtype_name

_TOLD = ("If", "Loop", "Scan")
"""Operators whose subgraphs the engine runs unchanged; it rewrites others beforehand."""
_SHAPELESS = ("Cast", "CastLike", "Dropout", "Identity")
"""Operators whose output has the shape of their input."""
Tensors = Sequence[Tensor | None]


@dataclass(frozen=True, slots=True)
class Execution:
    """Executions of a node on the same tensors, with their number."""

    inputs: Tensors
    outputs: Tensors
    times: int


@dataclass
class Known:
    """Executions per node, by node index."""

    times: dict[int, int | None]
    variants: dict[int, list[tuple[Variant, int]]] = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)
    """Reasons why nodes do not run."""
    traced: bool = False

    def executions(self, site: Site) -> list[Execution]:
        """Return each kind of execution; for an untraced node, one with the known tensors."""
        told = self.variants.get(site.index)
        if not told:
            times = self.times[site.index]
            return [Execution(_look_up(site, site.inputs), _look_up(site, site.outputs), 1 if times is None else times)]
        return [
            Execution(_fit(site, site.inputs, ins), _fit(site, site.outputs, outs), times)
            for (ins, outs), times in told
        ]


def learn_from_trace(
    sites: Sequence[Site], top: Scope, names: Sequence[str], trace: Trace, inputs: Mapping[str, Tensor]
) -> Known:
    """Return the executions of a traced run, and store its shapes in the scopes."""
    for name, tensor in (*inputs.items(), *trace.outputs.items()):
        top.learn(name, tensor)
    known = Known({}, traced=True)
    for site, name in zip(sites, names, strict=True):
        found = trace.variants.get(name)
        if found:
            known.variants[site.index] = list(found.items())
            _learn(site, next(iter(found)))
    _bridge(sites, known)
    most: dict[int, int] = {}
    for site, name in zip(sites, names, strict=True):
        most[id(site.scope)] = max(most.get(id(site.scope), 0), trace.times(name))
    for site, name in zip(sites, names, strict=True):
        times = trace.times(name) or (1 if site.scope.owner < 0 else most[id(site.scope)])
        # A node without events in a graph that ran was replaced by the engine or treated as a constant.
        known.times[site.index] = times
        if not times and sites[site.scope.owner].op in _TOLD:
            known.reasons[site.index] = "lies in a branch or loop that did not run"
        elif not times:
            known.times[site.index] = None
    return known


def skip_folded(known: Known, constants: Constants) -> None:
    """Mark nodes that depend only on constants as computed before the first inference."""
    for index in constants.folded:
        known.times[index], known.variants[index] = 0, []
        known.reasons[index] = DONE_BEFORE


def _bridge(sites: Sequence[Site], known: Known) -> None:
    """Infer shapes of nodes that the engine drops even without optimization, such as one of two casts in a row."""
    for site in sites:
        if site.op in _SHAPELESS and site.index not in known.variants and site.inputs and site.outputs:
            kind = next((int(a.i) for a in site.node.attribute if a.name == "to"), 0)
            source = site.scope.tensor(site.inputs[0])
            site.scope.learn(site.outputs[0], Tensor(dtype_name(kind) if kind else source.dtype, source.shape))


def _learn(site: Site, variant: Variant) -> None:
    for names, tensors in zip((site.inputs, site.outputs), variant, strict=True):
        present = [name for name in names if name]
        if len(present) != len(tensors):
            continue
        for name, tensor in zip(present, tensors, strict=True):
            home = site.scope.home(name)
            if home is not None:
                home.learn(name, tensor)


def _look_up(site: Site, names: Sequence[str]) -> Tensors:
    return [site.scope.tensor(name) if name else None for name in names]


def _fit(site: Site, names: Sequence[str], told: Sequence[Tensor]) -> Tensors:
    """Return the traced tensors by position; the profiler leaves out omitted inputs and values that are no tensors."""
    if sum(map(bool, names)) != len(told):
        return _look_up(site, names)
    rest = iter(told)
    return [_own_type(site, name, next(rest)) if name else None for name in names]


def _own_type(site: Site, name: str, told: Tensor) -> Tensor:
    """Return the traced shape with the model's element type, if that is known."""
    dtype = site.scope.tensor(name).dtype
    return told if dtype in ("", told.dtype) else Tensor(dtype, told.shape)
