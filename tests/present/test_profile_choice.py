"""Page selections by typed name, and the refusal of unknown names."""

from __future__ import annotations

import pytest

from tests.present.profile.sample_data import make_loss
from tests.refusal import refused
from tuibench.core.errors import UsageError
from tuibench.present.error.words import message_words
from tuibench.present.profile.page import settle
from tuibench.present.profile.shown import Shown
from tuibench.present.profile.summary import COST_TYPES, DISPLAYS, PRUNED_TYPES, SUMMARY_TYPES


@pytest.mark.parametrize(
    ("kind", "typed", "meant"),
    [
        ("performance", "potential-ms", "potential ms"),
        ("performance", "POTENTIAL %", "potential %"),
        ("performance", "int8ms", "INT8 ms"),
        ("flops", "flops", "FLOPs"),
        ("loss", "0.95", "pruned 0.95"),
        ("loss", "pruned_0.95", "pruned 0.95"),
        ("loss", "INT8", "int8"),
        ("loss", "params", "params"),
        ("loss", "", ""),
    ],
)
def test_summary_type_is_recognized_in_every_spelling(kind: str, typed: str, meant: str) -> None:
    assert settle(kind, Shown(summary=typed)).summary == meant


def test_every_name_in_a_refusal_is_accepted() -> None:
    for kind, known in (("performance", (*SUMMARY_TYPES, *PRUNED_TYPES)), ("flops", COST_TYPES)):
        with refused(UsageError, "not_one_of", subject="--summary-type", given="int4", allowed=list(known)):
            settle(kind, Shown(summary="int4"))
        assert [settle(kind, Shown(summary=name)).summary for name in known] == list(known)
    with refused(UsageError, "not_one_of", subject="--value", given="pie") as caught:
        settle("flops", Shown(display="pie"))
    assert message_words(caught.value) == "--value takes values, log or % of total, not 'pie'"
    assert [settle("flops", Shown(display=name)).display for name in (*DISPLAYS, "%")] == [*DISPLAYS, DISPLAYS[-1]]


def test_loss_profile_offers_only_its_own_selections() -> None:
    from dataclasses import replace

    few = replace(make_loss(), levels=("int8",))
    assert settle("loss", Shown(sort="int8", summary="int8"), few).summary == "int8"
    for wrong in (Shown(sort="0.5"), Shown(summary="pruned 0.5"), Shown(summary="baseline ms")):
        with refused(UsageError, "unknown_column" if wrong.sort else "not_one_of", given=wrong.sort or wrong.summary):
            settle("loss", wrong, few)
