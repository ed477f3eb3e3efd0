"""Builds the cost profile of a model: assigns weights to nodes, adds costs, finds the peak of activations."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from itertools import groupby
from pathlib import Path

import numpy as np
from onnx import numpy_helper

from tuibench.core.errors import ModelError
from tuibench.core.profile import CostProfile, NodeCost
from tuibench.core.reason import LEFT_OUT, Reason, because
from tuibench.core.value import dataclass
from tuibench.model.cost.constant import Constant, Constants, multiplies_integers
from tuibench.model.cost.executions import Execution, Known, Shapes
from tuibench.model.cost.expansion import Expansion
from tuibench.model.cost.products import count_call
from tuibench.model.cost.structure import UNEXPANDED, Call, Scope, Site, Work, choose_branches
from tuibench.model.file import is_external
from tuibench.model.graph import text
from tuibench.model.inspection import ZeroBudget, zeros_of


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


CountZeros = Callable[[Constant], int]


@dataclass(frozen=True, slots=True)
class NodeWeights:
    """The weights of one node."""

    weight: str = ""
    shape: tuple[int, ...] = ()
    parameters: int = 0
    zeros: int = 0
    weight_bytes: int = 0


def assign_weights(sites: list[Site], constants: Constants, count_zeros: CountZeros) -> list[NodeWeights]:
    """Return the holding of each node, in node order."""
    claimed: set[Constant] = set()
    held: dict[int, NodeWeights] = {}
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


def _hold(sources: list[Constant], claimed: set[Constant], count_zeros: CountZeros) -> NodeWeights:
    fresh = [c for c in dict.fromkeys(sources) if c not in claimed]
    claimed.update(fresh)
    learned = [c for c in fresh if c.elements]
    large = max((c for c in sources if len(c.shape) > 1 and c.elements), key=_extent, default=None)
    return NodeWeights(
        weight=large.name if large is not None else "",
        shape=large.shape if large is not None else (),
        parameters=sum(c.elements for c in learned),
        zeros=sum(count_zeros(c) for c in learned),
        weight_bytes=sum(c.size for c in sources),
    )


def _extent(constant: Constant) -> int:
    return math.prod(constant.shape)


def assemble(
    expansion: Expansion,
    known: Known,
    constants: Constants,
    holdings: Sequence[NodeWeights],
    shapes: Shapes,
    shapes_from: Reason,
    notes: tuple[Reason, ...],
) -> CostProfile:
    """Return the cost profile of a model."""
    costs = [_cost(site, known, constants, held) for site, held in zip(expansion.sites, holdings, strict=True)]
    if not known.traced:
        choose_branches(expansion.sites, costs)
    peak = find_peak(expansion.sites, expansion.top, constants, known)
    grouped = groupby(zip(expansion.owners, costs, strict=True), key=lambda pair: pair[0].index)
    nodes = tuple(
        _merge(site, [cost for _, cost in group], expansion.bound is not None)
        for site, (_, group) in zip(expansion.originals, ((i, list(g)) for i, g in grouped), strict=True)
    )
    return CostProfile(
        nodes=nodes,
        batch=shapes.batch,
        items=shapes.items,
        dims=dict(shapes.dims),
        macs=sum(node.macs or 0 for node in nodes),
        element_flops=sum(node.element_flops or 0 for node in nodes),
        parameters=sum(node.parameters for node in nodes),
        zeros=sum(node.zeros for node in nodes),
        weight_bytes=_weight_bytes(expansion.sites, constants),
        activation_bytes=sum(node.activation_bytes or 0 for node in nodes),
        peak_activation_bytes=peak,
        unknown=sum(_is_unknown(node) for node in nodes),
        shapes_from=shapes_from,
        notes=notes,
        bound=expansion.bound or shapes.bound,
    )


def _weight_bytes(sites: Sequence[Site], constants: Constants) -> int:
    """Return the bytes of all constants that any node reads, each counted once."""
    seen = {constant for site in sites for constant in constants.sources(site)}
    return sum(constant.size for constant in seen)


def _is_unknown(node: NodeCost) -> bool:
    return node.times is None or node.macs is None or node.element_flops is None or node.activation_bytes is None


def _cost(site: Site, known: Known, constants: Constants, held: NodeWeights) -> NodeCost:
    executions = known.executions(site)
    first = executions[0]
    work, why, times = Work(), known.reasons.get(site.index), known.times[site.index]
    moved: int | None = 0
    if times != 0:
        work = _work(site, executions)
        moved, lacking = (0, None) if site.inner else _moved(site, executions, constants)
        why = Reason(LEFT_OUT) if site.node.overload == UNEXPANDED else work.why or lacking or why
        if times is None and not why:
            why = Reason("times_unknown")
    return NodeCost(
        id=site.id,
        index=site.index,
        op=site.op,
        name=site.name,
        weight=held.weight,
        weight_shape=held.shape,
        input_shapes=tuple(t.shape if t is not None else None for t in first.inputs),
        output_shape=first.outputs[0].shape if first.outputs and first.outputs[0] is not None else None,
        macs=work.macs,
        element_flops=work.element_flops,
        parameters=held.parameters,
        zeros=held.zeros,
        weight_bytes=held.weight_bytes,
        activation_bytes=moved,
        times=times,
        integer=work.integer,
        why=why,
    )


def _work(site: Site, executions: Sequence[Execution]) -> Work:
    """Return the work of a node, summed over its executions."""
    quantized = multiplies_integers(site)
    works = [(count_call(Call(site.node, e.inputs, e.outputs, quantized)), e.times) for e in executions]
    return Work(
        macs=_sum([(work.macs, times) for work, times in works]),
        element_flops=_sum([(work.element_flops, times) for work, times in works]),
        integer=any(work.integer for work, _ in works),
        why=next((work.why for work, _ in works if work.why), None),
    )


def _sum(figures: Sequence[tuple[int | None, int]]) -> int | None:
    total = 0
    for figure, times in figures:
        if figure is None:
            return None
        total += figure * times
    return total


def _known_sum(figures: Sequence[tuple[int | None, int]]) -> int | None:
    known = [(figure, times) for figure, times in figures if figure is not None]
    return _sum(known) if known else None


def _moved(site: Site, executions: Sequence[Execution], constants: Constants) -> tuple[int | None, Reason | None]:
    """Return the bytes read and written except constants, or None and the missing size."""
    constant = [not name or constants.find(site.scope, name) is not None for name in site.inputs]
    total = 0
    for execution in executions:
        for name, tensor, skip in (
            *zip(site.inputs, execution.inputs, constant, strict=True),
            *((name, tensor, False) for name, tensor in zip(site.outputs, execution.outputs, strict=True)),
        ):
            if tensor is None or skip:
                continue
            if tensor.size is None:
                return None, because("size_unknown", name=name)
            total += tensor.size * execution.times
    return total, None


def _merge(site: Site, parts: list[NodeCost], is_limited: bool) -> NodeCost:
    """Return the cost of one node of the file, for a call the sum over its function; a lower bound if limited."""
    if len(parts) == 1 and parts[0].id == site.id:
        own, named = parts[0], (site.index, site.op, site.name)
        # The result of an expansion has another index, and a function's only node another operator.
        if (own.index, own.op, own.name) == named:
            return own
        return replace(own, index=site.index, op=site.op, name=site.name)
    large = max(parts, key=lambda part: (part.macs or 0, part.parameters))
    is_part = is_limited and any(map(_is_unknown, parts))
    add = _known_sum if is_part else _sum
    return replace(
        large,
        id=site.id,
        index=site.index,
        op=site.op,
        name=site.name,
        input_shapes=tuple(site.scope.tensor(name).shape for name in site.inputs),
        output_shape=parts[-1].output_shape,
        macs=add([(part.macs, 1) for part in parts]),
        element_flops=add([(part.element_flops, 1) for part in parts]),
        parameters=sum(part.parameters for part in parts),
        zeros=sum(part.zeros for part in parts),
        weight_bytes=sum(part.weight_bytes for part in parts),
        activation_bytes=add([(part.activation_bytes, 1) for part in parts]),
        times=None if is_part else _times([part.times for part in parts]),
        integer=any(part.integer for part in parts),
        why=next((part.why for part in parts if _is_unknown(part)), None),
    )


def _times(parts: Sequence[int | None]) -> int | None:
    return None if None in parts else max((part for part in parts if part is not None), default=0)


_BUDGET = ZeroBudget()


class Zeros:
    """Counts zeros within a budget of time and bytes; notes list what was not counted."""

    def __init__(self, path: Path, clock: Callable[[], float], budget: ZeroBudget = _BUDGET) -> None:
        self._path = path
        self._clock = clock
        self._until = clock() + budget.seconds
        self._budget = budget
        self._left = budget.total_bytes
        self._sizes: dict[Path, int] = {}
        self._notes: dict[Reason, None] = {}

    def count(self, constant: Constant) -> int:
        """Return how many elements are zero; 0 if they were not counted."""
        if constant.proto is None or constant.packed:
            return constant.zeros
        self._left -= constant.size
        if self._left < 0:
            self._note(because("zeros_of_too_many_bytes", bytes=self._budget.total_bytes))
            return 0
        if self._clock() > self._until:
            self._note(because("zeros_took_too_long", s=self._budget.seconds))
            return 0
        zero = self._zero_point(constant.zero_point)
        if zero is None:
            self._note(Reason("zeros_of_each_channel"))
            return 0
        try:
            return zeros_of(constant.proto, self._path, self._sizes, zero)
        except ModelError as error:
            self._note(because("zeros_unreadable", why=error.reason))
            return 0

    def notes(self) -> tuple[Reason, ...]:
        """Return the reasons why zeros were not counted."""
        return tuple(self._notes)

    def _note(self, reason: Reason) -> None:
        self._notes[reason] = None

    def _zero_point(self, constant: Constant | None) -> int | None:
        """Return the one value that represents 0; None if there are several or it is unknown."""
        if constant is None:
            return 0
        if constant.proto is None or is_external(constant.proto):
            return None
        try:
            values = np.unique(numpy_helper.to_array(constant.proto).astype(np.int64))
        except (ValueError, TypeError):
            return None
        return int(values[0]) if len(values) == 1 else None
