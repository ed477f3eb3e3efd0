from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cli.shell import Shell
from tests.engines.make import mlp
from tuibench.cli import benchmark
from tuibench.cli.terminal import Interruption
from tuibench.core.errors import TuibenchError
from tuibench.core.settings.request import BenchmarkRequest
from tuibench.services.runs import Runs


@pytest.mark.parametrize(("name", "code"), [("nope", 4), ("deepsparse", 4)])
@pytest.mark.parametrize("dry_run", [False, True])
def test_missing_engine_is_refused_before_anything_starts(
    name: str, code: int, dry_run: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(*_: object, **__: object) -> None:
        raise AssertionError("a runner was started")

    monkeypatch.setattr(Runs, "start", start)
    with pytest.raises(TuibenchError) as caught:
        benchmark.run(
            BenchmarkRequest(("sample:tiny",), engines=f"onnxruntime,{name}", dry_run=dry_run), Interruption()
        )
    assert caught.value.exit_code == code


@pytest.mark.parametrize(("batches", "code"), [("2", 3), ("1,2", 1), ("1", 0)])
def test_dry_run_of_impossible_benchmark_fails(shell: Shell, folder: Path, batches: str, code: int) -> None:
    flags = ("-s", "sync", "-ncores", "1", "-b", batches, "--dry-run")
    done = shell.run("benchmark", mlp().save(folder), *flags)
    assert done.code == code, done.err
    assert ("failed" in done.out) == (code > 0)
    assert done.lines[1].startswith("1 ") == ("memory: " in done.out) == (code < 3)


def test_dry_run_as_json_is_one_object_on_stdout(shell: Shell) -> None:
    done = shell.run("benchmark", "sample:tiny", "-s", "sync", "-ncores", "1", "-b", "1,2", "--dry-run", "--json")
    assert done.code == 0, done.err
    loaded = json.loads(done.out)
    assert (loaded["schema"], len(loaded["cells"]), sorted(loaded["order"])) == (
        1, 2, sorted(cell["key"] for cell in loaded["cells"]),
    )  # fmt: skip


@pytest.mark.parametrize("victim", ["model", "inputs", "link"])
def test_result_never_overwrites_its_input_files(shell: Shell, folder: Path, victim: str) -> None:
    model = Path(mlp().save(folder))
    inputs = folder / "ok.npz"
    np.savez(inputs, x=np.zeros((1, 4), dtype=np.float32))
    link = folder / "link.json"
    link.symlink_to(model)
    before = (model.read_bytes(), inputs.read_bytes())
    target = {"model": model, "inputs": inputs, "link": link}[victim]
    done = shell.run("benchmark", str(model), "--inputs", str(inputs), "-x", str(target))
    assert done.code == 2
    assert "overwrite" in done.err
    assert (model.read_bytes(), inputs.read_bytes()) == before


def test_reader_that_leaves_during_long_output_is_detected() -> None:
    script = "from tuibench.cli.output import emit; emit('x' * 1_000_000)"
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert b"BrokenPipeError" in process.stderr.read()
    process.stderr.close()
    assert process.wait() == 1
