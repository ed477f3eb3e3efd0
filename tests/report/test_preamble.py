from __future__ import annotations

from dataclasses import replace

from tests.report import build
from tuibench.core.model import ModelSummary
from tuibench.core.text import show
from tuibench.core.units import cpu_ranges
from tuibench.report.preamble import EngineFact, Preamble, StreamChoice, model_line, preamble_text

PREAMBLE = Preamble(
    pin="core", cpus=(0, 1, 2, 3, 8), engines=(EngineFact("onnxruntime", "1.31.1", (1, 4), ("AVX512", "VNNI")),),
    models=("dir/model.onnx",), points=(build.point(),), streams=(StreamChoice(4, 4, "one per core, not tuned"),),
    cells=3, expected_s=24.0, limit_s=90.0, notes=("-b: 1 given more than once, measured once",),
)  # fmt: skip


def test_everything_is_said_before_measuring() -> None:
    assert preamble_text(PREAMBLE).splitlines() == [
        "-b: 1 given more than once, measured once",
        "Pinning: core, CPU 0-3,8, each engine thread on one CPU (-pin none|core)",
        "Engine: onnxruntime 1.31.1, threads 1,4, ISA AVX512 VNNI",
        "Input 'x': float32 [1, 3, 224, 224], uniform 0 to 1",
        "Chosen: seq = 16 (--dim seq=N changes it)",
        "Rotating over 8 samples (--distinct-inputs 1 for the hot loop)",
        "Streams: 4 on 4 cores, one per core, not tuned (-nstreams N)",
        "Plan: 3 cells, about 24 s, at most 90 s",
    ]


def test_several_points_say_whose_inputs_they_are() -> None:
    points = (build.point(), build.point(id="p1", batch=8, dims={"seq": 32}, chosen={}, distinct=1))
    text = preamble_text(replace(PREAMBLE, points=points))
    assert "dir/model.onnx batch 1 seq=16: Input 'x'" in text
    assert "dir/model.onnx batch 8 seq=32: Input 'x'" in text


def test_inputs_that_could_not_be_made_say_why() -> None:
    point = build.point(inputs=(), chosen={}, distinct=1, failure=("inputs", "inputs", "give --dim mask=N"))
    assert "No inputs: give --dim mask=N" in preamble_text(replace(PREAMBLE, points=(point,)))


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


def test_a_model_is_told_in_figures_and_nothing_of_it_reaches_the_terminal_raw() -> None:
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


def test_what_could_not_be_read_is_said_instead() -> None:
    model = ModelSummary("m.ort", "0" * 64, 10, 0, (), (), format="ort", reason="an .ort file")
    assert model_line("m.ort", model) == "Model m.ort: 10 B · an .ort file"
