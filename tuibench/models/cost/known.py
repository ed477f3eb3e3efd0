"""What is known of each node's executions, whether one run told it or inference did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tuibench.models.cost.constant import Constants
from tuibench.models.cost.site import Scope, Site
from tuibench.models.cost.tensor import Tensor
from tuibench.models.cost.trace import Trace, Variant

Tensors = Sequence[Tensor | None]


@dataclass(frozen=True, slots=True)
class Execution:
    """A node on certain tensors, so many times."""

    inputs: Tensors
    outputs: Tensors
    times: int


@dataclass
class Known:
    """By the index of the node."""

    times: dict[int, int | None]
    variants: dict[int, list[tuple[Variant, int]]] = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)
    """Why a node does not run."""
    traced: bool = False

    def executions(self, site: Site) -> list[Execution]:
        """Each kind of execution; a node of which no run told has one, on what is known of its tensors."""
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
    """Put the shapes of a run where they belong."""
    for name, tensor in (*inputs.items(), *trace.outputs.items()):
        top.learn(name, tensor)
    known = Known({}, traced=True)
    for site, name in zip(sites, names, strict=True):
        found = trace.variants.get(name)
        if found:
            known.variants[site.index] = list(found.items())
            _learn(site, next(iter(found)))
    most: dict[int, int] = {}
    for site, name in zip(sites, names, strict=True):
        most[id(site.scope)] = max(most.get(id(site.scope), 0), trace.times(name))
    for site, name in zip(sites, names, strict=True):
        times = trace.times(name) or (1 if site.scope.owner < 0 else most[id(site.scope)])
        # One without events in a graph that ran was replaced by the engine, or taken for a constant.
        known.times[site.index] = times
        if not times:
            known.reasons[site.index] = "lies in a branch or loop that did not run"
    return known


def skip_folded(known: Known, constants: Constants) -> None:
    """What depends on constants alone is computed before the first inference."""
    for index in constants.folded:
        known.times[index], known.variants[index] = 0, []
        known.reasons[index] = "depends on constants alone: computed beforehand"


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
    """The profiler leaves out what is not passed, and what is no tensor."""
    if sum(map(bool, names)) != len(told):
        return _look_up(site, names)
    rest = iter(told)
    return [_own_type(site, name, next(rest)) if name else None for name in names]


def _own_type(site: Site, name: str, told: Tensor) -> Tensor:
    """The shape that a kernel saw, in the type of the model where that is known."""
    dtype = site.scope.tensor(name).dtype
    return told if dtype in ("", told.dtype) else Tensor(dtype, told.shape)
