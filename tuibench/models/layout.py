"""Free dims of the inputs, their addresses, and the dims that are the batch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tuibench.core.errors import UsageError
from tuibench.core.model import Port
from tuibench.core.text import show

# Names that exporters number themselves; they do not show which dims agree.
_COUNTED = re.compile(
    r"(unk_*\d+|.*_dim_\d+|.*dynamicdimension\.?\d+|dyn\w*_?\d*|[a-z]?\d+|\*|.*batch.*)", re.IGNORECASE
)


def is_tensor(port: Port) -> bool:
    """Return whether an input has one shape; items of a sequence share no batch."""
    return "tensor" in (port.kind, port.inner if port.kind == "optional" else None)


@dataclass(frozen=True, slots=True)
class Place:
    """One axis of one input."""

    port: Port
    axis: int

    @property
    def address(self) -> str:
        """INPUT:AXIS, valid for named and unnamed axes."""
        return f"{self.port.name}:{self.axis}"


@dataclass(frozen=True)
class Layout:
    """Free dims of a model; a key is the symbol, or INPUT:AXIS for an unnamed dim."""

    ports: tuple[Port, ...]
    batch_dim: str | None = None

    @cached_property
    def places(self) -> dict[str, list[Place]]:
        """Every free dim and its places, in the order of the inputs."""
        found: dict[str, list[Place]] = {}
        for port in self.ports:
            for axis, key in enumerate(self.keys(port)):
                if isinstance(key, str):
                    found.setdefault(key, []).append(Place(port, axis))
        return found

    @cached_property
    def batch(self) -> frozenset[str]:
        """Keys of the batch: the first free axis 0, and the others at axis 0 without a name of their own."""
        if self.batch_dim is not None:
            return frozenset(self.resolve(self.batch_dim, "--batch-dim"))
        if not self.axis_zero:
            return frozenset()
        first = self.axis_zero[0]
        others = [key for key in self.axis_zero if self._is_unnamed(key) or _COUNTED.fullmatch(key)]
        return frozenset({first, *others})

    @cached_property
    def axis_zero(self) -> tuple[str, ...]:
        """Free keys at axis 0 of tensor inputs, in the order of the inputs."""
        first = [self.keys(port)[0] for port in self.ports if is_tensor(port) and self.keys(port)]
        return tuple(dict.fromkeys(key for key in first if isinstance(key, str)))

    def keys(self, port: Port) -> tuple[int | str, ...]:
        """Return an input's shape with a key for each free axis; an unknown rank has only axis 0."""
        if port.shape is None:
            return (f"{port.name}:0",) if port.kind == "tensor" else ()
        return tuple(self._key(port, axis) for axis in range(len(port.shape)))

    def resolve(self, address: str, flag: str) -> tuple[str, ...]:
        """Return the keys for NAME or INPUT:AXIS; raise UsageError that lists the dims if there are none."""
        if address in self.places:
            return (address,)
        if address in self._repeated:
            # The user means every place with that name, although equal names do not tie places together here.
            return tuple(
                f"{port.name}:{axis}"
                for port in self.ports
                for axis, dim in enumerate(port.shape or ())
                if dim == address
            )
        found = self.find_axis(address)
        if isinstance(found, str):
            return (found,)
        if isinstance(found, int):
            raise UsageError(f"{flag} {show(address)}: the model fixes this dim to {found}", self.describe())
        raise UsageError(f"{flag} {show(address)}: the model has no such dim", self.describe())

    def find_axis(self, address: str) -> int | str | None:
        """Return the key or fixed size of INPUT:AXIS; None if no input has that axis."""
        name, _, axis = address.rpartition(":")
        for port in self.ports:
            keys = self.keys(port)
            if port.name == name and axis.isascii() and axis.isdigit() and int(axis) < len(keys):
                return keys[int(axis)]
        return None

    def describe(self) -> str:
        """Return the dims that can be set, for messages."""
        if not self.places:
            return "all dims of this model are fixed"
        shared = [f"{show(name, 60)} (wherever it is written)" for name in sorted(self._repeated)]
        return "its dims: " + ", ".join([*(show(key, 60) for key in self.places), *shared][:12])

    def _key(self, port: Port, axis: int) -> int | str:
        dim = (port.shape or ())[axis]
        if isinstance(dim, int):
            return dim
        if dim is None or dim in self._repeated:
            return f"{port.name}:{axis}"
        return dim

    @cached_property
    def _repeated(self) -> frozenset[str]:
        """Names written on axis 0 and on another axis of one input: placeholders, not one shared dim."""
        return frozenset(_repeated_names(self.ports))

    def _is_unnamed(self, key: str) -> bool:
        return any(place.address == key for place in self.places[key])


def _repeated_names(ports: Sequence[Port]) -> list[str]:
    return [
        port.shape[0]
        for port in ports
        if port.shape and isinstance(port.shape[0], str) and port.shape.count(port.shape[0]) > 1
    ]
