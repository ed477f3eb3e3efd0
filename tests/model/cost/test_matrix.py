"""Multiply-accumulates compared with products written by hand and with counting loops."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.model.cost.support import macs, work
from tuibench.core.reason import Reason

SIDE = 56


def test_grouped_convolution_counts_each_group_once() -> None:
    x, w = (1, 64, SIDE, SIDE), (64, 1, 3, 3)
    assert macs("Conv", [x, w], [x], group=64) == 1_806_336


@pytest.mark.parametrize("batch", [1, 8])
def test_convolution_counts_batch_and_channels(batch: int) -> None:
    found = work("Conv", [(batch, 3, 224, 224), (64, 3, 7, 7), (64,)], [(batch, 64, 112, 112)])
    assert found.macs == batch * 118_013_952
    assert found.element_flops == batch * 64 * 112 * 112  # the bias


def test_convolution_with_one_and_three_dims_is_counted() -> None:
    assert macs("Conv", [(1, 4, 10), (8, 4, 3)], [(1, 8, 8)]) == 8 * 8 * 12
    assert macs("Conv", [(1, 2, 5, 5, 5), (3, 2, 2, 2, 2)], [(1, 3, 4, 4, 4)]) == 3 * 64 * 16


def test_transposed_convolution_counts_its_inputs() -> None:
    assert macs("ConvTranspose", [(2, 16, 8, 8), (16, 4, 3, 3)], [(2, 8, 17, 17)], group=2) == 2 * 16 * 64 * 4 * 9


def test_deformable_convolution_adds_sampling_to_its_products() -> None:
    found = work("DeformConv", [(1, 4, 8, 8), (6, 4, 3, 3), (1, 18, 6, 6)], [(1, 6, 6, 6)])
    assert found.macs == 6 * 36 * 36
    assert found.element_flops == 8 * 4 * 36 * 9


@pytest.mark.parametrize(
    ("a", "b", "turned"),
    [
        ((64, 512), (512, 1000), {}),
        ((512, 64), (512, 1000), {"transA": 1}),
        ((64, 512), (1000, 512), {"transB": 1}),
    ],
)
def test_gemm_counts_macs_of_any_transpose(a: tuple[int, ...], b: tuple[int, ...], turned: dict[str, Any]) -> None:
    assert macs("Gemm", [a, b, (1000,)], [(64, 1000)], **turned) == 64 * 512 * 1000


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((384, 768), (768, 768), 226_492_416),
        ((2, 12, 128, 64), (2, 12, 64, 128), 2 * 12 * 128 * 64 * 128),
        ((1, 12, 16, 8), (5, 1, 8, 4), 5 * 12 * 16 * 8 * 4),
        ((7,), (7,), 7),
        ((7,), (3, 7, 2), 3 * 7 * 2),
        ((3, 2, 7), (7,), 3 * 2 * 7),
        ((0, 4), (4, 5), 0),
    ],
)
def test_matmul_macs_match_products_by_hand(a: tuple[int, ...], b: tuple[int, ...], expected: int) -> None:
    assert macs("MatMul", [a, b], [None]) == expected


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), st.lists(st.integers(1, 3), max_size=2))
def test_matmul_macs_are_outputs_times_depth(rows: int, depth: int, columns: int, batch: list[int]) -> None:
    a, b = (*batch, rows, depth), (depth, columns)
    out = np.matmul(np.zeros(a), np.zeros(b)).shape
    assert macs("MatMul", [a, b], [out]) == math.prod(out) * depth


@pytest.mark.parametrize(
    ("equation", "shapes", "expected", "element"),
    [
        ("ij,jk->ik", [(3, 4), (4, 5)], 60, 0),
        ("bhid,bhjd->bhij", [(2, 3, 4, 5), (2, 3, 6, 5)], 2 * 3 * 4 * 6 * 5, 0),
        ("...ij,...jk->...ik", [(7, 2, 3), (7, 3, 4)], 7 * 24, 0),
        ("...ij,jk", [(7, 2, 3), (3, 4)], 7 * 24, 0),
        ("i,j->ij", [(3,), (4,)], 0, 12),
        ("ij->ji", [(3, 4)], 0, 0),
        ("ij->i", [(3, 4)], 0, 12),
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)], 2 * 3 * 4 + 2 * 4 * 5, 0),
    ],
)
def test_einsum_macs_match_products_by_hand(
    equation: str, shapes: list[tuple[int, ...]], expected: int, element: int
) -> None:
    found = work("Einsum", shapes, [(1,)], equation=equation)
    assert (found.macs, found.element_flops) == (expected, element)


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True), st.data())
def test_einsum_of_two_counts_every_combination_of_labels(left: list[str], data: st.DataObject) -> None:
    sizes = {"a": 2, "b": 3, "c": 4, "d": 5}
    right = data.draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True))
    labels = sorted({*left, *right})
    kept = data.draw(st.lists(st.sampled_from(labels), unique=True))
    found = work(
        "Einsum",
        [tuple(sizes[c] for c in left), tuple(sizes[c] for c in right)],
        [tuple(sizes[c] for c in kept)],
        equation=f"{''.join(left)},{''.join(right)}->{''.join(kept)}",
    )
    steps = sum(1 for _ in product(*(range(sizes[c]) for c in labels)))
    assert (found.macs or 0) + (found.element_flops or 0) == steps
    assert bool(found.macs) == (set(labels) != set(kept))


@pytest.mark.parametrize("equation", ["ij,jk->ik", "ijk->i", "", "->", "...,..."])
def test_einsum_with_a_wrong_input_count_is_unknown(equation: str) -> None:
    found = work("Einsum", [(3, 4), (4, 5), (1,)], [(3, 5)], equation=equation)
    assert (found.macs, found.why) == (None, Reason("equation_input_count"))
