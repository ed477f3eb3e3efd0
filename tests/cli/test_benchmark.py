from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.shell import Shell
from tests.engines.make import mlp
from tuibench.cli import benchmark
from tuibench.cli.interruption import Interruption
from tuibench.cli.request import BenchmarkRequest
from tuibench.core.errors import TuibenchError
from tuibench.workbench import Workbench


@pytest.mark.parametrize(("name", "code"), [("nope", 4), ("deepsparse", 2)])
@pytest.mark.parametrize("dry_run", [False, True])
def test_an_engine_that_is_not_here_is_refused_before_anything_starts(
    name: str, code: int, dry_run: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(*_: object, **__: object) -> None:
        raise AssertionError("a runner was started")

    monkeypatch.setattr(Workbench, "start_benchmark", start)
    with pytest.raises(TuibenchError) as caught:
        benchmark.run(
            BenchmarkRequest(("sample:tiny",), engines=f"onnxruntime,{name}", dry_run=dry_run), Interruption()
        )
    assert caught.value.exit_code == code


@pytest.mark.parametrize(("batches", "code"), [("2", 3), ("1,2", 1), ("1", 0)])
def test_a_dry_run_of_what_must_fail_fails(shell: Shell, folder: Path, batches: str, code: int) -> None:
    flags = ("-s", "sync", "-ncores", "1", "-b", batches, "--dry-run")
    done = shell.run("benchmark", mlp().save(folder), *flags)
    assert done.code == code, done.err
    assert ("failed in making inputs: " in done.out) == (code > 0)
    assert done.lines[1].startswith("1 ") == ("memory: " in done.out) == (code < 3)


def test_a_dry_run_as_json_is_one_object_on_stdout(shell: Shell) -> None:
    done = shell.run("benchmark", "sample:tiny", "-s", "sync", "-ncores", "1", "-b", "1,2", "--dry-run", "--json")
    assert done.code == 0, done.err
    loaded = json.loads(done.out)
    assert (loaded["schema"], len(loaded["cells"]), sorted(loaded["order"])) == (
        1, 2, sorted(cell["key"] for cell in loaded["cells"]),
    )  # fmt: skip
