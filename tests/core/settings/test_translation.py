from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.present import build
from tuibench.cli.arguments import parse
from tuibench.core.errors import UsageError
from tuibench.core.record import from_plain, to_plain
from tuibench.core.settings.request import BenchmarkRequest, to_effort, to_spec
from tuibench.core.spec import EFFORTS, BenchmarkSpec
from tuibench.present.error.words import hint_words, message_words
from tuibench.present.json_export import seconds_to_run
from tuibench.present.preamble import DryRun, dry_run_text


@dataclass(frozen=True)
class Machine:
    usable_cores: int = 8
    default_cores: int = 8
    node_cores: int = 4


@pytest.fixture(autouse=True)
def _models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.onnx", "b.onnx", "in.npz"):
        (tmp_path / name).write_bytes(b"x")


def spec_of(*argv: str) -> BenchmarkSpec:
    return both(*argv)[0]


def both(*argv: str) -> tuple[BenchmarkSpec, tuple[str, ...]]:
    request = parse(["benchmark", *argv])
    assert isinstance(request, BenchmarkRequest)
    return to_spec(request, Machine())


def effort_of(**fields: Any) -> Any:
    return to_effort(BenchmarkRequest(("m",), **fields))


def test_defaults_are_applied() -> None:
    spec, notes = both("a.onnx")
    assert notes == ()
    assert (spec.engines, spec.scenarios, spec.cores, spec.batches) == (("onnxruntime",), ("async", "sync"), (8,), ())
    assert (spec.pin, spec.precision, spec.streams, spec.io, spec.check) == ("core", "f32", None, None, True)
    assert spec.effort == EFFORTS["default"]
    assert (spec.inputs.seed, spec.inputs.distinct) == (0, 8)


def test_axes_become_lists() -> None:
    spec = spec_of(
        "a.onnx", "b.onnx", "-ncores", "1,node,max", "-b", "pow2:8", "-e", "openvino,onnxruntime", "-s", "sync",
        "-seq_len", "32,64", "--dim", "x:2=320,640", "--dim", "a=b=0",
    )  # fmt: skip
    assert [source.asked for source in spec.models] == ["a.onnx", "b.onnx"]
    assert (spec.cores, spec.batches, spec.engines) == ((1, 4, 8), (1, 2, 4, 8), ("openvino", "onnxruntime"))
    assert (spec.scenarios, spec.sequence_lengths) == (("sync",), (32, 64))
    assert spec.dims == (("x:2", (320, 640)), ("a=b", (0,)))


def test_node_never_exceeds_the_usable_cores() -> None:
    request = BenchmarkRequest(("a.onnx",), cores="node")
    assert to_spec(request, Machine(usable_cores=2, default_cores=1, node_cores=16))[0].cores == (2,)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["-ncores", "9"], "-ncores takes 1 to 8 (physical cores usable here), not '9'"),
        (["-ncores", "0"], "-ncores takes 1 to 8"),
        (["-b", "0"], "-b takes 1 to 65536, not '0'"),
        (["-b", "-1"], "-b takes 1 to 65536, not '-1'"),
        (["-b", "many"], "-b takes 1 to 65536"),
        (["-b", "65537"], "-b takes 1 to 65536"),
        (["-b", "max"], "-b takes 1 to 65536, not 'max'"),
        (["-b", "1,pow2"], "-b takes 1 to 65536, not 'pow2'"),
        (["-seq_len", "max"], "-seq_len takes 1 to 2147483647, not 'max'"),
        (["-s", "server"], "-s server is not supported in this version"),
        (["-s", "sync,server"], "-s server is not supported in this version"),
        (["-s", "fast"], "-s takes sync, async or elastic, not 'fast'"),
        (["--dim", "seq"], "--dim takes NAME=LIST, not 'seq'"),
        (["--dim", "=4"], "--dim takes NAME=LIST"),
        (["--dim", "s=1", "--dim", "s=2"], "--dim s is given twice"),
        (["--dim", "s=9999999999"], "--dim s takes 0 to 2147483647"),
        (["--quick", "--precise"], "--quick and --precise exclude each other"),
        (["-t", "1", "--target", "1"], "-t sets how much is measured, --target how precisely"),
        (["--executions", "3", "--target", "1"], "--executions sets how much is measured"),
    ],
)
def test_wrong_request_error_lists_the_allowed_values(argv: list[str], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        both("missing.onnx", *argv)
    assert said in message_words(caught.value)
    assert "-b" not in argv or hint_words(caught.value) == "lists: 1,2,4 or 1-4 or pow2:64"


def test_model_given_twice_is_measured_once(tmp_path: Path) -> None:
    (tmp_path / "link.onnx").symlink_to("a.onnx")
    spec, notes = both("a.onnx", "link.onnx", "b.onnx")
    assert [source.asked for source in spec.models] == ["a.onnx", "b.onnx"]
    assert notes == ("link.onnx: given more than once, measured once",)


def test_streams_are_for_async_only() -> None:
    assert both("a.onnx", "-s", "sync", "-nstreams", "8") == (
        replace(spec_of("a.onnx", "-s", "sync")),
        ("-nstreams 8: sync has one request at a time, so 1 stream is used",),
    )
    spec, notes = both("a.onnx", "-nstreams", "8")
    assert spec.streams == 8 and notes == ()


def test_inputs_file_must_be_a_regular_file(tmp_path: Path) -> None:
    assert spec_of("a.onnx", "--inputs", "in.npz").inputs.file == str(tmp_path / "in.npz")
    for name, said in (("none.npz", "--inputs none.npz: no such file"), (".", "--inputs . is a directory")):
        with pytest.raises(UsageError) as caught:
            both("a.onnx", "--inputs", name)
        assert message_words(caught.value).startswith(said)
        assert "sample" not in hint_words(caught.value) and "npz" in hint_words(caught.value) + message_words(
            caught.value
        )


def test_single_values_of_a_named_effort_can_be_changed() -> None:
    assert effort_of(quick=True) == EFFORTS["quick"]
    assert effort_of(precise=True, target=0.005, warmup_s=0.5) == replace(
        EFFORTS["precise"], target=0.005, warmup_s=0.5
    )


def test_total_time_is_split_among_executions_and_disables_the_target() -> None:
    effort = effort_of(time_s=10.0)
    least = EFFORTS["default"].min_executions
    assert (effort.min_executions, effort.max_executions, effort.target) == (least, least, None)
    assert effort.timed_s == 10 / least
    assert effort_of(time_s=1.5, quick=True).timed_s == 0.5


@pytest.mark.parametrize("typed", [["--time", "10"], ["-t10"], ["--time=10", "--quick"], ["-t", "10", "-s", "async"]])
def test_ten_typed_seconds_are_measured_and_shown_as_ten(typed: list[str]) -> None:
    # The runner's parsed request decides: the runner knows nothing else.
    spec = from_plain(BenchmarkSpec, json.loads(json.dumps(to_plain(spec_of("a.onnx", *typed)))))
    effort = spec.effort
    assert effort.min_executions == effort.max_executions and effort.target is None
    assert math.fsum([effort.timed_s] * effort.max_executions) == pytest.approx(10, rel=1e-12)
    cell = build.ok_cell()
    assert seconds_to_run(build.run(cell, spec=spec), cell) == 10
    text = dry_run_text(DryRun(spec, (), 0, 0))
    assert f"{effort.max_executions} executions of {effort.timed_s:g} s" in text


def test_one_execution_equals_a_deepsparse_benchmark_run() -> None:
    effort = effort_of(time_s=10.0, executions=1, warmup_s=2.0)
    assert (effort.min_executions, effort.max_executions, effort.timed_s, effort.warmup_s) == (1, 1, 10.0, 2.0)


def test_executions_alone_are_exact_with_the_time_of_the_effort() -> None:
    effort = effort_of(executions=20)
    assert (effort.min_executions, effort.max_executions, effort.target) == (20, 20, None)
    assert effort.timed_s == EFFORTS["default"].timed_s


def test_cell_limit_never_cuts_the_requested_time() -> None:
    for fields in ({"time_s": 600.0}, {"executions": 50}, {"time_s": 3.0, "executions": 100, "warmup_s": 60.0}):
        effort = effort_of(**fields)
        assert effort.limit_s > effort.max_executions * (effort.timed_s + effort.warmup_s)
