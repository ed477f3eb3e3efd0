"""Sweeps, several models, time limits and every run output, as real processes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.cli.shell import Shell
from tests.cli.test_end_to_end import SCHEMA
from tests.engines import make
from tuibench.host.topology import read_topology
from tuibench.stats.samples import read_samples

CORES = tuple(c for c in (1, 2) if c <= read_topology(os.sched_getaffinity(0)).usable_cores)
NCORES = ",".join(map(str, CORES))
SCRIPT = {"default": {"latency_us": 300}, "cores=2": {"latency_us": 200}}
SYNC = ("sample:tiny", "-s", "sync", "-ncores", "1")


def load(text: str) -> dict[str, Any]:
    """Load a document and require that it is valid."""
    document: dict[str, Any] = json.loads(text)
    jsonschema.validate(document, SCHEMA)
    return document


def figures(cells: list[Mapping[str, Any]]) -> dict[tuple[Any, ...], float]:
    """Map (engine, cores, batch) to p50."""
    return {
        (c["asked"]["engine"], c["asked"]["cores"], c["asked"]["batch"]): c["latency_ms"]["p50"]["value"] for c in cells
    }


def test_sweep_prints_a_table_conclusions_and_the_repeat_command(shell: Shell, folder: Path) -> None:
    target = folder / "sweep.json"
    axes = ("-ncores", NCORES, "-b", "1,2", "-e", "onnxruntime", "-s", "sync", "-x", str(target))
    done = shell.fake(SCRIPT, "sample:tiny", *axes)
    assert done.code == 0, done.err
    document = load(target.read_text(encoding="ascii"))
    cells = document["tuibench"]["cells"]
    wanted = {(e, c, b) for e in ("onnxruntime", "fake") for c in CORES for b in (1, 2)}
    assert set(figures(cells)) == wanted
    for (engine, cores, _), value in figures(cells).items():
        if engine == "fake":
            assert value == pytest.approx(
                SCRIPT[f"cores={cores}" if cores == 2 else "default"]["latency_us"] / 1e3, rel=0.3
            )
    header = done.lines[0].split()
    assert {"engine", "batch", "p50", "items/s", "grade", "outputs"} <= set(header)
    assert max(map(len, done.lines[: len(cells) + 1])) <= 80
    assert len([line for line in done.lines if line.startswith(("fake", "onnxruntime"))]) >= len(cells)
    assert any(line.startswith("Least latency: ") for line in done.lines)
    assert done.lines[-2].startswith("Again: tuibench benchmark sample:tiny")
    assert done.lines[-1] == document["tuibench"]["headline"]
    assert document["benchmark_result"]["mean"] == pytest.approx(cells[0]["pooled"]["mean"])


def test_repeat_command_repeats_the_plan_and_keeps_no_samples(shell: Shell) -> None:
    first = load(shell.fake(SCRIPT, *SYNC, "-b", "1,2", "--json").out)["tuibench"]
    assert {e["samples"]["file"] for cell in first["cells"] for e in cell["executions"]} == {None}
    words = first["again"].split()
    assert words[:2] == ["tuibench", "benchmark"]
    second = load(shell.run(*words[1:], "--json", env={"TUIBENCH_FAKE": json.dumps(SCRIPT)}).out)["tuibench"]
    assert second["spec"] == first["spec"]


@pytest.mark.slow
def test_several_models_are_compared_with_the_first(shell: Shell, folder: Path) -> None:
    names = [make.mlp(hidden).save(folder) for hidden in (16, 17, 18)]
    script = {"model=mlp17": {"latency_us": 1000}}
    flags = ("-s", "sync", "-ncores", "1", "--executions", "3", "-t", "0.15", "--json")
    done = shell.run("benchmark", *names, "-e", "fake", "-w", "0.05", *flags, env={"TUIBENCH_FAKE": json.dumps(script)})
    document = load(done.out)["tuibench"]
    keys = [c["key"] for c in document["cells"]]
    assert [(c["base"], c["new"]) for c in document["comparisons"]] == [(keys[0], keys[1]), (keys[0], keys[2])]
    assert document["comparisons"][0]["ratio"] == pytest.approx(2.0, rel=0.1)
    assert document["comparisons"][1]["ratio"] == pytest.approx(1.0, rel=0.1)
    assert all(c["interleaved"] for c in document["comparisons"])
    drifts = [c["drift"] for c in document["comparisons"]]
    assert [(one["samples"], one["is_generated"], one["reason"]) for one in drifts] == [(8, True, "")] * 2
    assert all(one["max_abs"] > 0 and one["sqnr_db"] < 20 for one in drifts), "the weights are drawn anew"


def test_dry_run_measures_nothing(shell: Shell) -> None:
    done = shell.fake({"default": {"load": "segv"}}, "sample:tiny", "-ncores", NCORES, "-b", "1,2", "--dry-run")
    assert done.code == 0, done.err
    assert len(re.findall(r"\bfake\b", done.out)) >= 4 * len(CORES)
    assert "MB" in done.out and " s" in done.out
    assert not any(line.startswith("Throughput") for line in done.lines)


@pytest.mark.parametrize("flags", [("-x", "-"), pytest.param(("--json",), marks=pytest.mark.slow)])
def test_json_option_prints_only_json_on_stdout(shell: Shell, flags: tuple[str, ...]) -> None:
    assert load(shell.fake(SCRIPT, *SYNC, *flags).out)["tuibench"]["status"] == "finished"


def test_keep_raw_writes_every_sample_beside_the_export(shell: Shell, folder: Path) -> None:
    target = folder / "raw.json"
    done = shell.fake(SCRIPT, *SYNC, "--keep-raw", "-x", str(target))
    assert done.code == 0, done.err
    execution = load(target.read_text(encoding="ascii"))["tuibench"]["cells"][0]["executions"][0]
    file = Path(execution["samples"]["file"])
    assert file.parent == folder / "raw.json.samples"
    kept = read_samples(file)
    assert len(kept) == execution["iterations"] == execution["samples"]["kept"]
    assert sum(kept) / len(kept) == pytest.approx(execution["mean_ns"])


@pytest.mark.slow
def test_max_time_ends_the_command_and_lists_skipped_cells(shell: Shell) -> None:
    # On a machine of any speed the first cell fits into this time and the last one does not.
    flags = ("-e", "fake", "-s", "sync", "-ncores", "1", "-b", "1-40", "--executions", "1", "-t", "0.5", "-w", "0.02")
    done = shell.run("benchmark", "sample:tiny", *flags, "--max-time", "10", "--json", env={"TUIBENCH_FAKE": "{}"})
    cells = load(done.out)["tuibench"]["cells"]
    states = [c["status"] for c in cells]
    assert states.count("ok") >= 1 and states.count("skipped") >= 1
    assert {"--max-time" in c["stopped_by"] for c in cells if c["status"] == "skipped"} == {True}
    assert done.code == 1


@pytest.mark.slow
def test_max_time_ends_a_hanging_load(shell: Shell) -> None:
    script = {"default": {"load": "deaf-hang"}}
    done = shell.fake(script, *SYNC, "--max-time", "6")  # long enough to reach the load
    assert done.code == 5
    assert "--max-time" in done.err
