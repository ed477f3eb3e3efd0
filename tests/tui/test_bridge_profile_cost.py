from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest

from tests.insight.stock import make_costs
from tests.report.build import spec
from tuibench.core.errors import ModelError
from tuibench.core.profile import LOSS, CostProfile, ProfileSpec
from tuibench.core.spec import BenchmarkSpec
from tuibench.tui.bridge_profile_cost import Counted, Counts

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


def test_sizes_are_counted_once_for_every_batch_and_amount() -> None:
    asked: list[BenchmarkSpec] = []

    def count(one: BenchmarkSpec) -> tuple[CostProfile, str]:
        asked.append(one)
        return COSTS, COUNTED.sha256

    counts, wanted = Counts(count, lambda _: 0), replace(ASKED, batches=(16,), cores=(2,))
    assert counts.lacks(wanted, COUNTED.sha256) and not counts.lacks(wanted, ""), "nothing is known of that file"
    counts.find_out(wanted, COUNTED.sha256)
    found = counts.at(wanted, COUNTED.sha256)
    assert found is not None and found.macs == 16_000 and asked[0].batches == ()
    fed = replace(wanted, sequence_lengths=(9,), inputs=replace(ASKED.inputs, file="/data/a thousand pictures.npz"))
    counts.find_out(fed, COUNTED.sha256)
    assert asked.pop().inputs.file is None, "what is measured on is no matter of its sizes, and may be much"
    counts.find_out(replace(wanted, batches=(2,), inputs=replace(ASKED.inputs, distinct=1000)), COUNTED.sha256)
    assert len(asked) == 1 and counts.at(wanted, "d" * 64) is None
    counts.forget()
    assert counts.lacks(wanted, COUNTED.sha256), "another form may find more"


def test_what_breaks_off_is_not_tried_again_and_nothing_of_one_form_is_left_for_the_next() -> None:
    asked: list[BenchmarkSpec] = []

    def break_off(one: BenchmarkSpec) -> tuple[CostProfile, str]:
        asked.append(one)
        raise OSError("the disk is full")

    counts = Counts(break_off, lambda _: 0)
    for _ in range(2):
        with suppress(OSError):
            counts.find_out(ASKED, COUNTED.sha256)
    assert len(asked) == 1 and not counts.lacks(ASKED, COUNTED.sha256)

    def count_meanwhile(one: BenchmarkSpec) -> tuple[CostProfile, str]:
        late.forget()
        return COSTS, COUNTED.sha256

    late = Counts(count_meanwhile, lambda _: 0)
    late.find_out(ASKED, COUNTED.sha256)
    assert late.at(ASKED, COUNTED.sha256) is None and late.lacks(ASKED, COUNTED.sha256)


def test_what_cannot_be_counted_is_not_tried_again_while_the_form_is_open() -> None:
    asked: list[BenchmarkSpec] = []

    def refuse(one: BenchmarkSpec) -> tuple[CostProfile, str]:
        asked.append(one)
        raise ModelError("it cannot be read")

    counts = Counts(refuse, lambda _: 0)
    for batch in (1, 2):
        counts.find_out(replace(ASKED, batches=(batch,)), COUNTED.sha256)
    assert len(asked) == 1 and not counts.lacks(ASKED, COUNTED.sha256)
    assert counts.lacks(replace(ASKED, sequence_lengths=(7,)), COUNTED.sha256)


@pytest.mark.parametrize(("weight", "looks", "layers"), [("", 1, 0), ("w", 0, None)])
def test_weights_are_looked_at_where_costs_tell_of_no_layer_that_could_be_changed(
    weight: str, looks: int, layers: int | None
) -> None:
    asked: list[BenchmarkSpec] = []
    costs = replace(COSTS, nodes=tuple(replace(node, weight=weight, macs=1) for node in COSTS.nodes))

    def look(one: BenchmarkSpec) -> int:
        asked.append(one)
        return 0

    counts, lossy = Counts(lambda _: (costs, COUNTED.sha256), look), replace(ASKED, profile=ProfileSpec(LOSS))
    counts.find_out(ASKED, COUNTED.sha256)
    assert asked == [] and counts.layers(COUNTED.sha256) is None, "of a performance profile nobody asks"
    counts.find_out(lossy, COUNTED.sha256)
    counts.find_out(lossy, COUNTED.sha256)
    assert len(asked) == looks and not counts.lacks(lossy, COUNTED.sha256)
    assert counts.layers(COUNTED.sha256) == layers
