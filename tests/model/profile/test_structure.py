from __future__ import annotations

import random
from collections.abc import Sequence

import onnx
import pytest
from onnx import helper

from tests.model.factory import F32, model, tensor
from tuibench.model.profile.events import Flat, Tensor
from tuibench.model.profile.mapping import map_rows

Link = tuple[str, tuple[str, ...], str, str]
"""Operator, what it reads, what it gives, its name."""


class Counting(dict[Tensor, int]):
    """The producers of tensors, and a count of lookups."""

    asked = 0

    def get(self, key: Tensor, default: int | None = None) -> int | None:  # type: ignore[override]
        self.asked += 1
        return super().get(key, default)


def graph(links: Sequence[Link]) -> onnx.GraphProto:
    nodes = [helper.make_node(op, list(reads), [gives], name=name) for op, reads, gives, name in links]
    return model(nodes, [tensor("x", F32, [4])], [tensor(links[-1][2], F32, [4])]).graph


def kernel_of(original: Sequence[Link], optimized: Sequence[Link]) -> tuple[dict[str, tuple[str, ...]], int]:
    """Return the tensors made by the kernels of each node's row, and the number of steps."""
    flats = Flat(graph(original)), Flat(graph(optimized))
    counting = [Counting(flat.producer) for flat in flats]
    flats[0].producer, flats[1].producer = counting
    rows = map_rows(*flats)
    found = {
        node: tuple(flats[1].nodes[kernel].node.output[0] for kernel in row.kernels)
        for row in rows
        for node in row.nodes
    }
    return found, sum(one.asked for one in counting)


def chain(count: int, op: str = "Relu") -> tuple[list[Link], list[Link]]:
    """Return a chain in which every node but the first has lost its name."""
    first: Link = ("Exp", ("x",), "t0", "first")
    original = [first, *((op, (f"t{n}",), f"t{n + 1}", f"node {n}") for n in range(count))]
    return original, [first, *((op, ("t0" if n == 0 else f"k{n}",), f"k{n + 1}", "") for n in range(count))]


def lost_chain(count: int) -> tuple[list[Link], list[Link]]:
    """Return a chain without any name, so that inputs identify nothing."""
    return chain(count)[0], [("Relu", ("x" if n == 0 else f"k{n}",), f"k{n + 1}", "") for n in range(count)]


def fan(count: int) -> tuple[list[Link], list[Link]]:
    """Return many readers of one tensor, each with one reader of its own output."""
    first: Link = ("Exp", ("x",), "t", "first")
    original, optimized = [first], [first]
    for n in range(count):
        original += [("Relu", ("t",), f"a{n}", ""), ("Neg", (f"a{n}",), f"b{n}", "")]
        optimized += [("Relu", ("t",), f"k{n}", ""), ("Neg", (f"k{n}",), f"b{n}", "")]
    return original, optimized


def strangers(count: int) -> tuple[list[Link], list[Link]]:
    """Return unmatched nodes and kernels before and between those that match."""
    original: list[Link] = [("Exp", ("x",), "t", "first")]
    optimized = list(original)
    original += [("Relu", ("x",), f"folded {n}", "") for n in range(count)]
    for n in range(count):
        original += [("Exp", ("t",), f"e{n}", f"e{n}"), ("Relu", (f"e{n}",), f"r{n}", "")]
        optimized += [("Exp", ("t",), f"e{n}", f"e{n}"), ("Relu", (f"e{n}", "t"), f"s{n}", "")]
        optimized += [("Relu", (f"e{n}",), f"q{n}", "")]
    return original, optimized


def sums(count: int) -> tuple[list[Link], list[Link]]:
    """Return kernels that each read one more node than the one before."""
    first: Link = ("Exp", ("x",), "t0", "first")
    named: list[Link] = [("Exp", ("t0",), f"e{n}", f"e{n}") for n in range(count)]
    adds: list[Link] = [("Add", (f"k{n}" if n else "t0", f"e{n}"), f"k{n + 1}", "") for n in range(count)]
    muls: list[Link] = [("Mul", (f"m{n}" if n else "t0", f"e{n}"), f"m{n + 1}", "") for n in range(count)]
    return [first, *named, *muls], [first, *named, *adds]


@pytest.mark.parametrize("make", [chain, lost_chain, fan, strangers, sums])
def test_twice_the_unnamed_kernels_take_twice_the_steps(make: object) -> None:
    assert callable(make)
    steps = [kernel_of(*make(count))[1] for count in (300, 600)]
    assert steps[1] <= 2.3 * steps[0], steps


def test_unnamed_chain_is_matched_node_by_node() -> None:
    found, _ = kernel_of(*chain(40))
    assert all(found[f"t{n}"] == (f"k{n}",) for n in range(1, 41))


def test_readers_of_one_tensor_are_matched_in_order() -> None:
    found, _ = kernel_of(*fan(40))
    assert all(found[f"a{n}"] == (f"k{n}",) and found[f"b{n}"] == (f"b{n}",) for n in range(40))


def test_unmatched_nodes_do_not_prevent_other_matches() -> None:
    found, _ = kernel_of(*strangers(40))
    assert all(f"q{n}" in found[f"r{n}"] for n in range(40))


def test_branches_in_any_order_are_matched() -> None:
    original: list[Link] = [("Exp", ("x",), f"e{n}", f"e{n}") for n in range(20)]
    optimized = list(original)
    original += [("Relu", (f"e{n}",), f"r{n}", "") for n in range(20)]
    optimized += [("Relu", (f"e{n}",), f"k{n}", "") for n in random.Random(1).sample(range(20), 20)]
    found, _ = kernel_of(original, optimized)
    assert all(found[f"r{n}"] == (f"k{n}",) for n in range(20))
