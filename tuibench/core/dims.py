"""Expands the requested batches, dims, lengths and shapes to the points of one model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from itertools import combinations_with_replacement, islice, product

from tuibench.core.errors import UsageError
from tuibench.core.model import Port
from tuibench.core.reason import Reason, because
from tuibench.core.roles import (
    BATCH,
    TIED,
    Alternative,
    Layout,
    Place,
    Sum,
    alternatives,
    group_of,
    is_sequence,
    is_state,
    sequence_keys,
)
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.text import show
from tuibench.core.value import dataclass

Shape = tuple[int, ...]
_FILE = "--inputs"
"""Origin of shapes that no flag has set."""


@dataclass(frozen=True)
class PointRequest:
    """Fixed values of one point; `problem` is set if the model's constants rule the point out."""

    id: str
    batch: int | None
    """Size of axis 0; None if the model has no batch."""
    fixed: Mapping[str, int]
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    """Shapes of inputs whose rank the model leaves open."""
    notes: tuple[str, ...] = ()
    problem: UsageError | None = None


def expand(
    spec: BenchmarkSpec, model: int, layout: Layout, file_shapes: Mapping[str, Shape] | None = None
) -> list[PointRequest]:
    """Return the points that `spec` requests for one model, ordered by batch, dims and length; raise UsageError."""
    shapes = dict(file_shapes) if file_shapes is not None else assign_shapes(spec.inputs.shapes, layout)
    origin = _FILE if file_shapes is not None else "-shapes"
    given = _dims_of_shapes(shapes, layout, origin)
    open_ranks = {port.name: shapes[port.name] for port in layout.ports if port.shape is None and port.name in shapes}
    axes = [[(address, value) for value in dict.fromkeys(values)] for address, values in spec.dims]
    requests: list[PointRequest] = []
    for batch, dims, length in product(spec.batches or (None,), product(*axes), spec.sequence_lengths or (None,)):
        asked = _asked_dims(dims, layout)
        builder = _Builder(layout, asked, given, origin)
        builder.take_length(length)
        builder.take_batch(batch)
        number = f"m{model}p{len(requests)}"
        requests.append(
            PointRequest(number, builder.batch, builder.fixed, open_ranks, tuple(builder.notes), builder.problem)
        )
    return requests


def assign_shapes(shapes: Sequence[Shape], layout: Layout) -> dict[str, Shape]:
    """Assign each input its shape by position; one shape for several inputs goes to all inputs of its rank."""
    ports = layout.ports
    if not shapes:
        return {}
    if len(shapes) == 1 and len(ports) > 1:
        fitting = {p.name: shapes[0] for p in ports if p.shape is None or len(p.shape) == len(shapes[0])}
        if not fitting:
            raise UsageError("shape_fits_no_input", shape=shapes[0], dims=len(shapes[0]), inputs=describe_inputs(ports))
        return fitting
    if len(shapes) != len(ports):
        raise UsageError("shapes_differ_in_number", given=len(shapes), inputs=describe_inputs(ports), count=len(ports))
    for port, shape in zip(ports, shapes, strict=True):
        if port.shape is not None and len(port.shape) != len(shape):
            raise UsageError(
                "shape_of_other_rank",
                name=port.name,
                dims=len(port.shape),
                given=len(shape),
                inputs=describe_inputs(ports),
            )
    return {port.name: shape for port, shape in zip(ports, shapes, strict=True)}


_MOST_INPUTS = 8


def describe_inputs(ports: Sequence[Port]) -> list[Reason]:
    """Return the first inputs, for the fields of an error."""
    return [
        because("input_with_shape", name=port.name, shape=shape_reason(port)) for port in list(ports)[:_MOST_INPUTS]
    ]


def shape_reason(port: Port) -> Reason:
    """Return the shape of an input, or its kind if it has no shape, for the fields of an error."""
    return because("input_shape", kind=port.kind, dims=port.shape)


class _Builder:
    """Merges the requests for one point and reports contradictions."""

    def __init__(
        self, layout: Layout, asked: Mapping[str, tuple[int, str]], given: Mapping[str, int], origin: str
    ) -> None:
        self._layout = layout
        self.notes: list[str] = []
        self.problem: UsageError | None = None
        self.batch: int | None = None
        self.fixed = dict(given)
        self._origin = origin
        self._flags = dict.fromkeys(given, origin)
        for key, (value, flag) in asked.items():
            self._set(key, value, flag)

    def take_length(self, length: int | None) -> None:
        """Apply -seq_len to every dim that counts tokens."""
        if length is None:
            return
        keys = sequence_keys(self._layout)
        for key in keys:
            self._set(key, length, f"-seq_len {length}")
        constants = _constant_lengths(self._layout)
        if not keys and length not in constants:
            fixed = constants[0] if constants else None
            dims = self._layout.settable_dims()
            self.problem = UsageError("no_free_length", subject=f"-seq_len {length}:", fixed=fixed, dims=dims)

    def take_batch(self, batch: int | None) -> None:
        """Apply -b, or use the model's own batch."""
        keys = self._layout.batch
        known = {self.fixed[key] for key in keys if key in self.fixed}
        if len(known) > 1:
            raise UsageError("batch_dims_disagree", names=sorted(keys), sizes=sorted(known))
        if keys:
            self.batch = self._agree(batch, known.pop() if known else None)
            if self.batch < 1:
                flag = next((self._flags[key] for key in sorted(keys) if key in self._flags), f"-b {batch}")
                raise UsageError("batch_too_small", subject=f"{flag}:", batch=self.batch)
            self.fixed.update(dict.fromkeys(keys, self.batch))
            return
        self.batch = _own_batch(self._layout)
        if batch is not None and batch != (self.batch or 1):
            self.problem = UsageError(
                "batch_fixed", subject=f"batch {batch}:", allowed=self.batch or 1, why=_fixed_by(self._layout)
            )
            # With the model's own batch it would have the same key as a valid cell, and one would hide the other.
            self.batch = batch

    def _agree(self, batch: int | None, known: int | None) -> int:
        if known is None or batch is None or known == batch:
            return next((value for value in (batch, known) if value is not None), 1)
        if self._origin == "-shapes" and known == 1:
            self.notes.append(f"-b {batch} replaces the 1 in -shapes")
            return batch
        if self._origin == _FILE and known % batch:
            raise UsageError("sample_no_multiple", batch=batch, items=known)
        if self._origin == _FILE:
            raise UsageError("sample_sets_batch", batch=batch, items=known)
        raise UsageError("batch_conflict", batch=batch, other=known)

    def _set(self, key: str, value: int, flag: str) -> None:
        if self.fixed.get(key, value) != value:
            raise UsageError("dim_conflict", subject=f"{flag}:", other=self.fixed[key])
        self.fixed[key] = value
        self._flags.setdefault(key, flag)


def _asked_dims(dims: Sequence[tuple[str, int]], layout: Layout) -> dict[str, tuple[int, str]]:
    """Return each key with its value and the flag, in the user's wording, that set it."""
    asked: dict[str, tuple[int, str]] = {}
    for address, value in dims:
        if layout.find_axis(address) == value and address not in layout.places:
            continue
        flag = f"--dim {show(address, 60)}={value}"
        for key in layout.resolve(address, "--dim"):
            known, _ = asked.setdefault(key, (value, flag))
            if known != value:
                raise UsageError("dim_conflict", subject=f"{flag}:", other=known)
    return asked


def _dims_of_shapes(shapes: Mapping[str, Shape], layout: Layout, origin: str) -> dict[str, int]:
    given: dict[str, int] = {}
    for port in layout.ports:
        for axis, (key, value) in enumerate(zip(layout.keys(port), shapes.get(port.name, ()), strict=False)):
            expected = key if isinstance(key, int) else given.setdefault(key, value)
            if expected != value:
                raise UsageError(
                    "axis_disagrees",
                    flag=origin,
                    name=port.name,
                    axis=axis,
                    given=value,
                    expected=expected,
                    dim=key if isinstance(key, str) else None,
                    inputs=describe_inputs(layout.ports),
                )
    return given


def _constant_lengths(layout: Layout) -> list[int]:
    return [
        dim
        for port in layout.ports
        for axis, dim in enumerate(port.shape or ())
        if axis == 1 and isinstance(dim, int) and is_sequence(Place(port, axis), "")
    ]


def _own_batch(layout: Layout) -> int | None:
    """Return axis 0 of the first input if constant, the model's own batch; states come last, as they count layers."""
    ports = [p for p in layout.ports if p.kind == "tensor" and p.shape and isinstance(p.shape[0], int)]
    ports.sort(key=is_state)
    first = ports[0].shape[0] if ports and ports[0].shape else None
    return first if isinstance(first, int) and first > 0 else None


def _fixed_by(layout: Layout) -> Reason:
    for port in layout.ports:
        if port.kind == "tensor" and port.shape:
            return because("input_is", name=port.name, shape=shape_reason(port))
    return because("no_batch_axis")


MAX_TRIALS = 40
_MAX_HINTED = 16
_MAX_STEPS = 2000
_LARGEST_HINT = 8192
_OPTIONAL = "optional inputs"


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
