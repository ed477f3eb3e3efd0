"""A node with its operator, attributes and tensors, as passed to the count functions, and their result."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import onnx

from tuibench.models.cost.tensor import Shape, Tensor
from tuibench.models.graph import text


class Unknown(Exception):
    """The reason why a cost cannot be computed."""


@dataclass(frozen=True, slots=True)
class Work:
    """Work of one execution of a node; None if unknown."""

    macs: int | None = 0
    element_flops: int | None = 0
    integer: bool = False
    why: str = ""


@dataclass(frozen=True)
class Call:
    """A node with the tensors that it reads and writes in one execution; None for omitted ones."""

    node: onnx.NodeProto
    inputs: Sequence[Tensor | None]
    outputs: Sequence[Tensor | None]
    quantized: bool = False
    """True if its first two inputs come from 8-bit values, so that an engine may multiply integers."""

    def has(self, number: int) -> bool:
        """Return whether input `number` is present."""
        return number < len(self.inputs) and self.inputs[number] is not None

    def shape(self, number: int) -> Shape:
        """Return the shape of an input; raise Unknown if it is not known."""
        return _shape(self.inputs, number, "input")

    def out(self, number: int = 0) -> Shape:
        """Return the shape of an output; raise Unknown if it is not known."""
        return _shape(self.outputs, number, "output")

    def elements(self, number: int = 0) -> int:
        """Return the number of elements of an input."""
        return math.prod(self.shape(number))

    def written(self, number: int = 0) -> int:
        """Return the number of elements of an output."""
        return math.prod(self.out(number))

    def number(self, name: str, default: int = 0) -> int:
        """Return an integer attribute."""
        found = self._attributes.get(name)
        return int(found.i) if found is not None else default

    def numbers(self, name: str) -> tuple[int, ...]:
        """Return an attribute that is a list of integers."""
        found = self._attributes.get(name)
        return tuple(found.ints) if found is not None else ()

    def words(self, name: str, default: str = "") -> str:
        """Return a text attribute."""
        found = self._attributes.get(name)
        return text(found.s) if found is not None else default

    def floats(self, name: str) -> int:
        """Return the length of an attribute that is a list of floats."""
        found = self._attributes.get(name)
        return len(found.floats) if found is not None else 0

    @cached_property
    def _attributes(self) -> dict[str, onnx.AttributeProto]:
        return {text(attribute.name): attribute for attribute in self.node.attribute}


Count = Callable[[Call], Work]


def _shape(tensors: Sequence[Tensor | None], number: int, what: str) -> Shape:
    found = tensors[number] if number < len(tensors) else None
    if found is None:
        raise Unknown(f"{what} {number} is missing")
    if found.shape is None:
        raise Unknown(f"the shape of {what} {number} is not known")
    return found.shape
