"""Estimates for element-wise and fused operators; unknown work is never shown as zero."""

from __future__ import annotations

from typing import Any

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import defs, helper

from tests.model.cost.support import MICROSOFT, Shape, macs, work
from tuibench.core.reason import Reason, because
from tuibench.model.cost.products import count_call, is_counted
from tuibench.model.cost.structure import Call, Tensor

NCHWC = "com.microsoft.nchwc"
X: Shape = (2, 10)
UNCOUNTED = {"CausalConvWithState", "Det", "LinearAttention"}
"""Of ONNX itself: what is not counted is shown as unknown."""


@pytest.mark.parametrize(
    ("op", "expected"),
    [("Relu", 20), ("Softmax", 100), ("LayerNormalization", 160), ("Erf", 160), ("Transpose", 0), ("Gather", 0)],
)
def test_element_wise_operator_counts_flops_per_element(op: str, expected: int) -> None:
    found = work(op, [X], [X])
    assert (found.macs, found.element_flops) == (0, expected)


def test_reduction_and_pooling_count_input_elements() -> None:
    assert work("ReduceMean", [(4, 100)], [(4, 1)]).element_flops == 400
    assert work("MaxPool", [(1, 8, 10, 10)], [(1, 8, 5, 5)]).element_flops == 800


def test_sum_adds_every_input_after_the_first() -> None:
    assert work("Sum", [X, X, X], [X]).element_flops == 40


def test_fourier_transform_counts_n_log_n() -> None:
    assert work("DFT", [(1, 64, 1)], [(1, 64, 2)]).element_flops == 5 * 64 * 6
    for axis in (2, -2):
        assert work("DFT", [(1, 8, 64, 1)], [(1, 8, 64, 2)], axis=axis).element_flops == 8 * 5 * 64 * 6
    assert work("STFT", [(1, 4096, 1), (), (64,)], [(1, 10, 33, 2)]).element_flops == 10 * 5 * 64 * 6


@pytest.mark.parametrize(
    ("op", "domain", "inputs", "output", "attributes", "expected"),
    [
        ("FusedConv", MICROSOFT, [(1, 3, 8, 8), (4, 3, 3, 3), (4,)], (1, 4, 6, 6), {"activation": "Relu"}, 144 * 27),
        ("NhwcFusedConv", MICROSOFT, [(1, 8, 8, 3), (4, 3, 3, 3)], (1, 6, 6, 4), {}, 144 * 27),
        ("Conv", NCHWC, [(1, 3, 8, 8), (16, 3, 3, 3)], (1, 16, 6, 6), {}, 16 * 36 * 27),
        ("FusedGemm", MICROSOFT, [(5, 6), (7, 6)], (5, 7), {"transB": 1}, 5 * 6 * 7),
        ("FusedMatMul", MICROSOFT, [(3, 6, 5), (3, 6, 7)], (3, 5, 7), {"transA": 1}, 3 * 5 * 6 * 7),
        ("FusedMatMul", MICROSOFT, [(5, 3, 6), (3, 6, 7)], (3, 5, 7), {"transBatchA": 1}, 3 * 5 * 6 * 7),
        ("FusedMatMul", MICROSOFT, [(6, 3, 5), (3, 6, 7)], (3, 5, 7), {"transA": 1, "transBatchA": 1}, 630),
    ],
)
def test_fused_operator_macs_match_the_formula(
    op: str, domain: str, inputs: list[Shape], output: Shape, attributes: dict[str, Any], expected: int
) -> None:
    assert macs(op, inputs, [output], domain, **attributes) == expected


def test_fused_conv_counts_activation_bias_and_sum_per_element() -> None:
    plain = work("FusedConv", [(1, 3, 8, 8), (4, 3, 3, 3)], [(1, 4, 6, 6)], MICROSOFT)
    full: list[Shape] = [(1, 3, 8, 8), (4, 3, 3, 3), (4,), (1, 4, 6, 6)]
    fused = work("FusedConv", full, [(1, 4, 6, 6)], MICROSOFT, activation="Relu")
    assert (plain.element_flops, fused.element_flops) == (0, 3 * 144)


@pytest.mark.parametrize(
    ("op", "domain", "why"),
    [
        ("Frobnicate", "", because("operator_unknown", name="Frobnicate")),
        ("Conv", "my.domain", because("operator_unknown", name="my.domain.Conv")),
        ("TreeEnsemble", "ai.onnx.ml", because("work_by_data", name="TreeEnsemble")),
    ],
)
def test_unknown_operator_has_no_count_and_a_reason(op: str, domain: str, why: Reason) -> None:
    found = work(op, [X], [X], domain)
    assert (found.macs, found.element_flops, found.why) == (None, None, why)


def test_every_onnx_operator_is_counted_or_listed_as_uncounted() -> None:
    own = {schema.name for schema in defs.get_all_schemas() if schema.domain == ""}
    gradients = {name for name in own if name.startswith("Gradient")}
    assert {name for name in own if not is_counted("", name)} - gradients <= UNCOUNTED


def test_unknown_input_shape_is_given_as_the_reason() -> None:
    node = helper.make_node("MatMul", [], [])
    found = count_call(Call(node, [Tensor("float32", None), Tensor("float32", (4, 4))], []))
    assert (found.macs, found.why) == (None, because("shape_unknown", what="input", number=0))


_OPS = sorted({(s.domain, s.name) for s in defs.get_all_schemas() if is_counted(s.domain, s.name)})
_CONTRIB = [
    (MICROSOFT, name)
    for name in ("Attention", "MultiHeadAttention", "GroupQueryAttention", "MatMulNBits", "QGemm", "QAttention")
]
_SHAPES = st.none() | st.lists(st.integers(0, 5), max_size=5).map(tuple)


@settings(max_examples=100)
@given(
    st.sampled_from([*_OPS, *_CONTRIB, (NCHWC, "Conv")]),
    st.lists(_SHAPES, max_size=8),
    st.lists(_SHAPES, max_size=3),
    st.dictionaries(
        st.sampled_from(["group", "num_heads", "kv_num_heads", "K", "N", "axis", "transA", "sampling_ratio"]),
        st.integers(-2, 3),
    ),
)
def test_counting_survives_any_shape(
    op: tuple[str, str], inputs: list[Shape], outputs: list[Shape], numbers: dict[str, int]
) -> None:
    found = work(op[1], inputs, outputs, op[0], **numbers)
    assert (found.macs is None) == (found.element_flops is None) == bool(found.why)
    assert (found.macs or 0) >= 0
    assert (found.element_flops or 0) >= 0


def test_attribute_of_another_type_is_ignored() -> None:
    node = onnx.NodeProto(op_type="Gemm")
    node.attribute.append(helper.make_attribute("transA", "yes"))
    found = count_call(Call(node, [Tensor("float32", (2, 3)), Tensor("float32", (3, 4))], [Tensor("float32", (2, 4))]))
    assert found.macs == 24
