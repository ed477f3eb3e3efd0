from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tuibench.cli.arguments import parse
from tuibench.core.settings.command import again
from tuibench.core.settings.request import BenchmarkRequest, to_spec
from tuibench.core.spec import BenchmarkSpec

NAMES = ("plain.onnx", "with space.onnx", "-b.onnx", "--quick", "quote'\".onnx", "$(id).onnx", "new\nline.onnx")


@dataclass(frozen=True)
class Machine:
    usable_cores: int = 8
    default_cores: int = 8
    node_cores: int = 4


@pytest.fixture(scope="module", autouse=True)
def models() -> Iterator[None]:
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as directory:
        for name in (*NAMES, "in put.npz"):
            (Path(directory) / name).write_bytes(b"x")
        os.chdir(directory)
        yield
        os.chdir(before)


def spec_of(request: object) -> BenchmarkSpec:
    assert isinstance(request, BenchmarkRequest)
    return to_spec(request, Machine())[0]


def lists(low: int, high: int) -> st.SearchStrategy[str]:
    numbers = st.lists(st.integers(low, high), min_size=1, max_size=3)
    return numbers.map(lambda values: ",".join(map(str, values)))


DIM = st.tuples(st.text(st.characters(blacklist_characters="\0"), min_size=1, max_size=6), lists(0, 99))
SECONDS = st.floats(0.001, 1000).map(lambda value: float(f"{value:.6g}"))


@st.composite
def requests(draw: st.DrawFn) -> BenchmarkRequest:
    fixed = draw(st.booleans())
    quick = draw(st.booleans())
    return BenchmarkRequest(
        models=tuple(draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3))),
        engines=draw(st.sampled_from([None, "onnxruntime", "openvino,onnxruntime"])),
        scenarios=draw(st.sampled_from([None, "sync", "async", "sync,async"])),
        cores=draw(st.none() | lists(1, 8) | st.sampled_from(["max", "node", "pow2"])),
        batches=draw(st.none() | lists(1, 65_536)),
        sequence_lengths=draw(st.none() | lists(1, 4096)),
        dims=tuple(f"{name}={values}" for name, values in draw(st.lists(DIM, max_size=2, unique_by=lambda d: d[0]))),
        batch_dim=draw(st.none() | st.text(st.characters(blacklist_characters="\0"), min_size=1, max_size=6)),
        streams=draw(st.none() | st.integers(1, 64)),
        stream_kind=draw(st.sampled_from([None, "queue", "threads", "processes"])),
        pin=draw(st.sampled_from(["core", "none"])),
        precision=draw(st.sampled_from(["f32", "bf16", "engine-default"])),
        io=draw(st.sampled_from([None, "bound", "call"])),
        shapes=tuple(tuple(s) for s in draw(st.lists(st.lists(st.integers(0, 999), max_size=4), max_size=2))),
        inputs_file=draw(st.sampled_from([None, "in put.npz"])),
        distinct=draw(st.integers(1, 1024)),
        seed=draw(st.integers(0, 2**63 - 1)),
        no_check=draw(st.booleans()),
        time_s=draw(st.none() | SECONDS) if fixed else None,
        warmup_s=draw(st.none() | st.floats(0, 3600).map(lambda value: float(f"{value:.6g}"))),
        executions=draw(st.none() | st.integers(1, 1000)) if fixed else None,
        target=None if fixed else draw(st.none() | st.floats(0.02, 99).map(lambda value: float(f"{value:.4g}") / 100)),
        quick=quick,
        precise=not quick and draw(st.booleans()),
        max_time_s=draw(st.none() | st.floats(1, 1e6)),
        timeout_scale=draw(st.floats(0.01, 1000)),
        memory_bytes=draw(st.none() | st.integers(2**20, 2**45)),
        keep_raw=draw(st.booleans()),
    )


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(requests())
def test_command_line_parses_back_to_an_equal_spec(request: BenchmarkRequest) -> None:
    spec = spec_of(request)
    program, *argv = shlex.split(again(spec))
    assert program == "tuibench"
    assert spec_of(parse(argv)) == spec


def test_every_effective_setting_is_spelled_out() -> None:
    line = again(spec_of(parse(["benchmark", "plain.onnx", "-b8"])))
    assert line == (
        "tuibench benchmark plain.onnx -e onnxruntime -s async,sync -ncores 8 -b 8 -pin core --precision f32 "
        "--target 2 -w 2 --seed 0 --distinct-inputs 8"
    )


def test_shared_time_is_repeated_as_typed() -> None:
    line = again(spec_of(parse(["benchmark", "plain.onnx", "-t", "10", "--executions", "3"])))
    assert "--executions 3 -t 10 -w 2" in line
    # 7 / 100 * 100 is 7.000000000000001.
    assert "--target 7 -w 2" in again(spec_of(parse(["benchmark", "plain.onnx", "--target", "7"])))
