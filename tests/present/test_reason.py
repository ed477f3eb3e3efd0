"""Every reason has words, made in one place."""

from __future__ import annotations

from typing import Any

import pytest

from tests.present.build import HOSTILE
from tuibench.core.cell import Estimate, Grade
from tuibench.core.profile import ALREADY_INT8, NOT_RUN, LossPoint, NodeCost, Roofline
from tuibench.core.reason import Reason, because, error_text, legacy_text, upgrade_end
from tuibench.core.record import LEAST, from_plain, pack, to_compact, to_plain
from tuibench.present.reason import (
    _WORDS,
    export_words,
    no_interval_words,
    read_end,
    read_words,
    reason_words,
    replace_reasons,
)

TARGET = {"executions": 5, "half_width": 0.031, "more": 4, "more_s": 6.0, "target": 0.02, "limit_s": 30.0}


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (because("too_few_executions", count=2, least=3), "2 of at least 3 executions"),
        (because("quiet", waited=0.0004), "quiet: under 0.1 % of the time the engine waited for a CPU"),
        (
            because("waited_for_cpu", waited=0.65, has_quota=False, stolen=0.006, throttled_ms=1.5, drift=0.031),
            ("65 % of the time the engine waited for a CPU: other processes; the hypervisor took 0.6 % of the time; "
             "the cgroup's quota stopped it for 1.5 ms; the speed of the CPU drifted by 3.1 %"),
        ),
        (
            because("waiting_unknown", why=error_text("\x1b[31mno")),
            "the time spent waiting for a CPU is unknown (\\e[31mno)",
        ),
        (because("target", **TARGET | {"more": None}), "±3.1 % after 5 executions: within the target of ±2.0 %"),
        (
            because("limit", **TARGET),
            ("±3.1 % after 5 executions, stopped by the limit of 30 s per cell; about 4 more executions (6.0 s) would "
             "give ±2.0 %"),
        ),
        (
            because("maximum", **TARGET | {"more": 10**6}),
            "±3.1 % after 5 executions, the maximum; ±2.0 % is not reachable on this machine now",
        ),
        (because("maximum", **TARGET | {"executions": 1, "half_width": None, "target": None}),
         "1 execution, no interval yet, the maximum"),
        (because("interrupted", executions=2, why=Reason("runner_died")), "its runner died after 2 executions"),
        (because("interrupted", executions=1, why=None), "interrupted after 1 execution"),
        (because("finished_on_request", executions=1), "finished on request after 1 execution"),
        (Reason("finished_on_request"), "finished on request"),
        (because("signal", signal="SIGHUP"), "ended by a hang-up"),
        (because("extended", limit_s=30.0, executions=15),
         "more time on request: 30 s and up to 15 executions more per cell"),
        (because("anchor_differs", change=0.2, allowed=0.05),
         "the cheapest cell, measured again, is 20 % slower than before the break (allowed 5.0 %)"),
        (because("several", reasons=[Reason("runner_died"), because("lines_unreadable", lines=1)]),
         "its runner died; 1 line of its journal cannot be read"),
        (because("making_part", part="layers", done=1, of=3, stage="profiling"),
         "timing layers, process 2 of 3: profiled runs"),
        (because("making_part", part="loss", done=4, of=9), "changing one layer at a time, 4 of 9"),
        (because("making_part", part="costs", done=0, of=0, stage="odd"), "counting the operations of each layer: odd"),
        (because("isa_lost", names=["amx", "vnni"]), "instruction sets lost: amx vnni"),
        (because("no_residual", share=0.98, factor=1.02),
         "the layers take 98.0 % of the unprofiled time, and were scaled to it by 1.020"),
        (because("no_peak_of_precision", precision="f64"), "its numbers are f64, in which no peak was measured"),
        (because("roofs_not_measured", names=["int8", "DRAM"]), "not measured on this machine: int8, DRAM"),
        (because("unattributed", share=0.22, limit=0.1),
         ("INT8 gains and roof shares are not shown: 22 % of the time is in no layer (limit 10 %); profile again while "
          "the machine is idle")),
        (because("above_peak", op="Conv", gflops=640.0, multiple=1.6, limit=1.5),
         ("INT8 gains and roof shares are not shown: a row (Conv) has 640 GFLOP/s, 1.60× the measured peak (limit "
          "1.50×), so its time or its nodes are wrong")),
        (because("several", reasons=[because("peak_failed", text="no kernel"),
                                     because("dram_of_few_bytes", mb=96, wanted_mb=128)]),
         "no kernel; DRAM on 96 MB, of 128 MB that no cache would hold"),
        (because("dram_not_measured", needed_mb=512),
         "DRAM not measured: 512 MB must be free for more than caches hold"),
        (because("zeros_gain", engine="onnxruntime", share=0.9, ratio=0.17, low=0.15, high=0.2),
         ("onnxruntime gains from zeros here: layers with 90 % zeros take 0.17x the time of dense ones (95 % interval "
          "0.15 to 0.20)")),
        (because("zeros_gain_nothing", engine="onnxruntime", share=0.9, ratio=1.0, low=None, high=None),
         "onnxruntime gains nothing from zeros here: layers with 90 % zeros take 1.00x the time of dense ones"),
        (because("zeros_unclear", engine="onnxruntime", share=0.9, ratio=None, low=0.7, high=1.2),
         ("unclear if onnxruntime gains from zeros here: layers with 90 % zeros take ?x the time (95 % interval 0.70 "
          "to 1.20)")),
        (because("no_int8_form", ops=["Relu"]), "Relu has no int8 form here"),
        (because("no_int8_form", ops=["Relu", "Exp"]), "none of Relu, Exp has an int8 form here"),
        (because("too_short_alone", least_us=5.0), "it takes less than 5 µs alone"),
        (because("opset_without_integers", version=7, text="no"),
         "its operators are of version 7, without integers: no"),
        (Reason("lighter_branch"), "the other branch of its If is larger"),
        (because("operator_unknown", name="my.\x1b[2J" + "X" * 90), f"the operator my.\\e[2J{'X' * 51}… is unknown"),
        (because("size_unknown", name="h"), "the size of 'h' is not known"),
        (because("shape_unknown", what="input", number=0), "the shape of input 0 is not known"),
        (because("tensor_missing", what="output", number=1), "output 1 is missing"),
        (because("too_few_dims", what="kernel", dims=2, least=3), "the kernel has 2 dims, not 3"),
        (because("attributes_missing", names=["num_heads"]), "its attribute num_heads is missing"),
        (because("attributes_missing", names=["K", "N"]), "its attributes K and N are missing"),
        (because("work_by_data", name="Unique"), "how much Unique does depends on the data"),
        (because("output_reshaped", name="\x1b[31m"), "output '\\e[31m' has another shape than without the change"),
        (because("output_was_zeros", name="y"),
         "output 'y' is all zeros without the change and is not with it: no dB"),
        (because("change_ended_child", text="died by SIGSEGV"), "died by SIGSEGV with this layer changed"),
        (because("fewer_samples", samples=1, asked=2, batch=5),
         "1 sample instead of 2: the data has no more; a sample is a whole batch, here of 5 items"),
        (because("fewer_samples", samples=3, asked=8, batch=1), "3 samples instead of 8: the data has no more"),
        (because("outputs_left_out", names=["u", "\x1b[2J"]), "outputs without floats are left out: 'u', '\\e[2J'"),
        (because("samples_not_finite", count=2, of=5, name="y"),
         "2 of 5 samples left out: output 'y' of the unchanged model is NaN or infinite there"),
        (because("samples_empty", count=1, of=4, name="y"),
         "1 of 4 samples left out: output 'y' of the unchanged model is empty there"),
        (because("values_left_out", name="y", count=2, of=3),
         "output 'y' is NaN or infinite in 2 of 3 values, which are left out"),
        (because("outputs_vary", sqnr_db=31.4),
         "the outputs of the unchanged model vary between runs (31 dB): smaller noise is not due to a layer"),
        (because("recurrent_not_changed", ops=["1 LSTM", "2 GRU"]),
         "the weights of 1 LSTM, 2 GRU are not changed, only those of convolutions and matrix products"),
        (because("inferred", why=None), "static inference"),
        (because("inferred", why=because("profiler_cut", events=1_000_000)),
         "static inference: the profiler stops at 1,000,000 events, before one inference was over"),
        (because("draws_random_numbers", ops=["Bernoulli", "Multinomial"]),
         "the model draws random numbers (Bernoulli, Multinomial)"),
        (because("reference_refused", text="no kernel"), "ONNX Runtime: no kernel"),
        (because("output_not_comparable", name="y", why=because("other_shape", shape=(3, 2), expected=())),
         "output 'y': shape [3, 2] instead of []"),
        (because("optimized_differs", why=because("output_not_in_reference", name="\x1b")),
         "optimized and unoptimized outputs of ONNX Runtime differ: output '\\e' is not in the reference"),
        (because("other_count", items=2, expected=1), "2 items instead of 1"),
        (because("other_type", type="float64", expected="float32"), "type float64 instead of float32"),
        # Codes of a newer version, and fields that do not fit
        (because("of_a_newer_version", n=3, why=Reason("failed")), "of a newer version: n 3, why failed"),
        (because("extended"), "extended"),
    ],
)  # fmt: skip
def test_words_contain_the_fields(reason: Reason, words: str) -> None:
    assert reason_words(reason) == words


@pytest.mark.parametrize("code", sorted(_WORDS))
def test_damaged_and_hostile_fields_never_raise_and_are_escaped(code: str) -> None:
    for fields in ({}, dict.fromkeys(("text", "why", "executions", "half_width", "name", "fields"), HOSTILE)):
        assert reason_words(Reason(code, fields)).isprintable()


def test_reasons_survive_a_record() -> None:
    nested = because("interrupted", executions=2, why=because("machine_changed", changes=[Reason("rebooted")]))
    assert from_plain(Reason, to_plain(nested)) == nested


def test_sentences_of_older_records_are_kept() -> None:
    estimate = {"value": 1.0, "low": None, "high": None, "n": 1, "reason": "no interval: 1 of at least 3 executions"}
    found = from_plain(Estimate, estimate)
    assert reason_words(found.reason) == "1 of at least 3 executions"
    assert no_interval_words(found.reason) == export_words(found.reason) == estimate["reason"]
    grade = {"letter": "A", "cause": "quiet: 0.1 %", "waiting_share": None, "steal_share": None, "throttled": None}
    assert from_plain(Grade, grade).cause == legacy_text("quiet: 0.1 %")
    assert from_plain(Estimate, estimate | {"reason": ""}).reason is None


@pytest.mark.parametrize(
    ("reason", "plain", "text"),
    [(None, "", ""), (legacy_text("no kernel"), to_plain(legacy_text("no kernel")), "no kernel")],
)
def test_reason_of_a_profile_is_a_text_in_exports_and_never_null(reason: Reason | None, plain: Any, text: str) -> None:
    roofs = Roofline(1, None, None, None, reason=reason)
    assert to_plain(roofs)["reason"] == plain and to_plain(roofs, export_words)["reason"] == text
    assert from_plain(Roofline, to_plain(roofs)) == from_plain(Roofline, to_plain(roofs, export_words)) == roofs


@pytest.mark.parametrize("reason", [ALREADY_INT8, NOT_RUN])
def test_compared_sentences_of_older_profiles_and_exports_become_codes(reason: Reason) -> None:
    point = LossPoint("int8", None, None, reason=reason)
    assert from_plain(LossPoint, to_plain(point, export_words)) == point


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SIGTERM", because("signal", signal="SIGTERM")),
        ("finished on request", Reason("finished_on_request")),
        ("max-time", Reason("max_time")),
        ("the disk is full", legacy_text("the disk is full")),
    ],
)
def test_ends_of_older_journals_become_codes_and_are_exported_as_before(text: str, reason: Reason) -> None:
    found = upgrade_end(from_plain(Reason, text))
    assert found == reason
    assert export_words(found) == text
    assert replace_reasons({"ev": "run_end", "reason": to_plain(found)}) == {"ev": "run_end", "reason": text}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("the other branch of its If is larger", Reason("lighter_branch")),
        ("depends on constants alone: computed beforehand", Reason("done_before")),
        ("the limit of nodes was reached: not all of this call is counted", Reason("left_out")),
        ("its keys are missing", legacy_text("its keys are missing")),
        ("", None),
    ],
)
def test_costs_of_older_records_are_read_packed_or_not_and_exported_as_before(text: str, reason: Reason | None) -> None:
    plain = to_plain(NodeCost("h", 0, "MatMul", "")) | {"why": text}
    found = from_plain(NodeCost, plain)
    assert found.why == reason
    assert to_plain(found, export_words) == plain
    columns = {name: [one] * LEAST for name, one in plain.items()}
    packed = pack(list(columns), list(columns.values()))
    assert from_plain(tuple[NodeCost, ...], packed) == (found,) * LEAST
    assert from_plain(tuple[NodeCost, ...], to_compact((found,) * LEAST)) == (found,) * LEAST


@pytest.mark.parametrize("code", ["part_failed", "interrupted", "several", "of_a_newer_version", [], None, 7])
@pytest.mark.parametrize("name", ["failure", "why", "reasons", "changes"])
def test_nested_reasons_are_worded_once_each(code: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[Reason | None] = []
    words = reason_words

    def count(one: Reason | None, limit: int = 500) -> str:
        counted.append(one)
        return words(one, limit)

    monkeypatch.setattr("tuibench.present.reason.reason_words", count)
    reason = Reason("failed")
    for _ in range(40):
        reason = Reason(code, {name: reason})
    assert words(reason).isprintable()
    assert len(counted) <= 40


@pytest.mark.parametrize("plain", [{"code": [], "fields": {}}, {"code": "several", "fields": 5}, [1], 3])
def test_damaged_reasons_of_events_have_words(plain: Any) -> None:
    assert read_words(plain) == reason_words(read_end({"reason": plain})) == "its journal is inconsistent"
    assert isinstance(replace_reasons({"ev": "warning", "message": plain}), dict)


def test_versions_of_python_are_sorted_by_number() -> None:
    reason = because("no_python_for", pythons=("3.11", "3.9", "3.12", "3.10"))
    assert reason_words(reason) == "needs Python 3.9, 3.10, 3.11 or 3.12"
