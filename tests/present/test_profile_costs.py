"""Facts of a FLOPS profile."""

from __future__ import annotations

from dataclasses import replace

from tests.present.profile.stock import make_costs
from tuibench.present.profile.kind import view_of


def test_uncountable_model_costs_are_unknown_not_zero() -> None:
    nothing = replace(
        make_costs(), nodes=(), macs=0, element_flops=0, parameters=0, zeros=0, weight_bytes=0, activation_bytes=0,
        shapes_from="", notes=("died by SIGSEGV",),
    )  # fmt: skip
    facts = {label: text for label, text, _ in view_of(nothing).facts()}
    assert facts["parameters"] == "unknown" and facts["at"].endswith("shapes from unknown")
    counted = {label: text for label, text, _ in view_of(make_costs()).facts()}
    assert "weights" in counted["parameters"] and "unknown" not in counted["at"]
