from __future__ import annotations

import shlex

import pytest

from tests.core.settings.test_repeat import Machine
from tuibench.cli.arguments import parse
from tuibench.core.model import ModelSummary, Point, Reference
from tuibench.core.settings.request import BenchmarkRequest, to_spec
from tuibench.runs.schedule import make_cells

MODEL = ModelSummary("m.onnx", "a" * 64, 1, 0, (), ())
NOTHING = Reference(None, None, None)
POINTS = (
    Point("p0", 0, 1, 1, {}, {}, (), None, 8, NOTHING),
    Point("p1", 0, 4, 4, {"seq": 128}, {}, (), None, 8, NOTHING),
)


@pytest.mark.parametrize(
    ("line", "keys"),
    [
        ("", ["749700fc5271", "3e875fa34c75", "153b9e6843fd", "5fe5b7a2a047"]),
        ("-s sync -ncores 1 --seed 7 --distinct-inputs 1", ["8fa9bd03b68b", "c23c1674b43a"]),
        (
            "-e openvino --io call --stream-kind threads -nstreams 3",
            ["95828121b3af", "9c05a99e9a8f", "ade0c7e59780", "6a796c506fc4"],
        ),
        (
            "-pin none --precision bf16 -e fake --quick --no-check",
            ["59e820c37ede", "7d9262e6c0c7", "b15b8409711d", "15dbbfcb9719"],
        ),
    ],
)
def test_cell_keys_equal_those_of_stored_results(line: str, keys: list[str]) -> None:
    request = parse(["benchmark", "sample:tiny", *shlex.split(line)])
    assert isinstance(request, BenchmarkRequest)
    spec, _ = to_spec(request, Machine())
    assert [cell.key for cell in make_cells(spec, [MODEL], POINTS)] == keys


def test_an_engine_and_its_default_release_are_measured_once() -> None:
    request = parse(["benchmark", "sample:tiny", "-e", "deepsparse,deepsparse@1.8.0,onnxruntime,onnxruntime@1.27.0"])
    assert isinstance(request, BenchmarkRequest)
    spec, notes = to_spec(request, Machine())
    assert spec.engines == ("deepsparse", "onnxruntime", "onnxruntime@1.27.0")
    assert any("deepsparse@1.8.0" in note for note in notes)


@pytest.mark.parametrize(("flags", "streams"), [("", [2, 8]), ("-nstreams auto", [2, 8]), ("-nstreams 3", [3, 3])])
def test_elastic_has_two_requests_per_node_in_flight(flags: str, streams: list[int]) -> None:
    request = parse(["benchmark", "sample:tiny", *shlex.split(f"-s elastic -ncores 1,4 {flags}")])
    assert isinstance(request, BenchmarkRequest)
    spec, _ = to_spec(request, Machine())
    cells = make_cells(spec, [MODEL], POINTS[:1], lambda cores: cores)
    assert [cell.asked.streams for cell in cells] == streams
