"""Attention operators: queries by keys, scores by values, and the projection if the node includes it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model.cost.support import MICROSOFT, Shape, macs, work
from tuibench.core.reason import Reason, because

B, H, G, S, P, D = 2, 12, 4, 16, 5, 64
SCORES = B * H * S * S * 2 * D
WITH_PAST = B * H * S * (S + P) * 2 * D
PAST: Shape = (B, H, P, D)


@pytest.mark.parametrize(
    ("inputs", "attributes", "expected"),
    [
        ([(B, H, S, D)] * 3, {}, SCORES),
        ([(B, S, H * D)] * 3, {"q_num_heads": H, "kv_num_heads": H}, SCORES),
        ([(B, S, H * D), (B, S, G * D), (B, S, G * D)], {"q_num_heads": H, "kv_num_heads": G}, SCORES),
        ([*[(B, H, S, D)] * 3, None, PAST, PAST], {}, WITH_PAST),
        ([(B, H, S, D), (B, H, 9, D), (B, H, 9, 32)], {}, B * H * S * 9 * (D + 32)),
    ],
)
def test_onnx_attention_macs_match_the_formula(inputs: list[Shape], attributes: dict[str, Any], expected: int) -> None:
    assert macs("Attention", inputs, [(B, S, H * D)], **attributes) == expected


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ([(B, S, H * D)] * 3, SCORES),
        ([(B, S, H, 3, D)], SCORES),
        ([(B, S, H * D), (B, 9, H, 2, D)], B * H * S * 9 * 2 * D),
        ([(B, S, H * D), (B, H, 9, D), (B, H, 9, D)], B * H * S * 9 * 2 * D),
        ([*[(B, S, H * D)] * 3, None, None, None, PAST, PAST], WITH_PAST),
    ],
)
def test_multi_head_attention_macs_match_the_formula(inputs: list[Shape], expected: int) -> None:
    assert macs("MultiHeadAttention", inputs, [(B, S, H * D)], MICROSOFT, num_heads=H) == expected


@pytest.mark.parametrize("op", ["Attention", "QAttention"])
def test_fused_attention_macs_include_the_projection(op: str) -> None:
    found = work(op, [(B, S, 768), (768, 3 * 768), (3 * 768,)], [(B, S, 768)], MICROSOFT, num_heads=H)
    assert found.macs == B * S * 768 * 3 * 768 + SCORES
    assert found.integer == (op == "QAttention")


def test_attention_with_unequal_hidden_sizes_is_counted() -> None:
    sizes: dict[str, Any] = {"num_heads": 2, "qkv_hidden_sizes": [8, 8, 4]}
    found = macs("Attention", [(1, S, 16), (16, 20)], [(1, S, 4)], MICROSOFT, **sizes)
    assert found == S * 16 * 20 + S * S * (8 + 4)


@pytest.mark.parametrize(
    "query", [[(B, S, H * D), (B, S, G * D), (B, S, G * D)], [(B, S, (H + 2 * G) * D), None, None]]
)
def test_grouped_query_attention_length_comes_from_the_returned_keys(query: list[Shape]) -> None:
    heads: dict[str, Any] = {"num_heads": H, "kv_num_heads": G}
    told: list[Shape] = [(B, S, H * D), (B, G, S + P, D), (B, G, S + P, D)]
    assert macs("GroupQueryAttention", query, told, MICROSOFT, **heads) == WITH_PAST
    assert macs("GroupQueryAttention", [*query, PAST], told[:1], MICROSOFT, **heads) == WITH_PAST


def test_grouped_query_attention_with_a_shared_buffer_is_unknown() -> None:
    heads: dict[str, Any] = {"num_heads": H, "kv_num_heads": G}
    packed: list[Shape] = [(B, S, (H + 2 * G) * D), None, None]
    whole, more, none = (B, G, 4096, D), (B, G, P, D), (B, G, 0, D)
    given: Shape = (B, S, H * D)
    shared = work("GroupQueryAttention", [*packed, whole, whole], [given, whole, whole], MICROSOFT, **heads)
    assert shared.macs is None and shared.why == Reason("past_buffer_shared")
    longer: Shape = (B, G, S + P, D)
    assert macs("GroupQueryAttention", [*packed, more, more], [given, longer, longer], MICROSOFT, **heads) == WITH_PAST
    alone: Shape = (B, G, S, D)
    assert macs("GroupQueryAttention", [*packed, none, none], [given, alone, alone], MICROSOFT, **heads) == SCORES
    past: list[Shape] = [*[(B, S, H * D)] * 3, None, None, None, PAST, PAST, (1,)]
    assert work("MultiHeadAttention", past, [given], MICROSOFT, num_heads=H).why == shared.why
    first: list[Shape] = [(B, S, 768), (768, 3 * 768), (3 * 768,), None, (2, B, H, P, D)]
    assert work("Attention", first, [given], MICROSOFT, num_heads=H).macs == B * S * 768 * 3 * 768 + WITH_PAST
    told = work("Attention", first, [given], MICROSOFT, num_heads=H, past_present_share_buffer=1)
    assert told.macs is None and told.why == shared.why


@pytest.mark.parametrize(
    ("op", "domain", "why"),
    [
        ("Attention", "", Reason("heads_unknown")),
        ("Attention", MICROSOFT, because("attributes_missing", names=["num_heads"])),
        ("MultiHeadAttention", MICROSOFT, because("attributes_missing", names=["num_heads"])),
        ("GroupQueryAttention", MICROSOFT, because("attributes_missing", names=["num_heads", "kv_num_heads"])),
    ],
)
def test_attention_without_a_head_count_is_unknown(op: str, domain: str, why: Reason) -> None:
    found = work(op, [(B, S, H * D)] * 3, [(B, S, H * D)], domain)
    assert (found.macs, found.why) == (None, why)
