"""One node as those see it who count: its operator, attributes and tensors; and the answer they give."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import onnx

from tuibench.models.cost.tensor import Shape, Tensor
from tuibench.models.graph import text


class Unknown(Exception):
    """Why something cannot be counted."""


@dataclass(frozen=True, slots=True)
class Work:
    """What one execution of a node does; None where that is unknown."""

    macs: int | None = 0
    element_flops: int | None = 0
    integer: bool = False
    why: str = ""


@dataclass(frozen=True)
class Call:
    """A node with the tensors that it reads and writes in one execution; None for one that is left out."""

    node: onnx.NodeProto
    inputs: Sequence[Tensor | None]
    outputs: Sequence[Tensor | None]
    quantized: bool = False
    """Whether its first two inputs come from 8 bits alone, so that an engine may multiply integers."""

    def has(self, number: int) -> bool:
        """Whether input `number` is passed."""
        return number < len(self.inputs) and self.inputs[number] is not None

    def shape(self, number: int) -> Shape:
        """The shape of an input, or Unknown."""
        return _shape(self.inputs, number, "input")

    def out(self, number: int = 0) -> Shape:
        """The shape of an output, or Unknown."""
        return _shape(self.outputs, number, "output")

    def elements(self, number: int = 0) -> int:
        """How many elements an input has."""
        return math.prod(self.shape(number))

    def written(self, number: int = 0) -> int:
        """How many elements an output has."""
        return math.prod(self.out(number))

    def number(self, name: str, default: int = 0) -> int:
        """An attribute that is an integer."""
        found = self._attributes.get(name)
        return int(found.i) if found is not None else default

    def numbers(self, name: str) -> tuple[int, ...]:
        """An attribute that is a list of integers."""
        found = self._attributes.get(name)
        return tuple(found.ints) if found is not None else ()

    def words(self, name: str, default: str = "") -> str:
        """An attribute that is a text."""
        found = self._attributes.get(name)
        return text(found.s) if found is not None else default

    def floats(self, name: str) -> int:
        """How many numbers a list attribute holds."""
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
