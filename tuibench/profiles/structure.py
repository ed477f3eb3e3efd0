"""Finds the node of an unnamed kernel by its operator and by what it reads."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping

from tuibench.models.node import Placed
from tuibench.profiles.event import CONTROL
from tuibench.profiles.flat import Flat

_MOST_SOURCES = 64
"""Kernels that read from more nodes than this are not looked up."""
_MOST_TRIED = 32
"""Candidate nodes tried per kernel: those right behind its sources."""
_MOST_PASSED = 256
"""Nodes searched per candidate."""


class Structure:
    """Maps unnamed kernels to nodes in time that grows linearly with the model."""

    def __init__(self, original: Flat, optimized: Flat, of: list[list[int]], extended: Mapping[int, int]) -> None:
        self._original = original
        self._optimized = optimized
        self._of = of
        self._extended = extended
        self._taken = {number for found in of for number in found}
        self._sources: dict[int, frozenset[int] | None] = {}

    def refer(self, is_nameless: Callable[[Placed], bool], scope_of: Callable[[Placed], str]) -> None:
        """Give each unmapped kernel the first free node that reads from the same nodes."""
        free: dict[tuple[str, str], _Free] = {}
        for number, own in enumerate(self._original.nodes):
            if number not in self._taken:
                free.setdefault((own.node.op_type, own.scope), _Free()).add(number)
        for kernel, placed in enumerate(self._optimized.nodes):
            if self._of[kernel] or not is_nameless(placed):
                continue
            op = placed.node.op_type
            alike, sources = free.get((op, scope_of(placed))), self._sources_of(kernel)
            if alike is None or not sources:
                continue
            # A control-flow node comes before its subgraphs, and may read from them.
            behind = -1 if op in CONTROL else max(sources)
            tried = alike.behind(behind, _MOST_TRIED)
            chosen = next((n for n in tried if self._has_origins(n, sources)), None)
            if chosen is not None:
                self._of[kernel] = [chosen]
                self._taken.add(chosen)
                alike.remove(chosen)

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


class _Free:
    """Unmapped nodes of one operator, in model order."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._next: list[int] = []
        """Each place itself while it is free, else a later place."""

    def add(self, number: int) -> None:
        self._numbers.append(number)
        self._next.append(len(self._next))

    def remove(self, number: int) -> None:
        place = bisect_right(self._numbers, number) - 1
        self._next[place] = place + 1

    def behind(self, number: int, most: int) -> Iterator[int]:
        """Yield up to `most` free nodes after a node."""
        place = self._first(bisect_right(self._numbers, number))
        for _ in range(most):
            if place == len(self._numbers):
                return
            yield self._numbers[place]
            place = self._first(place + 1)

    def _first(self, place: int) -> int:
        """Return the first free place from `place` on; shorten the path for the next search."""
        passed = []
        while place < len(self._next) and self._next[place] != place:
            passed.append(place)
            place = self._next[place]
        for one in passed:
            self._next[one] = place
        return place
