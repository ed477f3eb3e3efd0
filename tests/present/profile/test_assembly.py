from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.build import QUIET
from tests.present.profile.profile_data import COSTS, POINT, SPEC, row, run
from tuibench.core.cell import Estimate
from tuibench.core.profile import (
    FOLDED,
    PERFORMANCE,
    RESIDUAL,
    RUNTIME,
    UNMAPPED,
    LayerRun,
    LayerTime,
    PerformanceProfile,
    ProfileSpec,
    Roofline,
    WhatIf,
)
from tuibench.core.reason import Reason, because, legacy_text
from tuibench.core.record import from_plain, to_plain
from tuibench.present.profile.estimate import layer_gains
from tuibench.present.profile.layers import layer_rows
from tuibench.present.profile.performance_view import layer_detail
from tuibench.present.profile.summary import PARAMETERS, help_sentence, summarize
from tuibench.present.reason import all_words, reason_words
from tuibench.runs.profile.result import MOST_SCALED, assemble_performance


def assemble(*runs: LayerRun, **given: Any) -> PerformanceProfile:
    return assemble_performance(**{"spec": SPEC, "point": POINT, "costs": COSTS, "runs": runs, **given})


def layer(profile: PerformanceProfile, key: str) -> LayerTime:
    (found,) = [one for one in profile.layers if one.key == key]
    return found


def value(one: LayerTime) -> float:
    assert one.ms.value is not None
    return one.ms.value


def words(found: PerformanceProfile) -> tuple[str, ...]:
    """Return the notes of a profile in words."""
    return all_words(found.notes)


def test_layers_are_scaled_to_unprofiled_time_and_raw_sum_is_kept() -> None:
    found = assemble(run(), run(), run())
    assert found.sum_ms == pytest.approx(0.98) and found.scale == pytest.approx(1000 / 980)
    assert value(layer(found, "conv")) == pytest.approx(0.7 * 1000 / 980)
    assert math.fsum(one.ms.value or 0 for one in found.layers) == pytest.approx(found.ms.value)
    assert layer(found, RESIDUAL).ms.value == 0 and found.attributed == pytest.approx(0.98)
    assert "98.0 % of the unprofiled time" in reason_words(layer(found, RESIDUAL).ms.reason)
    assert not found.below_resolution and found.processes == 3 and found.isa == ("avx2",)
    assert (found.batch, found.items, found.dims, found.engine) == (2, 2, {"seq": 8}, "onnxruntime")


def test_large_mismatch_leaves_layers_unscaled_with_a_rest_row() -> None:
    found = assemble(run(0.8))
    assert found.scale == 1 and value(layer(found, "conv")) == pytest.approx(0.56)
    assert value(layer(found, RESIDUAL)) == pytest.approx(1 - 0.784)
    assert found.attributed == pytest.approx(0.784)
    assert "78 %" in words(found)[0] and words(found)[0].endswith("and no bound follows from them")
    over = assemble(run(1.5))
    assert over.scale == 1 and layer(over, RESIDUAL).ms.value == 0 and "147 %" in words(over)[0]


def test_layer_interval_is_over_the_processes() -> None:
    found = layer(assemble(run(0.99), run(1.0), run(1.01)), "conv").ms
    assert found.n == 3 and found.low is not None and found.high is not None and found.value is not None
    assert found.low < found.value < found.high
    alone = layer(assemble(run()), "conv").ms
    assert (alone.low, alone.reason) == (None, because("too_few_executions", count=1, least=3))


def test_dominant_profiler_overhead_prevents_scaling() -> None:
    tiny = assemble(run(0.002, 4.6, bias_us=1.2, kernels=3))
    assert tiny.below_resolution and tiny.scale == 1 and "resolution" in words(tiny)[0]
    near = assemble(run(unprofiled_us=1000, bias_us=5.0, kernels=150))
    assert near.below_resolution and near.scale == 1
    disturbed = assemble(run(0.5, bias_us=1.0, kernels=60))
    assert not disturbed.below_resolution and "51 %" not in words(disturbed)[0] and "49 %" in words(disturbed)[0]


def test_row_that_did_not_run_has_no_time() -> None:
    idle = replace(row("relu", 0.0, "relu"), raw_us=0.0)
    found = assemble(replace(run(), rows=(*run().rows[1:], idle, row("conv", 700, "conv"))))
    assert layer(found, "beforehand").ms.value is None and layer(found, "beforehand").kind == FOLDED
    assert layer(found, "relu").ms == Estimate(None, reason=Reason("not_seen_to_run"))


@pytest.mark.parametrize(("calls", "said"), [((0.0, 0.0), "did_not_run"), ((0.0, 1.0), "ran_too_short")])
def test_run_below_a_microsecond_differs_from_no_run(calls: tuple[float, float], said: str) -> None:
    runs = [replace(run(), rows=(*run().rows, replace(row("r", 0.0), raw_us=0.0, calls=times))) for times in calls]
    assert layer(assemble(*runs), "r").ms == Estimate(None, reason=Reason(said))


def test_row_has_the_costs_of_its_nodes_and_the_bytes_of_its_kernel() -> None:
    conv = layer(assemble(run()), "conv")
    assert (conv.macs, conv.element_flops, conv.parameters, conv.zeros, conv.weight) == (1000, 100, 10, 5, "w")
    assert conv.op == "Conv" and conv.bytes_moved == 640
    assert layer(assemble(run()), "gather").bytes_moved == 128, "a table is not read whole"
    without = assemble(replace(run(), rows=(row("conv", 980, "conv", "relu"),)))
    assert layer(without, "conv").bytes_moved == 1240


def test_repeated_nodes_are_counted_once_and_unknown_stays_unknown() -> None:
    often = replace(COSTS, nodes=(replace(COSTS.nodes[0], times=5), *COSTS.nodes[1:]))
    assert layer(assemble(run(), costs=often), "conv").macs == 1000, "of all times that it runs, counted already"
    unknown = replace(COSTS, nodes=(replace(COSTS.nodes[0], times=None), *COSTS.nodes[1:]))
    assert layer(assemble(run(), costs=unknown), "conv").macs is None


def test_loop_reads_count_per_turn_and_roof_is_that_of_one_turn() -> None:
    often = replace(COSTS, nodes=(replace(COSTS.nodes[0], times=5), *COSTS.nodes[1:]))
    roofs = Roofline(1, 1e9, None, 1.0, ((200, 100.0),))
    conv = layer(assemble(run(), costs=often, roofline=roofs), "conv")
    assert conv.bytes_moved == 600 + 5 * 40
    assert conv.roof == "cache" and conv.roof_ms == pytest.approx(800 / 100.0 / 1e6), "160 bytes a turn fit into it"
    assert layer(assemble(run(), roofline=roofs), "conv").roof == "DRAM"
    unknown = replace(COSTS, nodes=(replace(COSTS.nodes[0], times=None), *COSTS.nodes[1:]))
    assert layer(assemble(run(), costs=unknown, roofline=roofs), "conv").bytes_moved is None
    never = replace(COSTS, nodes=(replace(COSTS.nodes[0], times=0), *COSTS.nodes[1:]))
    assert layer(assemble(run(), costs=never), "conv").bytes_moved == 600
    table = replace(COSTS, nodes=(*COSTS.nodes[:2], replace(COSTS.nodes[2], times=3), COSTS.nodes[3]))
    assert layer(assemble(run(), costs=table), "gather").bytes_moved == 128, "a table is not read whole, however often"


def test_profile_has_the_precision_of_the_computation() -> None:
    assert assemble(run()).precision == SPEC.precision, "where no process told"
    assert assemble(run(precision="int8 + f32"), run(precision="f32 + int8")).precision == "int8 + f32"
    roofline = Roofline(1, 0.001, 0.01, 100.0)
    assert layer(assemble(run(precision="int8 + f32"), roofline=roofline), "conv").roof == "f32"
    double = assemble(run(precision="f64"), roofline=roofline)
    assert double.precision == "f64" and layer(double, "conv").roof_ms is None
    assert double.notes == (because("roofs_of_other_precisions", roofs=["f32", "int8"], names=["f64"]),)
    both = assemble(run(precision="f32 + f64"), roofline=roofline)
    assert layer(both, "conv").roof_ms is None and both.notes == double.notes, "nobody tells which row is which"


def test_row_of_a_later_process_alone_keeps_its_time() -> None:
    strange = row("?", 30, kind="runtime", op=UNMAPPED)
    found = assemble(run(), replace(run(), rows=(*run().rows, strange)), run())
    assert value(layer(found, "?")) == pytest.approx(10 * found.scale / 1000), "a third of the processes ran it"
    assert found.sum_ms == pytest.approx(0.99)


def test_roofs_and_alternative_forms_are_per_row() -> None:
    ratio = WhatIf("int8", Estimate(0.25, 0.24, 0.26, 5))
    roofline = Roofline(1, 0.001, 0.01, 100.0)
    found = assemble(run(), roofline=roofline, what_if={("relu", "int8"): ratio})
    conv = layer(found, "conv")
    assert conv.what_if == (ratio,) and conv.roof == "f32" and conv.roof_ms == pytest.approx(2.1)
    assert layer(found, "beforehand").roof_ms is None and layer(found, "gather").roof == "DRAM"


def test_unknown_work_is_not_attributed() -> None:
    strange = replace(run(), rows=(*run().rows, row("?", 20, kind="runtime", op=UNMAPPED)))
    assert assemble(strange).attributed == pytest.approx(0.98)


def test_nodes_missing_from_all_processes_are_listed() -> None:
    found = assemble(replace(run(), rows=run().rows[:1]))
    assert layer(found, "not seen").nodes == ("gather", "shape")


def test_uncounted_work_is_unknown_and_not_zero() -> None:
    none = replace(COSTS, nodes=(), macs=0, notes=(legacy_text("died by SIG\x1bSEGV"),))
    found = assemble(run(), costs=none)
    for key, op in (("conv", "Relu"), ("gather", "Gather")):
        one = layer(found, key)
        assert (one.macs, one.element_flops, one.bytes_moved, one.op) == (None, None, None, op)
        assert (one.parameters, one.zeros) == (None, None)
        (shown,) = [row for row in layer_rows(found, none) if row.layer is one]
        assert shown.zeros is None and ("parameters", "unknown") in layer_detail(found, shown)
    assert not any(bar.text == "0" for bar in summarize(found, PARAMETERS).bars)
    beforehand = [one for one in found.layers if one.kind == FOLDED and one.nodes]
    assert beforehand and all(one.flops is None and one.bytes_moved is None for one in beforehand)
    assert words(found) == ("the costs of the layers are unknown; died by SIG\\eSEGV",)
    assert "no matrix operator" not in help_sentence(found)
    some = assemble(run(), costs=replace(COSTS, nodes=COSTS.nodes[1:]))
    assert layer(some, "conv").macs is None and layer(some, "gather").bytes_moved == 128
    assert layer(some, "conv").parameters is None and layer(some, "gather").parameters is not None
    assert some.notes == (because("some_layer_costs_unknown", missing=1, of=2),)
    assert not assemble(run()).notes


def test_node_with_the_name_of_a_builtin_row_has_its_own_row() -> None:
    rows = (row(RESIDUAL, 700, RESIDUAL), row("not seen", 250, "not seen", kind=RUNTIME))
    found = assemble(replace(run(), rows=rows))
    keys = [one.key for one in found.layers]
    assert len(set(keys)) == len(keys) == 4 and value(layer(found, RESIDUAL)) == pytest.approx(0.7 * found.scale)
    assert found.layers[-1].kind == RESIDUAL and set(layer_gains(found)) >= {RESIDUAL, found.layers[-1].key}


def test_grade_is_that_of_the_processes() -> None:
    assert (grade := assemble(run()).grade) is not None and grade.letter == "A"
    loud = replace(QUIET, waiting_ns=10**9)
    assert (grade := assemble(run(noise=loud)).grade) is not None and grade.letter == "D"


def test_no_process_means_no_profile() -> None:
    with pytest.raises(ValueError, match="at least one"):
        assemble()


@given(st.lists(st.floats(0.3, 2.0), min_size=1, max_size=5), st.floats(0.0, 40.0), st.integers(0, 200))
def test_rows_cover_every_node_once_and_at_least_the_total_time(
    factors: list[float], bias_us: float, kernels: int
) -> None:
    found = assemble(*(run(factor, bias_us=bias_us, kernels=kernels) for factor in factors))
    nodes = [name for one in found.layers for name in one.nodes]
    assert sorted(nodes) == sorted(cost.id for cost in COSTS.nodes)
    total = math.fsum(one.ms.value or 0 for one in found.layers)
    assert found.attributed is not None and 0 <= found.attributed <= 1 + 1e-9
    assert total >= (found.ms.value or 0) * (1 - 1e-6)
    assert found.scale == 1 or abs(found.scale - 1) <= MOST_SCALED
    assert from_plain(PerformanceProfile, to_plain(found)) == found


def test_requested_form_without_data_is_reported() -> None:
    asked = replace(SPEC, profile=ProfileSpec(PERFORMANCE, what_if=("int8",)))
    tiny = run(0.002, 4.6, bias_us=1.2, kernels=3)
    assert because("no_time_for_a_form", forms=["int8"]) in assemble(tiny, spec=asked).notes
    assert not any("INT8" in note for note in (*words(assemble(tiny)), *words(assemble(run(), spec=asked))))
