from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.present import build
from tuibench.core.model import FedInput, ModelSummary, Point
from tuibench.core.reason import Failure, error_text, legacy_text
from tuibench.core.text import show
from tuibench.core.units import cpu_ranges
from tuibench.present.preamble import (
    EngineFact,
    Preamble,
    StreamChoice,
    engine_line,
    feed_lines,
    model_line,
    preamble_lines,
    preamble_text,
    stream_line,
)
from tuibench.present.table import wrap_lines

PREAMBLE = Preamble(
    pin="core", cpus=(0, 1, 2, 3, 8), engines=(EngineFact("onnxruntime", "1.31.1", (1, 4), ("AVX512", "VNNI")),),
    models=("dir/model.onnx",), points=(build.point(),), streams=(StreamChoice(4, 4, "one per core, not tuned"),),
    cells=3, expected_s=24.0, limit_s=90.0, notes=("-b: 1 given more than once, measured once",),
)  # fmt: skip


def test_preamble_states_everything_before_measuring() -> None:
    assert preamble_text(PREAMBLE).splitlines() == [
        "-b: 1 given more than once, measured once",
        "Pinning: core, CPU 0-3,8, each engine thread on one CPU (-pin none|numa|core)",
        "Engine: onnxruntime 1.31.1, threads 1,4, ISA AVX512 VNNI",
        "Input 'x': float32 [1, 3, 224, 224], uniform 0 to 1",
        "Chosen: seq = 16 (--dim seq=N changes it)",
        "Rotating over 8 samples (--distinct-inputs 1 for the hot loop)",
        "Streams: 4 on 4 cores, one per core, not tuned (-nstreams N)",
        "Plan: 3 cells, about 24 s, at most 90 s",
    ]


def test_missing_engine_is_named_with_its_remedy() -> None:
    missing = EngineFact("openvino", "?", (2,), (), "pip install openvino")
    assert engine_line(missing) == "Engine: openvino is not installed; pip install openvino"


def test_preamble_on_a_terminal_breaks_between_words() -> None:
    free = preamble_text(PREAMBLE).splitlines()
    bound = preamble_text(PREAMBLE, width=40).splitlines()
    assert max(map(len, bound)) <= 40 < max(map(len, free))
    assert " ".join(" ".join(bound).split()) == " ".join(free)
    assert wrap_lines(["until ±2 % or 30 s"], 9) == ["until", "  ±2 % or", "  30 s"]


def test_unread_model_has_no_size() -> None:
    model = ModelSummary("m.onnx", "unread:m.onnx", 0, 0, (), (), reason=legacy_text("it is damaged"))
    assert model_line("m.onnx", model) == "Model m.onnx: it is damaged"


def test_several_points_share_equal_lines_and_list_varying_shapes() -> None:
    def point(batch: int, **changes: Any) -> Point:
        fed = (FedInput("x", "float32", (batch, 3, 224, 224), "uniform 0 to 1"), FedInput("n", "int64", (), "ones"))
        return build.point(id=f"p{batch}", batch=batch, inputs=fed, **{"dims": {}, "chosen": {"seq": 16}} | changes)

    text = preamble_text(replace(PREAMBLE, points=tuple(point(n) for n in range(1, 21)))).splitlines()
    assert text[3:-2] == [
        "Input 'x': float32 [1-20, 3, 224, 224], uniform 0 to 1",
        "Input 'n': int64 [], ones",
        "Chosen: seq = 16 (--dim seq=N changes it)",
        "Rotating over 8 samples (--distinct-inputs 1 for the hot loop)",
    ]
    points = point(1, notes=("all", "one")), point(8, notes=("all",)), point(32, notes=("all",), chosen={"seq": 8})
    lines = feed_lines(points, ["m.onnx"])
    assert lines[0].startswith("Input 'x': float32 [1/8/32, 3, 224, 224]")
    assert "Chosen: seq = 8/16 (--dim seq=N changes it)" in lines
    assert "all" in lines and "batch 1: one" in lines


def test_points_of_several_models_name_their_model() -> None:
    points = build.point(), build.point(id="p1", model=1)
    lines = feed_lines(points, ["a.onnx", "b.onnx"])
    assert [line.partition(": ")[0] for line in lines] == ["a.onnx"] * 2 + ["b.onnx"] * 2 + [
        "Rotating over 8 samples (--distinct-inputs 1 for the hot loop)"
    ]


def test_failed_inputs_have_a_reason_and_no_rotation() -> None:
    failed = {"inputs": (), "chosen": {}, "dims": {}, "distinct": 0}
    point = build.point(**failed, failure=Failure("inputs", "inputs", error_text("give --dim mask=N")))
    text = preamble_text(replace(PREAMBLE, points=(point,)))
    assert "No inputs: give --dim mask=N" in text.splitlines() and "Rotating" not in text
    several = [
        build.point(**failed, batch=n, failure=Failure("memory", "inputs", error_text("no room"))) for n in (16, 32)
    ]
    lines = feed_lines([build.point(dims={}), *several], ["m.onnx"])
    assert "batch 16/32: No inputs: out of memory in making inputs: no room" in lines
    said = build.point(
        **failed, batch=2, failure=Failure("inputs", "inputs", error_text("batch 2: the model allows 1 only"))
    )
    assert "No inputs: batch 2: the model allows 1 only" in feed_lines([build.point(dims={}), said], ["m.onnx"])


def test_names_cannot_drive_the_terminal() -> None:
    fed = replace(build.point().inputs[0], name=build.HOSTILE, how=build.HOSTILE)
    point = replace(build.hostile_run().points[0], inputs=(fed,), notes=(build.HOSTILE,))
    text = preamble_text(replace(PREAMBLE, points=(point, point), models=(build.HOSTILE,), notes=(build.HOSTILE,)))
    assert all(show(line, 10_000) == line for line in text.splitlines())
    assert preamble_text(PREAMBLE, ascii_only=True).isascii()


def test_cpus_are_written_as_ranges() -> None:
    assert cpu_ranges([]) == ""
    assert cpu_ranges([5]) == "5"
    assert cpu_ranges([3, 2, 1, 7, 9, 8]) == "1-3,7-9"


def test_model_figures_are_shown_without_raw_foreign_text() -> None:
    model = ModelSummary(
        path="m.onnx",
        sha256="0" * 64,
        file_bytes=2_000_000,
        external_bytes=1_000_000,
        inputs=(),
        outputs=(),
        opsets={"ai.onnx": 17},
        nodes=12,
        parameters=4_000_000,
        zeros=1_000_000,
        operators={"Conv": 7, "evil\x1b[2J": 5},
        weight_types={"float32": 4_000_000},
        quantization="QDQ int8",
    )
    assert model_line("m\x1b.onnx", model) == (
        "Model m\\e.onnx: 3.00 MB · opset ai.onnx 17 · 12 nodes (7 Conv, 5 evil\\e[2J)"
        " · 4.00 M parameters float32, 25 % zeros · QDQ int8"
    )


def test_model_without_figures_shows_the_reason() -> None:
    model = ModelSummary("m.ort", "0" * 64, 10, 0, (), (), format="ort", reason=legacy_text("an .ort file"))
    assert model_line("m.ort", model) == "Model m.ort: 10 B · an .ort file"


def test_small_models_show_parameters_too() -> None:
    assert "212 parameters float32" in model_line("m", build.model(parameters=212))
    assert "61.1 k parameters float32" in model_line("m", build.model(parameters=61_100))


def test_elastic_line_names_the_engines_that_distribute_requests() -> None:
    choice = StreamChoice(4, 2, "two per NUMA node", by_node=True)
    assert stream_line(choice).endswith(
        "emulated by one instance per NUMA node, of which the least busy is served first"
    )
    alone = replace(choice, serving=("deepsparse",), emulated=False)
    assert stream_line(alone).endswith("distributed by deepsparse itself")
    both = stream_line(replace(alone, emulated=True))
    assert "by deepsparse itself" in both and "emulated" in both


def test_last_line_begins_the_measurement_with_its_schedulers() -> None:
    preamble = replace(PREAMBLE, scenarios=("async", "elastic", "sync"), batches=(1, 8, None), cores=(1, 4))
    assert preamble_lines(preamble)[-1] == (
        "Measuring: async (multi_stream), elastic (elastic), sync (single_stream) · batch 1,8,fixed · 1,4 cores"
    )
    assert preamble_lines(replace(preamble, cores=(1,)))[-1].endswith("1 core")
