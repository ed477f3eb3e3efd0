"""Points from a scripted engine: the order of trials, and the message if none is accepted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.model.factory import classifier, encoder
from tests.model.spec import make_spec
from tests.refusal import refused
from tuibench.core.errors import UsageError
from tuibench.core.model import ModelSummary, Point, Port
from tuibench.core.reason import because, error_text
from tuibench.model.inspection import input_ports, output_ports
from tuibench.model.preparation import TRIAL_PASSED, Order, Preparer, RunRefused, shorten
from tuibench.present.reason import reason_words
from tuibench.worker.bundle import read_bundle

Accept = Callable[[dict[str, Any]], str | None]


class Bench:
    """A model, a scripted engine that refuses inputs with the message that `accept` returns, and all emitted events."""

    def __init__(self, tmp_path: Path, ports: tuple[Port, ...], accept: Accept = lambda feed: None) -> None:
        self.tmp_path = tmp_path
        self.accept = accept
        self.events: list[tuple[str, Point]] = []
        self.runs: list[tuple[dict[str, Any], bool]] = []
        self.summary = ModelSummary("m.onnx", "0", 1, 0, ports, (Port("y", "tensor", "float32", None),))
        self.outputs: Callable[[dict[str, Any], bool], dict[str, Any]] = lambda feed, optimize: {"y": np.ones(3)}

    def run(self, feed: dict[str, Any], optimize: bool) -> dict[str, Any]:
        self.runs.append((feed, optimize))
        complaint = self.accept(feed)
        if complaint:
            raise RunRefused(error_text(complaint))
        return self.outputs(feed, optimize)

    def prepare(self, *, order: dict[str, Any] | None = None, model: Any = None, **asked: Any) -> list[Point]:
        spec = make_spec("m.onnx", **asked)
        filled = Order(spec, 0, self.tmp_path, 10**10, **(order or {}))
        emit: Callable[[str, Point], None] = lambda stage, point: self.events.append((stage, point))  # noqa: E731
        return Preparer(filled, self.summary, model, self.run, emit).carry_out()


_RESHAPE = (
    "[ONNXRuntimeError] : 1 : FAIL : Non-zero status code returned while running Reshape node. Name:'' Status "
    "Message: /src/core/reshape_helper.h:91 onnxruntime::ReshapeHelper::ReshapeHelper(const TensorShape&, "
    "std::vector<int>&, bool) a == b was false. Cannot be reshaped"
)
PICTURE = Port("x", "tensor", "float32", ("b", 3, None, None))
ROW = Port("x", "tensor", "float32", ("b", 4))


def test_point_is_written_tried_and_given_a_reference(tmp_path: Path) -> None:
    bench = Bench(tmp_path, (ROW,))
    (point,) = bench.prepare(batches=(2,))
    assert [stage for stage, _ in bench.events] == ["candidate", "tried", "point"]
    assert [optimize for _, optimize in bench.runs] == [True, False]
    assert [p.reference.reason == TRIAL_PASSED for _, p in bench.events[:2]] == [False, True]
    assert (point.batch, point.items, point.distinct, point.failure) == (2, 2, 8, None)
    feeds = read_bundle(point.bundle or "")
    assert len(feeds) == 8 and feeds[0]["x"].tobytes() == bench.runs[0][0]["x"].tobytes()
    assert point.reference.difference == 0 and point.reference.tolerance == 1e-3
    assert read_bundle(point.reference.file or "")[0]["y"].tolist() == [1, 1, 1]


def test_bundle_is_written_before_the_trial(tmp_path: Path) -> None:
    seen: list[bool] = []
    bench = Bench(tmp_path, (ROW,), lambda feed: seen.append(Path(bench.events[-1][1].bundle or "").exists()))
    bench.prepare()
    assert seen == [True, True]


def test_later_points_start_with_the_size_accepted_before(tmp_path: Path) -> None:
    bench = Bench(tmp_path, (PICTURE,), lambda feed: None if feed["x"].shape[2] == 48 else "no")
    first, second = bench.prepare(batches=(1, 4))
    assert first.chosen == second.chosen == {"x:2": 48, "x:3": 320} and second.items == 4
    assert sum(optimize for _, optimize in bench.runs) == 3, "the second point knows what the first one learned"


def test_size_in_an_error_message_is_tried_next(tmp_path: Path) -> None:
    port = Port("x", "tensor", "float32", ("b", None))
    bench = Bench(tmp_path, (port,), lambda feed: None if feed["x"].shape[1] == 4321 else "Expected: 4321")
    (point,) = bench.prepare()
    assert point.chosen == {"x:1": 4321}


def test_requested_dims_are_not_chosen(tmp_path: Path) -> None:
    (point,) = Bench(tmp_path, (PICTURE,)).prepare(dims=(("x:2", (96,)),))
    assert point.dims == {"x:2": 96, "x:3": 224} and point.chosen == {"x:3": 224}


def test_message_after_all_trials_fail_names_the_flags_to_pass(tmp_path: Path) -> None:
    bench = Bench(tmp_path, (PICTURE,), lambda feed: "Status Message: wrong size")
    (point,) = bench.prepare()
    assert (
        point.failure is not None
        and (point.failure.kind, point.failure.phase) == ("inputs", "inputs")
        and point.bundle is None
    )
    assert len(bench.runs) <= 40
    assert point.failure.message == because(
        "no_size_accepted",
        count=len(bench.runs),
        inputs=[
            because(
                "input_with_type",
                name="x",
                dtype="float32",
                shape=because("input_shape", kind="tensor", dims=["b", 3, None, None]),
            )
        ],
        dims=["x:2", "x:3"],
        why=because("reference_refused", why=error_text("wrong size")),
    )


def test_error_without_free_dims_is_left_to_the_workers(tmp_path: Path) -> None:
    (point,) = Bench(tmp_path, (ROW,), lambda feed: "[ONNXRuntimeError] : 1 : FAIL : broken").prepare()
    assert point.failure is None and point.bundle is not None
    assert point.reference.file is None and point.reference.reason is not None
    assert point.reference.reason == because("reference_refused", why=error_text("broken"))


def test_model_that_does_not_load_keeps_its_first_candidate(tmp_path: Path) -> None:
    bench = Bench(tmp_path, (PICTURE,))

    def refuse(feed: dict[str, Any], optimize: bool) -> dict[str, Any]:
        raise RunRefused(error_text("unknown op"), loading=True)

    bench.outputs = refuse
    (point,) = bench.prepare()
    assert point.failure is None and point.dims == {"x:2": 224, "x:3": 224} and len(bench.runs) == 1
    assert point.reference.reason


def test_point_whose_trial_killed_a_process_is_not_tried_again(tmp_path: Path) -> None:
    bench = Bench(tmp_path, (PICTURE,))
    first, second = bench.prepare(batches=(1, 2), order={"skip_trial": frozenset({"m0p0"})})
    assert first.reference.reason and first.bundle is not None
    assert second.reference.file is not None and all(feed["x"].shape[0] == 2 for feed, _ in bench.runs)


def test_only_and_reference_options_are_obeyed(tmp_path: Path) -> None:
    bench = Bench(tmp_path, (ROW,))
    found = bench.prepare(batches=(1, 2, 4), order={"only": frozenset({"m0p1"}), "reference": False})
    assert [(p.id, p.batch) for p in found] == [("m0p1", 2)]
    assert not bench.runs and found[0].reference.file is None and found[0].reference.reason


def test_oversized_input_fails_with_its_size(tmp_path: Path) -> None:
    bench = Bench(tmp_path, (Port("x", "tensor", "float32", (10**6, 10**6)),))
    (point,) = bench.prepare()
    assert point.failure is not None and point.failure.message is not None and not bench.runs
    assert (point.failure.message.code, point.failure.message.fields["bytes"]) == ("input_too_large", 4 * 10**12)


@pytest.mark.parametrize(
    "port",
    [Port("x", "tensor", "undefined", (1,)), Port("x", "sequence", "int64->float32", None, "map")],
)
def test_unsupported_input_kind_fails_with_its_kind(tmp_path: Path, port: Port) -> None:
    (point,) = Bench(tmp_path, (port,)).prepare()
    why = because("input_without_values", name="x", kind=port.kind, dtype=port.dtype)
    assert point.failure is not None and point.failure.message == why


def test_forbidden_batch_fails_and_the_others_continue(tmp_path: Path) -> None:
    good, bad = Bench(tmp_path, (Port("x", "tensor", "float32", (1, 4)),)).prepare(batches=(1, 4))
    assert good.failure is None and bad.failure is not None and "1" in reason_words(bad.failure.message)


def test_reference_that_differs_from_itself_is_dropped(tmp_path: Path) -> None:
    bench = Bench(tmp_path, (ROW,))
    bench.outputs = lambda feed, optimize: {"y": np.array([1.0, np.nan if optimize else 2.0])}
    (point,) = bench.prepare()
    assert point.reference.file is None and point.reference.reason


def test_reference_difference_is_that_of_the_optimizations(tmp_path: Path) -> None:
    bench = Bench(tmp_path, (ROW,))
    bench.outputs = lambda feed, optimize: {"y": np.array([1.0, 2.0 if optimize else 2.5])}
    (point,) = bench.prepare()
    assert point.reference.difference == pytest.approx(0.2)
    assert read_bundle(point.reference.file or "")[0]["y"].tolist() == [1, 2.5]


def test_inputs_from_a_file_decide_the_dims(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", x=np.ones((5, 2, 3, 8, 9), np.float32))
    bench = Bench(tmp_path, (PICTURE,))
    (point,) = bench.prepare(file=str(tmp_path / "in.npz"))
    assert (point.batch, point.distinct, point.chosen) == (2, 5, {}) and point.dims == {"x:2": 8, "x:3": 9}
    assert point.inputs[0].how.startswith("from ")
    with refused(UsageError, "sample_no_multiple", items=2, batch=4):
        bench.prepare(file=str(tmp_path / "in.npz"), batches=(4,))


def test_nan_in_inputs_from_a_file_is_noted(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", x=np.full((2, 3, 8, 9), np.nan, np.float32))
    (point,) = Bench(tmp_path, (PICTURE,)).prepare(file=str(tmp_path / "in.npz"))
    assert point.failure is None and any("432" in note for note in point.notes)


def test_invalid_request_raises_before_anything_runs(tmp_path: Path) -> None:
    bench = Bench(tmp_path, (PICTURE,))
    with refused(UsageError, "dim_unknown", subject="--dim depth:", dim="depth"):
        bench.prepare(dims=(("depth", (3,)),))
    assert not bench.runs


def test_graph_limits_token_ids(tmp_path: Path) -> None:
    built = encoder(rows=3)
    bench = Bench(tmp_path, input_ports(built.graph))
    bench.prepare(model=built, sequence_lengths=(64,))
    ids = bench.runs[0][0]["ids"]
    assert ids.shape == (1, 64) and ids.max() == 2


def test_ports_of_a_built_model_match_the_bench() -> None:
    graph = classifier().graph
    assert input_ports(graph)[0].shape == ("batch", 3, "height", "width") and output_ports(graph)[0].shape is None


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (_RESHAPE, "a == b was false. Cannot be reshaped"),
        ("[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Got: 3 Expected: 4", "Got: 3 Expected: 4"),
        ("\x1b[31mtext\nmore", "\\e[31mtext more"),
        ("", ""),
    ],
)
def test_error_messages_are_shortened_to_their_content(message: str, expected: str) -> None:
    assert shorten(message) == expected
