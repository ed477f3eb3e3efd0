"""Maps each kernel to nodes of the model by names, and unnamed kernels by their inputs."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from tuibench.model.graph import Placed
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
