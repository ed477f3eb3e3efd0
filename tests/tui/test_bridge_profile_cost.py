from __future__ import annotations

from dataclasses import replace

from tests.insight.stock import make_costs
from tests.report.build import spec
from tuibench.tui.bridge_profile_cost import Counted

COSTS = replace(make_costs(4), batch=1, dims={"sequence": 128, "past": 8}, macs=1000, element_flops=10)
ASKED = spec(dims=(("sequence", (128,)),))
COUNTED = Counted(COSTS, "c" * 64, ASKED)


def test_other_sizes_than_were_counted_have_other_costs() -> None:
    assert COUNTED.at(ASKED) == COSTS
    assert COUNTED.at(replace(ASKED, dims=(("sequence", (2048,)),))) is None
    assert COUNTED.at(replace(ASKED, sequence_lengths=(2048,))) is None
    assert COUNTED.at(replace(ASKED, inputs=replace(ASKED.inputs, shapes=((1, 2048),)))) is None


def test_a_dim_that_is_left_to_the_model_has_its_fallback() -> None:
    assert COUNTED.at(replace(ASKED, dims=())) is None, "it was given, so its fallback may be another"
    assert COUNTED.at(replace(ASKED, dims=(*ASKED.dims, ("past", (8,))))) == COSTS
    assert COUNTED.at(replace(ASKED, dims=(*ASKED.dims, ("past", (9,))))) is None


def test_costs_grow_with_the_batch() -> None:
    found = COUNTED.at(replace(ASKED, batches=(4,)))
    assert found is not None and (found.macs, found.element_flops) == (4000, 40)
    eight = Counted(replace(COSTS, batch=8), COUNTED.sha256, replace(ASKED, batches=(8,)))
    assert eight.at(ASKED) is None, "which batch that is only the model knows"
    half = eight.at(replace(ASKED, batches=(4,)))
    assert half is not None and half.macs == 500
