"""Costs on the dashboard's pages."""

from __future__ import annotations

from dataclasses import replace

from tests.present.profile.stock import make_costs
from tuibench.tui.glyph import glyphs_of
from tuibench.tui.screens.profile.book_costs import CostBook

GLYPHS = glyphs_of(False)


def test_uncountable_model_costs_are_unknown_not_zero() -> None:
    nothing = replace(
        make_costs(), nodes=(), macs=0, element_flops=0, parameters=0, zeros=0, weight_bytes=0, activation_bytes=0,
        shapes_from="", notes=("died by SIGSEGV",),
    )  # fmt: skip
    facts = {fact.label: fact.text for fact in CostBook(nothing).facts(GLYPHS)}
    assert facts["parameters"] == "unknown" and facts["at"].endswith("shapes from unknown")
    counted = {fact.label: fact.text for fact in CostBook(make_costs()).facts(GLYPHS)}
    assert "weights" in counted["parameters"] and "unknown" not in counted["at"]
