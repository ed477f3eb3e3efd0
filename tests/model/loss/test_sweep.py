"""The measured profile: one layer changed at a time in one session, compared with hand calculations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.model.factory import BOOL, F32, I64, STRING, classifier, model, save, tensor, weight
from tests.model.loss.built import branching, convolutions, linear, quantized, random, sweep
from tests.refusal import refused
from tuibench.core.errors import ModelError, UsageError
from tuibench.core.profile import ALREADY_INT8, LEVELS
from tuibench.core.reason import Reason, because
from tuibench.model.loss.similarity import ONLY_ZEROS
from tuibench.model.loss.sweep import Load, Runs
from tuibench.present.reason import reason_words

ONES = [{"x": np.ones((1, 4), np.float32)}]
PICTURES = [{"x": random(2, 3, 6, 6, seed=7)}, {"x": random(2, 3, 6, 6, seed=8)}]


class Counted:
    """Counts the loaded sessions and the runs of each."""

    def __init__(self, spoil: Any = None) -> None:
        self.runs: list[int] = []
        self._spoil = spoil

    def __call__(self, load: Load) -> Load:
        def counted(path: Path) -> Runs:
            session, number = load(path), len(self.runs)
            self.runs.append(0)
            run = session.run

            def count(feed: Mapping[str, Any]) -> dict[str, Any]:
                self.runs[number] += 1
                found = run(feed)
                return self._spoil(self.runs[number], found) if self._spoil and number else found

            session.run = count  # type: ignore[method-assign]
            return session

        return counted


def test_loss_of_a_product_of_ones_matches_hand_calculation(tmp_path: Path) -> None:
    matrix = np.array([[8, 1], [4, 2], [2, 4], [1, 8]], np.float32)
    found = sweep(tmp_path, linear(matrix), ONES, ("pruned 0", "pruned 0.5", "pruned 1"))
    assert found.begin["points"] == 3 and found.begin["ms_each"] > 0 and found.begin["float32_db"] is None
    assert [node for node, _ in found.points] == ["y"] * 3
    # Both columns of 15 lose 1 + 2.
    assert found["y", "pruned 0.5"].sqnr_db == pytest.approx(20 * math.log10(5), abs=1e-4)
    assert found["y", "pruned 0.5"].cosine == pytest.approx(1)
    assert found["y", "pruned 0"].sqnr_db is None and found["y", "pruned 0"].cosine == pytest.approx(1)
    assert found["y", "pruned 1"].sqnr_db == pytest.approx(0) and found["y", "pruned 1"].cosine == 0
    assert found.result["notes"] == []


def test_int8_loss_is_the_rounding_of_each_column(tmp_path: Path) -> None:
    matrix = np.array([[127, 1], [0.4, 0.5], [0.4, 0.5], [0.4, 0.5]], np.float32)
    step = np.abs(matrix).max(axis=0) / 127
    expected = np.sum(np.rint(matrix / step) * step, axis=0)
    whole = matrix.sum(axis=0)
    db = 10 * math.log10(float(np.sum(whole**2) / np.sum((whole - expected) ** 2)))
    found = sweep(tmp_path, linear(matrix), ONES, ("int8",))
    assert found["y", "int8"].sqnr_db == pytest.approx(db, abs=0.01)


def test_one_session_serves_every_change(tmp_path: Path) -> None:
    counted = Counted()
    found = sweep(tmp_path, convolutions(), PICTURES, LEVELS, load=counted)
    assert len(found.points) == 15 == found.begin["points"]
    # The unchanged model; then, with weights as inputs, twice unchanged and once for each point.
    assert counted.runs == [2, 2 * (2 + 15)]
    assert all(point.samples == 2 for _, point in found.points)


def test_weight_that_would_be_folded_is_really_changed(tmp_path: Path) -> None:
    found = sweep(tmp_path, convolutions(), PICTURES, LEVELS)
    for node in ("a", "u", "y"):
        *pruned, int8 = (found[node, level].sqnr_db for level in LEVELS)
        assert all(db is not None and db < 40 for db in pruned), (node, pruned)
        assert int8 is not None and int8 > max(db or 0 for db in pruned)
    assert found.begin["float32_db"] is None or found.begin["float32_db"] > 80


def test_loss_equals_that_of_a_model_with_the_changed_weight(tmp_path: Path) -> None:
    found = sweep(tmp_path, convolutions(), PICTURES, ("pruned 0.8",))
    whole, changed = convolutions(), convolutions()
    kernel = random(4, 3, 3, 3)
    edge = np.sort(np.abs(kernel), axis=None)[round(0.8 * kernel.size)]
    changed.graph.initializer[0].CopyFrom(weight("k", np.where(np.abs(kernel) < edge, 0, kernel)))
    outputs = []
    for number, built in enumerate((whole, changed)):
        import onnxruntime

        session = onnxruntime.InferenceSession(save(built, tmp_path / f"{number}.onnx"))
        outputs.append(np.concatenate([session.run(None, feed)[0] for feed in PICTURES]).astype(np.float64))
    noise = float(np.sum((outputs[0] - outputs[1]) ** 2) / np.sum(outputs[0] ** 2))
    assert found["a", "pruned 0.8"].sqnr_db == pytest.approx(-10 * math.log10(noise), abs=0.01)


def test_resumed_sweep_equals_an_uninterrupted_one(tmp_path: Path) -> None:
    whole = sweep(tmp_path, convolutions(), PICTURES, LEVELS)
    skip = {(node, point.level) for node, point in whole.points[:7]}
    rest = sweep(tmp_path, convolutions(), PICTURES, LEVELS, skip=frozenset(skip))
    assert rest.begin["points"] == 8 and rest.points == whole.points[7:]
    nothing = sweep(
        tmp_path, convolutions(), PICTURES, LEVELS, skip=frozenset((node, p.level) for node, p in whole.points)
    )
    assert nothing.begin["points"] == 0 and nothing.points == []


def test_only_requested_layers_are_measured(tmp_path: Path) -> None:
    found = sweep(tmp_path, convolutions(), PICTURES, ("int8",), layers=frozenset({"u", "none"}))
    assert [node for node, _ in found.points] == ["u"]


def test_weights_in_branches_are_changed(tmp_path: Path) -> None:
    feed = {"c": np.array(True), "x": random(2, 3)}
    found = sweep(tmp_path, branching(), [feed], ("pruned 0.5",))
    then, other = "y/then_branch/y0", "y/else_branch/y1"
    assert found[other, "pruned 0.5"].sqnr_db is None, "that branch does not run"
    assert (found[then, "pruned 0.5"].sqnr_db or 99) < 30
    turned = sweep(tmp_path, branching(), [{**feed, "c": np.array(False)}], ("pruned 0.5",))
    assert turned[then, "pruned 0.5"].sqnr_db is None and (turned[other, "pruned 0.5"].sqnr_db or 99) < 30


def test_int8_model_is_pruned_at_zero_points_and_not_rounded_again(tmp_path: Path) -> None:
    built, real = quantized()
    found = sweep(tmp_path, built, ONES, ("pruned 0.5", "int8"))
    kept = np.where(np.abs(real) <= np.sort(np.abs(real), axis=None)[3], 0, real)
    whole, left = real.sum(axis=0), kept.sum(axis=0)
    db = 10 * math.log10(float(np.sum(whole**2) / np.sum((whole - left) ** 2)))
    assert found["y", "pruned 0.5"].sqnr_db == pytest.approx(db, abs=0.01)
    assert found["y", "int8"].reason == ALREADY_INT8 and found["y", "int8"].samples == 0


def test_weight_from_constant_of_shape_can_be_changed(tmp_path: Path) -> None:
    filler = helper.make_node("ConstantOfShape", ["shape"], ["w"], value=helper.make_tensor("v", F32, [1], [0.5]))
    built = model(
        [filler, helper.make_node("MatMul", ["x", "w"], ["y"])],
        [tensor("x", F32, ["b", 4])],
        [tensor("y", F32, None)],
        [weight("shape", [4, 2])],
    )
    # Of equal weights the first are pruned: two rows of four.
    assert sweep(tmp_path, built, ONES)["y", "pruned 0.5"].sqnr_db == pytest.approx(20 * math.log10(2), abs=1e-4)


def test_class_outputs_are_told_apart_from_others(tmp_path: Path) -> None:
    built = linear(random(4, 10))
    found = sweep(tmp_path, built, ONES)
    assert found.begin["classes"] and found.result["classes"]
    assert (found["y", "pruned 0.5"].kl or 0) > 0 and found["y", "int8"].top1 == 1
    tanh = linear(random(4, 10))
    tanh.graph.node[0].output[0] = "z"
    tanh.graph.node.append(helper.make_node("Tanh", ["z"], ["y"]))
    plain = sweep(tmp_path, tanh, ONES)
    assert not plain.begin["classes"] and plain["z", "pruned 0.5"].kl is None


def test_data_of_one_batch_is_one_sample(tmp_path: Path) -> None:
    feeds = [{"x": random(5, 4)}]
    found = sweep(tmp_path, linear(random(4, 2)), feeds, samples=2, batch=5)
    assert found.notes == (because("fewer_samples", samples=1, asked=2, batch=5),)


def test_batch_of_any_size_and_fewer_samples_are_accepted(tmp_path: Path) -> None:
    feeds = [{"x": random(5, 4, seed=n)} for n in range(3)]
    assert sweep(tmp_path, linear(random(4, 2)), feeds, samples=1)["y", "int8"].samples == 1
    found = sweep(tmp_path, linear(random(4, 2)), feeds, samples=8)
    assert found["y", "int8"].samples == 3
    assert found.notes == (because("fewer_samples", samples=3, asked=8, batch=1),)
    assert found.begin["samples"] == 3, "those that were run, not those that were asked for"
    assert found.begin["notes"] == found.result["notes"], "who is cut short has no end, and the same to say"


def test_each_point_is_announced_before_it_is_measured(tmp_path: Path) -> None:
    found = sweep(tmp_path, convolutions(), PICTURES)
    assert found.kinds == ["begin", *["at", "loss"] * 6]
    assert found.at == [(node, point.level) for node, point in found.points]


def test_change_that_makes_a_zero_output_nonzero_is_harm(tmp_path: Path) -> None:
    built = linear(np.array([[5, 5], [-1, -1], [-2, -2], [-3, -3]], np.float32))
    built.graph.node[0].output[0] = "p"
    built.graph.node.append(helper.make_node("Relu", ["p"], ["y"]))
    found = sweep(tmp_path, built, ONES, ("pruned 0.25", "pruned 0.5"))
    asleep, awake = (point for _, point in found.points)
    # Relu stops 5 - 6 and 5 - 5 and passes 5 - 3.
    assert (asleep.harm, asleep.reason) == (False, ONLY_ZEROS)
    assert awake.harm and awake.reason == because("output_was_zeros", name="y")
    assert found.notes == (ONLY_ZEROS,)


def test_model_without_weights_is_noted_and_not_loaded(tmp_path: Path) -> None:
    counted = Counted()
    found = sweep(tmp_path, classifier((1, 4)), ONES, load=counted)
    assert found.begin == {"points": 0, "ms_each": 0.0, "classes": False, "float32_db": None, "samples": 0} | {
        "notes": found.result["notes"]
    }
    assert found.notes == (Reason("no_changeable_layer"),)
    assert counted.runs == [], "nothing is loaded for that"


def test_outputs_of_other_types_are_left_out(tmp_path: Path) -> None:
    built = linear(random(4, 3))
    built.graph.node.append(helper.make_node("ArgMax", ["y"], ["\x1b[2Jid"], axis=1))
    built.graph.output.append(tensor("\x1b[2Jid", I64, None))
    found = sweep(tmp_path, built, ONES)
    assert found["y", "pruned 0.5"].sqnr_db is not None
    assert found.notes == (because("outputs_left_out", names=["\x1b[2Jid"]),)


def test_model_without_a_float_output_has_a_reason_at_each_point(tmp_path: Path) -> None:
    built = linear(random(4, 3))
    built.graph.node.append(helper.make_node("ArgMax", ["y"], ["id"], axis=1))
    del built.graph.output[:]
    built.graph.output.append(tensor("id", I64, None))
    counted = Counted()
    found = sweep(tmp_path, built, ONES, load=counted)
    assert all(point.reason and point.sqnr_db is None for _, point in found.points)
    assert not any(point.harm for _, point in found.points), "no layer is to blame for that"
    assert counted.runs == [1, 1], "what cannot be compared is not run"


def test_nan_in_the_data_gives_reasons_without_runs(tmp_path: Path) -> None:
    counted = Counted()
    found = sweep(tmp_path, linear(random(4, 3)), [{"x": np.full((1, 4), np.nan, np.float32)}], load=counted)
    reason = because("unchanged_not_finite", name="y")
    assert [point.reason for _, point in found.points] == [reason] * 2 and found.notes == (reason,)
    assert not any(point.harm for _, point in found.points)
    assert counted.runs == [1, 2]


def test_samples_with_nan_outputs_are_left_out(tmp_path: Path) -> None:
    good = [{"x": random(1, 4, seed=n)} for n in range(3)]
    bad = {"x": np.full((1, 4), np.nan, np.float32)}
    without = sweep(tmp_path, linear(random(4, 3)), good, LEVELS, samples=4)
    counted = Counted()
    feeds = [bad, *good[:2], {"x": bad["x"] * np.inf}, good[2]]
    found = sweep(tmp_path, linear(random(4, 3)), feeds, LEVELS, samples=5, load=counted)
    assert found.points == without.points and found.begin["samples"] == 3
    assert found.notes == (because("samples_not_finite", count=2, of=5, name="y"),)
    assert found.begin["notes"] == found.result["notes"]
    assert counted.runs == [5, 3 * (2 + 5)]
    skip = frozenset((node, point.level) for node, point in found.points[:2])
    rest = sweep(tmp_path, linear(random(4, 3)), feeds, LEVELS, samples=5, skip=skip)
    assert rest.points == found.points[2:] and rest.result == found.result


def test_samples_with_empty_outputs_are_left_out_and_noted(tmp_path: Path) -> None:
    good = [{"x": random(1, 4, seed=n)} for n in range(2)]
    without = sweep(tmp_path, linear(random(4, 3)), good, LEVELS)
    empty, bad = {"x": np.zeros((0, 4), np.float32)}, {"x": np.full((1, 4), np.nan, np.float32)}
    found = sweep(tmp_path, linear(random(4, 3)), [bad, empty, *good], LEVELS, samples=4)
    assert found.points == without.points and found.begin["samples"] == 2
    assert because("samples_empty", count=1, of=4, name="y") in found.notes


def test_samples_are_all_kept_if_none_is_good(tmp_path: Path) -> None:
    bad = [{"x": np.full((1, 4), np.nan, np.float32)}] * 3
    found = sweep(tmp_path, linear(random(4, 3)), bad, samples=3)
    reason = because("unchanged_not_finite", name="y")
    assert {point.reason for _, point in found.points} == {reason} == set(found.notes)


def test_change_that_gives_nan_or_fails_is_a_point_with_a_reason(tmp_path: Path) -> None:
    def spoil(run: int, found: dict[str, Any]) -> dict[str, Any]:
        if run == 3:
            return {"y": found["y"] * np.nan}
        if run == 4:
            raise RuntimeError("[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : it\x1b[31m is odd")
        return found

    found = sweep(tmp_path, linear(random(4, 3)), ONES, LEVELS, load=Counted(spoil))
    nan, failed, *good = (point for _, point in found.points)
    assert failed.reason is not None and failed.reason.code == "changed_model_failed" and failed.sqnr_db is None
    assert "is odd" in failed.reason.fields["why"].fields["text"] and reason_words(failed.reason).isprintable()
    assert nan.harm and failed.harm
    assert len(good) == 3 and not any(point.reason or point.harm for point in good)


def test_nan_in_a_weight_is_noted_for_its_outputs(tmp_path: Path) -> None:
    matrix = random(4, 3)
    matrix[0] = [np.nan, np.inf, 1]
    found = sweep(tmp_path, linear(matrix), ONES, LEVELS)
    assert len(found.points) == 5, "infinity and NaN stand in two outputs of three; the third is compared"
    assert found["y", "pruned 0.5"].sqnr_db is not None
    assert found.notes == (because("values_left_out", name="y", count=2, of=3),)


def test_model_that_differs_from_itself_is_noted(tmp_path: Path) -> None:
    built = linear(random(4, 3))
    built.graph.node[0].output[0] = "p"
    built.graph.node.append(helper.make_node("RandomNormalLike", ["p"], ["r"]))
    built.graph.node.append(helper.make_node("Add", ["p", "r"], ["y"]))
    (note,) = sweep(tmp_path, built, ONES).notes
    assert note.code == "outputs_vary"


def test_functions_of_the_model_are_noted_as_left_out(tmp_path: Path) -> None:
    product = helper.make_node("MatMul", ["a", "b"], ["c"])
    built = linear(random(4, 3))
    opset = helper.make_opsetid("", 17)
    built.functions.append(helper.make_function("own", "Twice", ["a", "b"], ["c"], [product], [opset]))
    found = sweep(tmp_path, built, ONES)
    assert found.notes == (Reason("functions_left_out"),)


def test_weights_of_sequence_nodes_are_noted_as_left_out(tmp_path: Path) -> None:
    built = linear(random(4, 3))
    held = [weight("kernel", random(1, 8, 3)), weight("again", random(1, 8, 2)), weight("axes", [0])]
    built.graph.initializer.extend(held)
    built.graph.node.append(helper.make_node("Unsqueeze", ["y", "axes"], ["u"]))
    built.graph.node.append(helper.make_node("LSTM", ["u", "kernel", "again"], ["z"], hidden_size=2))
    built.graph.output.append(tensor("z", F32, None))
    found = sweep(tmp_path, built, ONES)
    assert found.notes == (because("recurrent_not_changed", ops=["1 LSTM"]),)
    assert {node for node, _ in found.points} == {"y"}


def test_hostile_names_are_handled(tmp_path: Path) -> None:
    name = "weight:0"
    built = linear(random(4, 3), name=name)
    built.graph.input[0].name = built.graph.node[0].input[0] = "weight::\x1b]0;x\x07"
    built.graph.node[0].name = "../../etc\n"
    found = sweep(tmp_path, built, [{"weight::\x1b]0;x\x07": ONES[0]["x"]}])
    assert len(found.points) == 2 and not any(point.reason for _, point in found.points)


def test_weight_that_is_also_an_input_or_output_is_unchanged(tmp_path: Path) -> None:
    built = linear(random(4, 3))
    built.graph.input.append(tensor("w", F32, [4, 3]))
    built.graph.output.append(tensor("w", F32, [4, 3]))
    old = save(built, tmp_path / "old.onnx")
    found = sweep(tmp_path, old, ONES)
    assert not any(point.reason for _, point in found.points)
    built.ir_version = 3
    assert sweep(tmp_path, built, ONES)["y", "int8"].sqnr_db == pytest.approx(found["y", "int8"].sqnr_db)


def test_model_that_cannot_run_is_refused_with_the_engines_message(tmp_path: Path) -> None:
    built = linear(random(4, 3))
    built.graph.node.append(helper.make_node("Frobnicate", ["y"], ["z"]))
    built.graph.output.append(tensor("z", F32, None))
    with pytest.raises(ModelError, match="Frobnicate"):
        sweep(tmp_path, built, ONES)
    with refused(ModelError, "onnxruntime_failed"):
        sweep(tmp_path, linear(random(4, 3)), [{"x": np.ones((1, 5), np.float32)}])
    (tmp_path / "m.ort").write_bytes(b"\x18\0\0\0ORTM" + bytes(64))
    with refused(ModelError, "ort_without_graph"):
        sweep(tmp_path, str(tmp_path / "m.ort"), ONES)
    with refused(UsageError, "unknown_level"):
        sweep(tmp_path, linear(random(4, 3)), ONES, ("pruned 7",))


def test_strings_and_conditions_are_fed_unchanged(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"]),
        helper.make_node("Where", ["c", "p", "x"], ["y"]),
        helper.make_node("Identity", ["t"], ["u"]),
    ]
    inputs = [tensor("x", F32, ["b", 4]), tensor("c", BOOL, ["b", 1]), tensor("t", STRING, ["n"])]
    outputs = [tensor("y", F32, None), tensor("u", TensorProto.STRING, None)]
    built = model(nodes, inputs, outputs, [weight("w", random(4, 4))])
    feed = {"x": random(1, 4), "c": np.array([[True]]), "t": np.array(["a", "µ"])}
    found = sweep(tmp_path, built, [feed])
    assert found["p", "int8"].sqnr_db is not None
    assert found.notes == (because("outputs_left_out", names=["u"]),)
