"""Maps each kernel to nodes of the model by names, and unnamed kernels by their inputs."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from tuibench.core.profile import FOLDED, LAYER, LAYOUT, RUNTIME, UNMAPPED, own_key
from tuibench.core.value import dataclass
from tuibench.model.graph import Placed, op_of
from tuibench.model.profile.events import CONTROL, Flat

_MOST_SOURCES = 64
"""Kernels that read from more nodes than this are not looked up."""
_MOST_TRIED = 32
"""Candidate nodes tried per kernel: those right behind its sources."""
_MOST_PASSED = 256
"""Nodes searched per candidate."""


class UnnamedKernels:
    """Maps unnamed kernels to nodes in time that grows linearly with the model."""

    def __init__(self, original: Flat, optimized: Flat, of: list[list[int]], extended: Mapping[int, int]) -> None:
        self._original = original
        self._optimized = optimized
        self._of = of
        self._extended = extended
        self._taken = {number for found in of for number in found}
        self._sources: dict[int, frozenset[int] | None] = {}

    def assign(self, is_nameless: Callable[[Placed], bool], scope_of: Callable[[Placed], str]) -> None:
        """Give each unmapped kernel the first free node that reads from the same nodes."""
        free: dict[tuple[str, str], list[int]] = defaultdict(list)
        for number, own in enumerate(self._original.nodes):
            if number not in self._taken:
                free[own.node.op_type, own.scope].append(number)
        for kernel, placed in enumerate(self._optimized.nodes):
            if self._of[kernel] or not is_nameless(placed):
                continue
            op = placed.node.op_type
            alike, sources = free.get((op, scope_of(placed))), self._sources_of(kernel)
            if not alike or not sources:
                continue
            # A control-flow node comes before its subgraphs, and may read from them.
            behind = 0 if op in CONTROL else bisect_right(alike, max(sources))
            tried = alike[behind : behind + _MOST_TRIED]
            chosen = next((n for n in tried if self._has_origins(n, sources)), None)
            if chosen is not None:
                self._of[kernel] = [chosen]
                self._taken.add(chosen)
                del alike[bisect_left(alike, chosen)]

    def _sources_of(self, kernel: int) -> frozenset[int] | None:
        """Return the nodes a kernel reads from, looking through work that the engine added; None for too many."""
        waiting = [kernel]
        while waiting:
            at = waiting[-1]
            made = self._makers(at)
            unknown = [one for one in made if not self._of[one] and one not in self._sources]
            if at not in self._sources and unknown:
                # Mark the kernel first: through its own subgraph it may read itself.
                self._sources[at] = frozenset()
                waiting.extend(unknown)
                continue
            waiting.pop()
            self._sources[at] = self._joined(made)
        return self._sources[kernel]

    def _makers(self, kernel: int) -> list[int]:
        tensors = dict.fromkeys(self._optimized.inputs[kernel])
        made = (self._optimized.producer.get(tensor) for tensor in tensors)
        return [one for one in dict.fromkeys(made) if one is not None and one != kernel]

    def _joined(self, made: list[int]) -> frozenset[int] | None:
        found: set[int] = set()
        for one in made:
            own = self._of[one] or self._sources[one]
            if own is None:
                return None
            found.update(own)
            if len(found) > _MOST_SOURCES:
                return None
        return frozenset(found)

    def _has_origins(self, number: int, wanted: frozenset[int]) -> bool:
        """Return whether the nearest mapped nodes before a node are exactly these."""
        found: set[int] = set()
        seen = {number}
        waiting = [number]
        while waiting:
            for tensor in self._original.inputs[waiting.pop()]:
                made = self._original.producer.get(tensor)
                if made is None or made in seen:
                    continue
                seen.add(made)
                origin = made if made in self._taken else self._extended.get(made)
                if origin is None:
                    waiting.append(made)
                elif origin in wanted:
                    found.add(origin)
                else:
                    return False
            if len(seen) > _MOST_PASSED:
                return False
        return found == wanted


REORDERS = frozenset({"ReorderInput", "ReorderOutput"})
ACTIVATIONS = frozenset({"Relu", "Clip", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "Elu", "Softplus"})
_SUMS = frozenset({"Add", "Sum"})
_LAYOUT = re.compile(r"^(.*?)(?:_bn|_mul)?_nchwc$")
_TOKEN = re.compile(r"(?:_token_\d+)+$")
_INLINED = re.compile(r"^_if_(then_branch|else_branch)_(?:token_\d+_)?(.+)$")
_FUSED = "fused "


def _is_nameless(placed: Placed) -> bool:
    return not placed.node.name and placed.node.op_type not in REORDERS


class KernelNodes:
    """Finds the original nodes that each kernel of the optimized model represents."""

    def __init__(self, original: Flat, optimized: Flat) -> None:
        self._original = original
        self._optimized = optimized
        self._scopes = {"": ""}
        self.of: list[list[int]] = []
        """The nodes of each kernel; empty if the engine added the kernel."""
        self.exact: list[bool] = []
        """Per kernel, true if one of its output tensors has the name of a tensor in the original."""
        for placed in optimized.nodes:
            found, exact = self._find(placed)
            self.of.append(found)
            self.exact.append(exact)
            self._open(placed, found)
        self.extended: dict[int, int] = {}
        """Nodes fused into a kernel, each mapped to the node that the kernel represents."""
        taken = {number for found in self.of for number in found}
        for kernel, found in enumerate(self.of):
            self.extended.update(dict.fromkeys(self._extend(kernel, taken), found[0] if found else 0))
        UnnamedKernels(original, optimized, self.of, self.extended).assign(_is_nameless, self.scope)

    def _open(self, placed: Placed, found: list[int]) -> None:
        """Map the kernel's subgraphs to those of its node."""
        if found:
            for number in found:
                own = self._original.nodes[number]
                if own.op == placed.op:
                    self._scopes[placed.id] = own.id

    def scope(self, placed: Placed) -> str:
        """Return the scope in the original that matches a kernel's graph."""
        if not placed.parent:
            return ""
        return self._scopes.get(placed.parent, placed.parent) + placed.scope.removeprefix(placed.parent)

    def _find(self, placed: Placed) -> tuple[list[int], bool]:
        op = placed.node.op_type
        if op in REORDERS:
            return [], False
        scope = self.scope(placed)
        exact = list(self._by_outputs(placed, scope))
        if op == "Transpose" and exact and self._original.nodes[exact[0]].node.op_type != "Transpose":
            # This Transpose restores the layout that the model expects.
            return [], False
        if exact:
            # A removed no-op behind a node passes its name on to the node's tensor.
            own = self._original.named.get((scope, placed.node.name), [])
            exact += own if len(own) == 1 and self._original.nodes[own[0]].op == placed.op else []
            return list(dict.fromkeys(exact)), True
        named = self._by_name(placed, scope)
        return ([named], False) if named is not None else ([], False)

    def _by_outputs(self, placed: Placed, scope: str) -> Iterator[int]:
        for name in placed.node.output:
            found = self._original.producer.get((scope, name)) if name else None
            if found is None and name:
                found = self._inlined(name, scope)
            if found is not None:
                yield found

    def _by_name(self, placed: Placed, scope: str) -> int | None:
        name = placed.node.name
        if not name:
            return None
        laid_out = _LAYOUT.match(name)
        if laid_out:
            found = self._original.producer.get((scope, laid_out[1]))
            if found is not None:
                return found
        for candidate in dict.fromkeys((name, _TOKEN.sub("", name), name.removeprefix(_FUSED).strip())):
            known = self._original.named.get((scope, candidate))
            if known:
                return known[0]
        return None

    def _inlined(self, name: str, scope: str) -> int | None:
        """Return the node behind a tensor of a branch that replaced its If node."""
        branch = None
        while (matched := _INLINED.match(name)) is not None:
            branch, name = matched[1], matched[2]
        if branch is None:
            return None
        numbers = self._original.giving.get(name, [])
        fitting = (n for n in numbers if self._original.nodes[n].scope.startswith(scope))
        return next((n for n in fitting if self._original.nodes[n].scope.endswith(f"/{branch}/")), None)

    def _extend(self, kernel: int, taken: set[int]) -> list[int]:
        """Return the following nodes fused into a kernel: sums, activations and the rounding of its result."""
        if self.exact[kernel] or len(self.of[kernel]) != 1:
            return []
        node = self._optimized.nodes[kernel].node
        rounds = node.op_type.startswith("QLinear") or node.op_type == "QGemm"
        activates = any(attribute.name == "activation" for attribute in node.attribute)
        sums = node.op_type == "Conv" and len(node.input) > 3 and bool(node.input[3])
        extended: list[int] = []
        at = self.of[kernel][0]
        while True:
            following = self._only_reader(at)
            if following is None or following in taken:
                return extended if not rounds or self._rounded(extended) else []
            op = self._original.nodes[following].node.op_type
            if op in _SUMS and sums:
                sums = False
            elif op in ACTIVATIONS and (activates or rounds):
                activates = False
            elif op == "QuantizeLinear" and rounds:
                return [*extended, following]
            else:
                return extended if not rounds or self._rounded(extended) else []
            extended.append(following)
            at = following

    def _rounded(self, extended: list[int]) -> bool:
        return any(self._original.nodes[number].node.op_type == "QuantizeLinear" for number in extended)

    def _only_reader(self, number: int) -> int | None:
        readers = self._readers().get(number, [])
        return readers[0] if len(readers) == 1 else None

    def _readers(self) -> dict[int, list[int]]:
        if not hasattr(self, "_read_by"):
            self._read_by: dict[int, list[int]] = {}
            for number, tensors in enumerate(self._original.inputs):
                for tensor in dict.fromkeys(tensors):
                    made = self._original.producer.get(tensor)
                    if made is not None and made != number:
                        self._read_by.setdefault(made, []).append(number)
        return self._read_by


PRECISION, COPY = "precision (runtime)", "copy (runtime)"
OWN_WORK = {
    **dict.fromkeys((*REORDERS, "Transpose"), LAYOUT),
    "Cast": PRECISION,
    "MemcpyFromHost": COPY,
    "MemcpyToHost": COPY,
}
"""Work that the engine adds between a model's kernels, by kernel operator."""
_BEFOREHAND = "done beforehand"
_STILL = frozenset({"Shape", "Size"})
_HEAVY = (
    *("Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN", "Attention", "MultiHeadAttention"),
    *("GroupQueryAttention", "Einsum", "ConvInteger", "QLinearConv", "MatMulInteger", "QLinearMatMul", "MatMulNBits"),
)
_INTEGER = (
    *("QLinear", "QGemm", "QAttention", "ConvInteger", "MatMulInteger", "QEmbed"),
    *("DynamicQuantizeMatMul", "DynamicQuantizeLSTM"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """Nodes and the kernels that compute them."""

    key: str
    kind: str
    op: str
    nodes: tuple[str, ...]
    kernels: tuple[int, ...]
    """Indices into the optimized model's nodes."""
    kernel_op: str
    integer: bool


def map_rows(original: Flat, optimized: Flat) -> list[Row]:
    """Return the layer rows in model order, then the engine's added work, then nodes folded before the run."""
    anchors = KernelNodes(original, optimized)
    homes = _find_homes(anchors, optimized)
    owner = _claim(original, optimized, anchors, homes)
    rows = _layer_rows(original, optimized, homes, owner)
    ids = {placed.id for placed in original.nodes}
    rows += [
        Row(
            own_key(_kernel_key(optimized, kernel), ids),
            RUNTIME,
            _own_work(optimized, kernel),
            (),
            (kernel,),
            op,
            is_integer(op),
        )
        for kernel, home in enumerate(homes)
        if home is None
        for op in (op_of(optimized.nodes[kernel].node),)
    ]
    left = tuple(placed.id for number, placed in enumerate(original.nodes) if owner[number] is None)
    if left:
        rows.append(Row(own_key(_BEFOREHAND, ids), FOLDED, _BEFOREHAND, left, (), "", False))
    return rows


def is_integer(op: str) -> bool:
    """Return whether a kernel multiplies integers."""
    return op.rsplit(".", maxsplit=1)[-1].startswith(_INTEGER)


def is_product(op: str) -> bool:
    """Return whether a kernel multiplies matrices, fused or not: names such as FusedConv end in the operator."""
    return op.rsplit(".", maxsplit=1)[-1].endswith(_HEAVY)


def _kernel_key(optimized: Flat, kernel: int) -> str:
    placed = optimized.nodes[kernel]
    return f"{placed.scope}{placed.node.name}" if placed.node.name else placed.id


def _own_work(optimized: Flat, kernel: int) -> str:
    return OWN_WORK.get(optimized.nodes[kernel].node.op_type, UNMAPPED)


def _find_homes(anchors: KernelNodes, optimized: Flat) -> list[int | None]:
    """Per kernel, return the node that names its row; a kernel without one joins its reader or source."""
    homes: list[int | None] = [min(found) if found else None for found in anchors.of]
    # Nodes computed by one kernel share a row, and so do other kernels of these nodes.
    alias: dict[int, int] = {}

    def root(number: int) -> int:
        while number in alias:
            number = alias[number]
        return number

    for found in anchors.of:
        roots = sorted({root(number) for number in found})
        for other in roots[1:]:
            alias[other] = roots[0]
    homes = [root(home) if home is not None else None for home in homes]
    readers = _kernel_readers(optimized)
    for kernel in reversed(range(len(homes))):
        if homes[kernel] is None and optimized.nodes[kernel].node.op_type not in OWN_WORK:
            homes[kernel] = next((homes[r] for r in readers.get(kernel, ()) if homes[r] is not None), None)
    for kernel in range(len(homes)):
        if homes[kernel] is None and optimized.nodes[kernel].node.op_type not in OWN_WORK:
            homes[kernel] = next(
                (homes[m] for t in optimized.inputs[kernel] if (m := optimized.producer.get(t)) is not None), None
            )
    return homes


def _kernel_readers(optimized: Flat) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for kernel, tensors in enumerate(optimized.inputs):
        for tensor in tensors:
            made = optimized.producer.get(tensor)
            if made is not None and made != kernel:
                found.setdefault(made, []).append(kernel)
    return found


def _claim(original: Flat, optimized: Flat, anchors: KernelNodes, homes: Sequence[int | None]) -> list[int | None]:
    """Per node, return the node that names its row; None if its work was done before the run."""
    owner: list[int | None] = [None] * len(original.nodes)
    for kernel, found in enumerate(anchors.of):
        for number in found:
            owner[number] = homes[kernel]
    for number, stood_for in anchors.extended.items():
        if owner[number] is None:
            owner[number] = owner[stood_for]
    still = frozenset(
        n for n, placed in enumerate(original.nodes) if owner[n] is None and placed.node.op_type in _STILL
    )
    moving = original.dynamic(still)
    order = sorted(
        range(len(homes)), key=lambda kernel: bool(optimized.nodes[kernel].node.op_type in ("If", "Loop", "Scan"))
    )
    for kernel in order:
        _claim_backwards(original, anchors.of[kernel], homes[kernel], owner, moving)
    _claim_forwards(original, owner, moving)
    return owner


def _claim_backwards(
    original: Flat, found: Sequence[int], home: int | None, owner: list[int | None], moving: Sequence[bool]
) -> None:
    """Give the unclaimed nodes before a kernel's nodes to its row, up to the next claimed ones."""
    waiting = list(found)
    while waiting:
        for tensor in original.inputs[waiting.pop()]:
            made = original.producer.get(tensor)
            if made is not None and owner[made] is None and moving[made]:
                owner[made] = home
                waiting.append(made)


def _claim_forwards(original: Flat, owner: list[int | None], moving: Sequence[bool]) -> None:
    """Give each unclaimed node to the row of the last claimed node that it reads."""
    for number in range(len(original.nodes)):
        if owner[number] is None and moving[number]:
            before = [
                made
                for t in original.inputs[number]
                if (made := original.producer.get(t)) is not None and made != number
            ]
            homes = [made for made in before if owner[made] is not None]
            if homes:
                owner[number] = owner[max(homes)]


def _layer_rows(original: Flat, optimized: Flat, homes: Sequence[int | None], owner: Sequence[int | None]) -> list[Row]:
    nodes: dict[int, list[int]] = {}
    for number, home in enumerate(owner):
        if home is not None:
            nodes.setdefault(home, []).append(number)
    kernels: dict[int, list[int]] = {}
    for kernel, home in enumerate(homes):
        if home is not None:
            kernels.setdefault(home, []).append(kernel)
    rows = []
    for home, own in sorted(nodes.items(), key=lambda pair: pair[1][0]):
        done_by = kernels.get(home, [])
        kernel_ops = [op_of(optimized.nodes[kernel].node) for kernel in done_by]
        rows.append(
            Row(
                original.nodes[own[0]].id,
                LAYER,
                _main_op(original, own, home),
                tuple(original.nodes[number].id for number in own),
                tuple(done_by),
                kernel_ops[0] if kernel_ops else "",
                any(map(is_integer, kernel_ops)),
            )
        )
    return rows


def _main_op(original: Flat, own: Sequence[int], home: int) -> str:
    heavy = [number for number in own if original.nodes[number].node.op_type in _HEAVY]
    return original.nodes[heavy[0] if heavy else home].op
