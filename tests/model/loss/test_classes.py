"""Detection of outputs that are classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

from tests.model.loss.built import random
from tuibench.model.loss.similarity import find_classes, find_probabilities
from tuibench.worker.bundle import Array

SHARES = np.array([[0.25, 0.75], [0.5, 0.5]], np.float32)


def looks(name: str, array: Array, *operators: str) -> bool:
    nodes, last = [], "x"
    for number, operator in enumerate(operators):
        out = name if number == len(operators) - 1 else f"t{number}"
        nodes.append(helper.make_node(operator, [last], [out]))
        last = out
    graph: Any = helper.make_graph(nodes, "g", [], [])
    return name in find_classes(graph, {name: array})


@pytest.mark.parametrize(
    ("name", "shape", "operators"),
    [
        ("output", (2, 10), ("Gemm",)),
        ("output", (1, 10), ("MatMul", "Add")),
        ("output", (1, 10, 1, 1), ("GlobalAveragePool",)),
        ("output", (2, 10, 1, 1), ("Conv",)),
        ("output", (1, 10), ("Gemm", "Flatten", "Identity")),
        ("logits", (1, 7, 50), ("Transpose",)),
        ("class_scores", (3, 4), ("Mul",)),
    ],
)
def test_output_of_class_scores_is_detected(name: str, shape: Any, operators: Any) -> None:
    assert looks(name, random(*shape), *operators)


@pytest.mark.parametrize(
    ("name", "shape", "operators"),
    [
        ("output", (2, 10), ("Tanh",)),
        ("output", (2, 10), ("LayerNormalization",)),
        ("last_hidden_state", (2, 10), ("Gemm",)),
        ("boxes", (2, 4), ("Gemm",)),
        ("output", (1, 7, 50), ("MatMul",)),
        ("output", (1, 3, 8, 8), ("Add",)),
        ("output", (1, 3, 8, 8), ("Conv",)),
        ("logits", (2, 1), ("Gemm",)),
        ("logits", (5,), ("Gemm",)),
    ],
)
def test_output_without_class_scores_is_not_detected(name: str, shape: Any, operators: Any) -> None:
    assert not looks(name, random(*shape), *operators)


def test_rows_that_sum_to_one_are_probabilities_under_any_name() -> None:
    assert looks("pool", SHARES, "Mul")
    outputs = {"p": SHARES, "half": SHARES / 2, "nan": SHARES * np.nan, "flat": SHARES[0], "off": SHARES * 3 - 1}
    assert find_probabilities(outputs) == {"p"}


def test_cycle_of_nodes_does_not_hang_the_search() -> None:
    nodes = [helper.make_node("Identity", ["b"], ["a"]), helper.make_node("Identity", ["a"], ["b"])]
    assert not find_classes(helper.make_graph(nodes, "g", [], []), {"a": random(2, 3)})
