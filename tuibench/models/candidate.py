"""Sizes to try for free dims, in order; numbers in the engine's error messages add more."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement, islice

from tuibench.core.model import Port
from tuibench.models.layout import Layout
from tuibench.models.role import BATCH, TIED, Alternative, Sum, alternatives, group_of

MAX_TRIALS = 40
_MAX_HINTED = 16
_MAX_STEPS = 2000
_LARGEST_HINT = 8192
_OPTIONAL = "optional inputs"
Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A shape for every input."""

    batch: int | None
    dims: Mapping[str, int]
    """Every free dim that does not follow the batch."""
    tied: tuple[str, ...]
    """Dims found to follow the batch."""
    shapes: Mapping[str, Shape]
    present: bool
    """True if optional inputs are fed."""


class Search:
    """Candidates for one point, most likely first; starts with the choice of an earlier point."""

    def __init__(
        self,
        layout: Layout,
        batch: int | None,
        fixed: Mapping[str, int],
        shapes: Mapping[str, Shape] | None = None,
        sizes: Mapping[tuple[str, int], int] | None = None,
    ) -> None:
        self._layout = layout
        self._batch = batch
        self._fixed = dict(fixed)
        self._shapes = dict(shapes or {})
        self.free = tuple(k for k in layout.places if k not in layout.batch and k not in self._fixed)
        self._ranks = {p.name: _rank_choices(p) for p in layout.ports if p.shape is None and p.name not in self._shapes}
        self._choices = {key: self._rank_values(key, sizes or {}) for key in self.free}
        self._groups = self._collect_groups()
        self._hints: list[tuple[str, int]] = []

    @property
    def has_choice(self) -> bool:
        """True if anything but the batch has to be chosen."""
        return bool(self.free or any(len(choices) > 1 for choices in self._ranks.values()))

    @cached_property
    def _hintable(self) -> tuple[str, ...]:
        """Dims whose size an error message may name; image dims are excluded, as 1 x 224 would run and mean nothing."""
        return tuple(k for k in self.free if group_of(self._layout, k) not in ("height", "width", "audio"))

    @property
    def needs_trial(self) -> bool:
        """True if the engine has to try several choices."""
        return any(count > 1 for count in self._groups.values())

    def hint(self, message: str) -> None:
        """Remember the numbers in an engine's error message, which often names the expected size."""
        for number in dict.fromkeys(int(n) for n in re.findall(r"(?<![\w.])\d{1,4}(?![\w.])", message)):
            for key in self._hintable:
                if 0 < number <= _LARGEST_HINT and (key, number) not in self._hints:
                    self._hints.append((key, number))

    def candidates(self, known: Mapping[str, int] | None = None) -> Iterator[tuple[dict[str, int], Candidate]]:
        """Yield (steps, candidate); `known` is the final steps of an earlier point."""
        seen: set[tuple[object, ...]] = set()
        static = islice(self._steps(known or {}), _MAX_STEPS)
        hinted = 0
        while len(seen) < MAX_TRIALS:
            steps: dict[str, int] = {}
            override: dict[str, int] = {}
            if len(self._hints) > hinted and hinted < _MAX_HINTED and seen:
                key, number = self._hints[hinted]
                hinted, override = hinted + 1, {key: number}
            else:
                found = next(static, None)
                if found is None:
                    return
                steps = found
            candidate = self._build(steps, override)
            identity = (tuple(candidate.shapes.items()), candidate.present)
            if identity not in seen:
                seen.add(identity)
                yield steps, candidate

    def _collect_groups(self) -> dict[str, int]:
        """Return each group with its number of alternatives."""
        groups: dict[str, int] = {}
        for key in self.free:
            group = _joint(group_of(self._layout, key))
            groups[group] = max(groups.get(group, 0), len(self._choices[key]))
        groups.update({f"rank {name}": len(choices) for name, choices in self._ranks.items()})
        if any(port.kind == "optional" for port in self._layout.ports):
            groups[_OPTIONAL] = 2
        return groups

    def _rank_values(self, key: str, sizes: Mapping[tuple[str, int], int]) -> tuple[Alternative, ...]:
        """Return the sizes to try for a dim, first the size that the weights demand if the graph shows one."""
        usual = alternatives(self._layout, key)
        for place in self._layout.places[key]:
            for axis in (place.axis, place.axis - len(place.port.shape or ())):
                size = sizes.get((place.port.name, axis))
                if size is not None and size > 0:
                    return (size, *usual)
        return usual

    def _steps(self, known: Mapping[str, int]) -> Iterator[dict[str, int]]:
        """Yield how far each group has advanced in its list: first no group, then one step in one group, and so on."""
        if known:
            yield {group: step for group, step in known.items() if group in self._groups}
        names = list(self._groups)
        for total in range(sum(count - 1 for count in self._groups.values()) + 1):
            for moved in combinations_with_replacement(names, total):
                steps = {name: moved.count(name) for name in set(moved)}
                if all(step < self._groups[name] for name, step in steps.items()):
                    yield steps

    def _build(self, steps: Mapping[str, int], override: Mapping[str, int]) -> Candidate:
        values = {**self._fixed, **override}
        waiting: dict[str, Sum] = {}
        for key in self.free:
            if key in values:
                continue
            choices = self._choices[key]
            chosen: Alternative = choices[min(steps.get(_joint(group_of(self._layout, key)), 0), len(choices) - 1)]
            if isinstance(chosen, Sum):
                waiting[key] = chosen
            else:
                values[key] = chosen
        batch = 1 if self._batch is None else self._batch
        for key, total in waiting.items():
            values[key] = sum(batch if k == BATCH else values.get(k, 0) for k in total.keys) + total.extra
        tied = tuple(key for key, total in waiting.items() if total == TIED)
        values.update(dict.fromkeys(self._layout.batch, batch))
        shapes = {port.name: self._shape(port, values, steps, batch) for port in self._layout.ports}
        free = [key for key in self._layout.places if key not in self._layout.batch and key not in tied]
        dims = {key: values[key] for key in free if key in values}
        return Candidate(self._batch, dims, tied, shapes, bool(steps.get(_OPTIONAL, 0)))

    def _shape(self, port: Port, values: Mapping[str, int], steps: Mapping[str, int], batch: int) -> Shape:
        if port.name in self._shapes:
            return self._shapes[port.name]
        if port.shape is None:
            choice = self._ranks[port.name][steps.get(f"rank {port.name}", 0)]
            return (batch, *choice[1:]) if choice and port.kind == "tensor" else choice
        return tuple(key if isinstance(key, int) else values[key] for key in self._layout.keys(port))


def _joint(group: str) -> str:
    """Return one group for height and width, because they change together."""
    return "image" if group in ("height", "width") else group


def _rank_choices(port: Port) -> tuple[Shape, ...]:
    if port.kind == "map":
        return ((),)
    if port.dtype in ("float32", "float16", "float64", "uint8"):
        return ((1, 16), (1, 3, 224, 224), (1, 16, 16), (16,), ())
    return ((1, 16), (16,), (), (1, 1))
