"""Incomplete sums are marked as such, and unknown costs are not zero."""

from __future__ import annotations

from dataclasses import replace

from tuibench.core.profile import CostProfile, NodeCost
from tuibench.core.reason import Reason, legacy_text
from tuibench.present.profile.costs import total_words, unknown_words

CONV = NodeCost("c", 0, "Conv", "", macs=1_000_000, element_flops=5_000, activation_bytes=2_000)
RELU = NodeCost("r", 1, "Relu", "", element_flops=3_000, activation_bytes=1_000)
RANK = NodeCost(
    "k", 2, "Rank", "", macs=None, element_flops=None, activation_bytes=None, why=legacy_text("nobody counts it")
)
LOOPED = NodeCost("l", 3, "MatMul", "", macs=500, activation_bytes=10, times=None)


def costs(*nodes: NodeCost) -> CostProfile:
    """Return the costs of these nodes with totals of the known ones."""
    macs, elements = (sum(getattr(node, name) or 0 for node in nodes) for name in ("macs", "element_flops"))
    moved = sum(node.activation_bytes or 0 for node in nodes)
    return CostProfile(nodes, 1, 1, {}, macs, elements, 0, 0, 0, moved, None, 0, Reason("traced"))


def words(profile: CostProfile) -> tuple[str, ...]:
    """Return all four sums."""
    return (
        total_words(profile, "macs"),
        total_words(profile, "flops"),
        total_words(profile, "element_flops"),
        total_words(profile, "activation_bytes"),
    )


def test_known_total_is_a_plain_number() -> None:
    assert words(costs(CONV, RELU)) == ("1.00 M", "2.01 M", "8.00 k", "3.00 kB")
    assert unknown_words(costs(CONV, RELU)) == ""


def test_model_without_nodes_costs_nothing() -> None:
    assert words(costs()) == ("0", "0", "0", "0 B")


def test_uncountable_cost_is_unknown() -> None:
    assert words(replace(costs(), shapes_from=None, notes=(legacy_text("died by SIGSEGV"),))) == ("unknown",) * 4


def test_sum_without_known_values_is_unknown() -> None:
    assert words(costs(RANK)) == ("unknown",) * 4


def test_incomplete_sum_is_a_minimum_and_names_what_is_missing() -> None:
    some = costs(CONV, RANK)
    assert words(some) == ("at least 1.00 M", "at least 2.00 M", "at least 5.00 k", "at least 2.00 kB")
    assert unknown_words(some) == "operations of 1 node, bytes of 1 node (Rank: nobody counts it)"


def test_reason_is_that_of_the_unknown_part() -> None:
    folded = NodeCost("c", 0, "Constant", "", macs=0, element_flops=0, activation_bytes=0, why=Reason("done_before"))
    assert unknown_words(costs(folded, RANK)) == "operations of 1 node, bytes of 1 node (Rank: nobody counts it)"


def test_unknown_repetition_counts_once_as_a_minimum() -> None:
    assert total_words(costs(LOOPED, LOOPED), "macs") == "at least 1.00 k"
    assert unknown_words(costs(LOOPED, LOOPED)) == "how often 2 nodes run"
    assert unknown_words(costs(LOOPED)) == "how often 1 node runs"


def test_reason_cannot_drive_the_terminal() -> None:
    hostile = NodeCost("h", 0, "Op\x1b[2J", "", macs=None, why=legacy_text("bad\x1b[31m"))
    assert "\x1b" not in unknown_words(costs(hostile))
