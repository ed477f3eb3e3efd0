"""The command lines of deepsparse.benchmark's guide, with only the program and the model changed."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.build import make_spec
from tests.cli.shell import Done, Shell
from tuibench.core.spec import EFFORTS
from tuibench.present.export import render
from tuibench.services.api import Services
from tuibench.services.runs import RunOptions

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "tuibench" / "data" / "benchmark.schema.json").read_text(encoding="utf-8"))
LABELS = (
    "Original Model Path",
    "Batch Size",
    "Scenario",
    "Throughput (items/sec)",
    "Latency Mean (ms/batch)",
    "Latency Median (ms/batch)",
    "Latency Std (ms/batch)",
    "Iterations",
)
RESULT_KEYS: dict[str, Any] = {
    "scenario": str,
    "items_per_sec": float,
    "seconds_ran": float,
    "iterations": int,
    "median": float,
    "mean": float,
    "std": float,
    **{f"{q}%": float for q in ("25.0", "50.0", "75.0", "90.0", "95.0", "99.0", "99.9")},
}
TOP_KEYS: dict[str, Any] = {
    "engine": str,
    "version": str,
    "orig_model_path": str,
    "model_path": str,
    "batch_size": int,
    "input_shapes": type(None),
    "num_cores": int,
    "scenario": str,
    "scheduler": str,
    "seconds_to_run": (int, float),
    "num_streams": int,
    "fraction_of_supported_ops": float,
    "benchmark_result": dict,
}
GUIDE = {
    "default": (),
    "sync": ("-s", "sync"),
    "latency": ("--batch_size", "1", "--scenario", "sync"),
    "throughput": ("--batch_size", "16", "--time", "10", "--scenario", "async", "--num_streams", "8"),
    "quiet": ("-q",),
}


@pytest.fixture
def shell(real_shell: Shell) -> Shell:
    """Run each command in its own process, because this module tests that process."""
    return real_shell


def eight_lines(done: Done) -> dict[str, str]:
    """Require the compatible lines first on stdout, in their order, and return their values."""
    pairs = [line.partition(": ")[::2] for line in done.lines[: len(LABELS)]]
    assert tuple(label for label, _ in pairs) == LABELS
    return dict(pairs)


def hold_document(document: Mapping[str, Any], printed: Mapping[str, str]) -> None:
    """Require every key of deepsparse.benchmark with its type, and the figures of the lines."""
    jsonschema.validate(document, SCHEMA)
    for key, kind in TOP_KEYS.items():
        assert isinstance(document[key], kind), key
    result = document["benchmark_result"]
    assert list(result) == list(RESULT_KEYS)
    for key, kind in RESULT_KEYS.items():
        # A percentile with too few calls is null, and its reason is beside it.
        unknown = key.endswith("%") and f"benchmark_result.{key}" in document["tuibench"]["reasons"]
        assert isinstance(result[key], kind) or (result[key] is None and unknown), key
    assert all(isinstance(result[key], float) for key in ("25.0%", "50.0%", "75.0%"))
    for label, key in zip(LABELS[3:], ("items_per_sec", "mean", "median", "std", "iterations"), strict=True):
        assert float(printed[label]) == pytest.approx(result[key], rel=5.1e-4, abs=5.1e-5), label
    assert printed["Original Model Path"] == document["orig_model_path"]
    assert int(printed["Batch Size"]) == document["batch_size"]
    assert printed["Scenario"] == document["scenario"] == result["scenario"]
    rate = document["batch_size"] * result["iterations"] / result["seconds_ran"]
    assert result["items_per_sec"] == pytest.approx(rate)
    levels = [level for q in ("25.0", "50.0", "75.0", "90.0", "95.0", "99.0") if (level := result[f"{q}%"]) is not None]
    assert levels == sorted(levels) and levels[1] == result["median"]


OLD_EXPRESSIONS = (
    r"Original Model Path: (.+)", r"Batch Size: (\d+)", r"Scenario: (\w+)", r"Throughput \(items/sec\): ([\d.]+)",
    r"Latency Mean \(ms/batch\): ([\d.]+)", r"Latency Median \(ms/batch\): ([\d.]+)",
    r"Latency Std \(ms/batch\): ([\d.]+)", r"Iterations: (\d+)",
)  # fmt: skip
"""Expressions that people wrote for the lines of deepsparse.benchmark."""


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n in ("sync", "quiet") else ()) for n in GUIDE]
)
def test_guide_commands_print_their_lines_and_equal_json_figures(shell: Shell, folder: Path, name: str) -> None:
    target = folder / "benchmark.json"
    done = shell.benchmark("sample:tiny", *GUIDE[name], "-x", str(target))
    assert done.code == 0, done.err
    document = json.loads(target.read_text(encoding="ascii"))
    printed = eight_lines(done)
    hold_document(document, printed)
    sync = "sync" in GUIDE[name]
    assert printed["Scenario"] == ("singlestream" if sync else "multistream")
    assert document["scheduler"] == ("Scheduler.single_stream" if sync else "Scheduler.multi_stream")
    assert done.lines[-1] == document["tuibench"]["headline"]
    assert re.search(r"\d (ms|µs) .*\(sync|items/s .*\(async", done.lines[-1])
    assert document["seconds_to_run"] == 0.03
    assert all(re.search(expression, done.out) for expression in OLD_EXPRESSIONS)
    if name != "quiet":
        told = (
            "Pinning: core",
            "Engine: onnxruntime 1.",
            "ISA ",
            "Model sample:tiny",
            "Input 'features'",
            "Measuring: ",
        )
        places = [done.err.index(words) for words in told]
        assert places == sorted(places)
        assert ("(single_stream)" if sync else "(multi_stream)") in done.err
        assert f"batch {document['batch_size']}" in done.err and ("Streams: " in done.err) is not sync
    assert (done.err == "") == (name == "quiet")


def test_quiet_changes_stderr_only(shell: Shell) -> None:
    script = {"default": {"latency_us": 2000}}
    flags = ("sample:tiny", "-s", "sync", "-ncores", "1")
    loud, quiet = shell.fake(script, *flags), shell.fake(script, *flags, "-q")
    assert (loud.code, quiet.code) == (0, 0)
    assert quiet.err == "" and "'features'" in loud.err
    labels = [[line.partition(":")[0] for line in done.lines if ":" in line] for done in (loud, quiet)]
    assert labels[0] == labels[1]


def test_default_engine_is_onnxruntime_with_correct_outputs(shell: Shell) -> None:
    document = json.loads(shell.benchmark("sample:text", "-s", "sync", "-x", "-").out)
    cell = document["tuibench"]["cells"][0]
    assert cell["asked"]["engine"] == "onnxruntime"
    assert cell["check"]["state"] == "agrees"
    assert cell["used"]["precision"] == "f32"
    assert cell["used"]["distinct_inputs"] == 8
    assert document["tuibench"]["points"][0]["chosen"]


REBUILD = """
import sys
from pathlib import Path
from tuibench.present.export import render
from tuibench.runs.journal import read_events
from tuibench.runs.replay import replay
sys.stdout.write(render(replay(read_events(Path(sys.argv[1]))).result(), "json"))
"""


def test_json_can_be_rebuilt_from_the_journal_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUIBENCH_FAKE", json.dumps({"cores=1": {"latency_us": [300, 400, 500]}}))
    sample = ROOT / "tuibench" / "data" / "samples" / "tiny.onnx"
    effort = EFFORTS["quick"]
    short = type(effort)("quick", 2, 2, 0.02, 0.02, None, 10.0)
    spec = make_spec(sample, effort=short, scenarios=("async", "sync"), batches=(1, 2))
    active, _ = Services().runs.start(spec, RunOptions(save=False))
    try:
        for _ in active.events():
            continue
        whole = render(active.result(), "json")
        (folder / "copy").mkdir()
        shutil.copy(active.run_dir / "journal.jsonl", folder / "copy")
    finally:
        active.close()
    assert not active.run_dir.exists()
    command = [sys.executable, "-c", REBUILD, str(folder / "copy")]
    rebuilt = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert rebuilt == whole
    assert [c["status"] for c in json.loads(whole)["tuibench"]["cells"]] == ["ok"] * 4


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", GUIDE)
def test_guide_commands_work_verbatim(shell: Shell, folder: Path, name: str) -> None:
    target = folder / "benchmark.json"
    done = shell.run("benchmark", "sample", *GUIDE[name], "-x", str(target), seconds=300)
    assert done.code == 0, done.err
    document = json.loads(target.read_text(encoding="ascii"))
    hold_document(document, eight_lines(done))
    if "--time" in GUIDE[name]:
        effort = document["tuibench"]["spec"]["effort"]
        assert document["seconds_to_run"] == effort["timed_s"] * effort["max_executions"] == 10
        assert {len(cell["executions"]) for cell in document["tuibench"]["cells"]} == {effort["max_executions"]}
        assert document["benchmark_result"]["seconds_ran"] >= 10


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_one_execution_of_ten_seconds_equals_a_deepsparse_run(shell: Shell) -> None:
    flags = ("-s", "sync", "--executions", "1", "-t", "10", "-w", "2", "--json")
    document = json.loads(shell.run("benchmark", "sample", *flags, seconds=100).out)
    result = document["benchmark_result"]
    assert document["seconds_to_run"] == 10
    # The last block ends late if the machine stalls meanwhile.
    assert 9 <= result["seconds_ran"] < 15
    assert math.isfinite(result["90.0%"]) and len(document["tuibench"]["cells"][0]["executions"]) == 1
