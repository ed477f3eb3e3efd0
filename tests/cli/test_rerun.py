"""rerun and --compare-to: the same settings again, and both results side by side."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import detach, runner_of, state
from tests.cli.shell import SHORT, Done, Shell, until
from tests.conftest import ROOT
from tests.model.factory import encoder, save
from tuibench.cli import runs
from tuibench.cli.terminal import Interruption
from tuibench.core.settings import command as repeat
from tuibench.core.stored import StoredBenchmark
from tuibench.present.headline import result_headline
from tuibench.services.api import Services
from tuibench.services.runs import Runs

FAKE = ("-e", "fake", "-s", "sync", "-ncores", "1")
SCRIPT = {"TUIBENCH_FAKE": json.dumps({"default": {"latency_us": 300}})}

MAKER = bytes([0x12, 4]) + b"else"
"""The producer name, a field that does not change the model's computation."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one stored benchmark, which tests copy, because measuring takes longer than most of them."""
    own = tmp_path_factory.mktemp("measured")
    shell = Shell(tmp_path_factory.mktemp("tmp"), save=True)
    settings = ("--name", "mine", "--note", "of then", "--seed", "7", "--distinct-inputs", "3")
    variables = {"TUIBENCH_HOME": str(own), "PYTHONPATH": str(ROOT)}
    done = shell.run("benchmark", "sample:tiny", *settings, *FAKE, *SHORT, "--json", env={**SCRIPT, **variables})
    assert done.code == 0, done.err
    assert "side_by_side" not in json.loads(done.out)["tuibench"]
    return own / "data"


@pytest.fixture
def first(measured: Path, home: Path) -> StoredBenchmark:
    """The stored benchmark `mine` with seed 7 in the test's home."""
    shutil.copytree(measured, home / "tuibench" / "data", copy_function=shutil.copy2)
    return newest()


def run(shell: Shell, *arguments: str) -> Done:
    return shell.run(*arguments, env=SCRIPT)


def measure(shell: Shell, *arguments: str) -> StoredBenchmark:
    """Measure and store a benchmark with the shortest settings."""
    done = run(shell, "benchmark", *arguments, *FAKE, *SHORT)
    assert done.code == 0, done.err
    return newest()


def newest() -> StoredBenchmark:
    return Services().library.get("last")


def count() -> int:
    return len(Services().library.list())


def own(done: Done) -> Any:
    assert done.code == 0, done.err
    return json.loads(done.out)["tuibench"]


def test_rerun_repeats_the_settings_and_shows_both_results(keeper: Shell, first: StoredBenchmark) -> None:
    short = first.row.id[-4:].lower()
    done = run(keeper, "rerun", "mine")
    assert done.code == 0, done.err
    again = newest()
    assert again.result.spec == first.result.spec and again.row.id != first.row.id
    assert (again.metadata.name, again.metadata.note, again.metadata.rerun_of) == ("mine", "", first.row.id)
    assert again.metadata.project == first.metadata.project is not None
    head, ratio = (next(i for i, line in enumerate(done.lines) if word in line) for word in (f"old {short}", "Ratio: "))
    assert head < ratio < len(done.lines) - 1 and done.lines[-1] == result_headline(again.result)
    assert short in run(keeper, "show", "mine").out, "its name means the newest"


def test_flags_replace_single_settings_and_export_has_both_results(
    keeper: Shell, folder: Path, first: StoredBenchmark
) -> None:
    target = folder / "out.json"
    changes = ("-b", "1,2", "--executions", "2", "--name", "other", "-x", str(target), "--json", "-q")
    beside = own(run(keeper, "rerun", "last", *changes))["side_by_side"]
    assert (beside["old_id"], len(beside["pairs"])) == (first.row.id, 1)
    spec, metadata = newest().result.spec, newest().metadata
    assert (spec.batches, spec.effort.max_executions, spec.inputs.distinct) == ((1, 2), 2, 3)
    assert (metadata.name, metadata.rerun_of) == ("other", first.row.id)
    assert json.loads(target.read_text())["tuibench"]["side_by_side"] == beside
    assert run(keeper, "import", str(target)).out.strip() == newest().row.id[-4:].lower()
    assert "-b 1,2" in repeat.again(newest().result.spec)


@pytest.mark.slow
def test_changed_model_is_measured_only_on_request(keeper: Shell, folder: Path) -> None:
    model = Path(save(encoder(), folder / "net.onnx"))
    first = measure(keeper, os.path.relpath(model))
    moved = folder / "moved.onnx"
    model.rename(moved)
    gone = run(keeper, "rerun", "last")
    assert gone.code == 3 and f"{model}" in gone.err and "--model" in gone.err
    assert own(run(keeper, "rerun", "last", "--model", str(moved), "--json"))["models"][0]["path"] == str(moved)
    assert newest().metadata.project == first.metadata.project
    model.write_bytes(moved.read_bytes() + MAKER)
    changed = run(keeper, "rerun", "last~")
    assert changed.code == 3 and "--changed" in changed.err
    assert count() == 2
    done = run(keeper, "rerun", "last~", "--changed")
    assert done.code == 0, done.err
    assert newest().result.models[0].sha256 != first.result.models[0].sha256
    assert newest().metadata.project == first.metadata.project and "v2" in done.err
    assert run(keeper, "rerun", "last", "--model", str(folder / "nowhere.onnx")).code == 3
    pruned = folder / "pruned.onnx"
    pruned.write_bytes(moved.read_bytes() + MAKER + MAKER)
    done = run(keeper, "rerun", "last", "--changed", "--model", str(pruned))
    assert done.code == 0 and newest().metadata.project == first.metadata.project and "v3" in done.err, done.err


def test_compare_to_is_resolved_before_measuring(keeper: Shell, first: StoredBenchmark) -> None:
    with_it = ("benchmark", "sample:tiny", *FAKE, *SHORT, "--compare-to")
    done = run(keeper, *with_it, "zzzz")
    assert done.code == 2 and "zzzz" in done.err and count() == 1
    refused = run(keeper, *with_it, "mine", "--detach")
    assert refused.code == 2 and "--compare-to" in refused.err and count() == 1
    done = run(keeper, *with_it, "mine")
    assert done.code == 0 and any(f"old {first.row.id[-4:].lower()}" in line for line in done.lines)
    assert newest().metadata.rerun_of is None and count() == 2


def test_detached_rerun_is_compared_by_the_attached_client(keeper: Shell, home: Path, first: StoredBenchmark) -> None:
    done = run(keeper, "rerun", "last", "--detach")
    assert done.code == 0, done.err
    attached = run(keeper, "attach", done.out.strip())
    assert attached.code == 0, attached.err
    until(lambda: not keeper.processes(), "no process")
    again = newest()
    assert again.metadata.rerun_of == first.row.id
    assert any(f"old {first.row.id[-4:].lower()}" in line for line in attached.lines) and "Ratio: " in attached.out
    assert attached.lines[-1] == result_headline(again.result)
    (home / "tuibench" / "data" / "salt").write_text("x")
    noticed = run(keeper, "attach", done.out.strip())
    assert noticed.out == attached.out and noticed.err.count("salt of the store is damaged") == 1


def test_active_run_is_cancelled_and_removed(keeper: Shell) -> None:
    short = detach(keeper)
    keeper.wait_for("execution_done")
    asked = run(keeper, "remove", short)
    assert asked.code == 2 and state(short) == "running"
    done = run(keeper, "remove", short, "-y")
    assert done.code == 0 and f"cancelled {short}" in done.err and f"removed {short}" in done.err
    until(lambda: not keeper.processes(), "no process")
    assert count() == 0
    assert run(keeper, "undo").code == 0 and newest().row.status == "cancelled"


def test_unsaved_result_can_be_exported(
    keeper: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    short = detach(keeper)
    refused = run(keeper, "export", short, "-x", "-")
    assert refused.code == 2 and short in refused.err
    keeper.wait_for("execution_done")
    os.kill(runner_of(keeper), signal.SIGKILL)
    until(lambda: not keeper.processes(), "no process")
    shown = run(keeper, "show", short).err
    assert "interrupted" in shown
    assert f"tuibench resume {short}" in shown
    namespace = argparse.Namespace(id=short, first="0", json=False, quiet=False, ascii=False)
    for resumable in (True, False):
        found = replace(Services().runs.info(short), resumable=resumable)
        with monkeypatch.context() as patched:
            patched.setattr(Runs, "info", lambda *_, found=found: found)
            assert runs.attach(namespace, Services(), Interruption()) == 1
        said = capsys.readouterr().err
        assert "interrupted: " in said
        assert (f"tuibench resume {short}" in said) == resumable
    target = folder / "out.json"
    assert run(keeper, "export", short, "-x", str(target)).code == 0
    written = json.loads(target.read_text())["tuibench"]
    assert written["status"] == "interrupted" and written["cells"][0]["executions"]
    unasked = run(keeper, "remove", short)
    assert unasked.code == 2 and "-y" in unasked.err and state(short) == "interrupted"
    kept = len(written["cells"][0]["executions"])
    gone = run(keeper, "remove", short, "-y")
    assert gone.code == 0 and f"deleted {short} permanently: {kept} execution" in gone.err and "undo" not in gone.err
    assert not os.listdir(keeper.run_root) and count() == 0
    assert run(keeper, "import", str(target)).out.strip() == short


@pytest.mark.slow
def test_rerun_without_its_project_uses_the_project_of_its_model(keeper: Shell) -> None:
    first = measure(keeper, "sample:tiny")
    run(keeper, "project", "new", "sample:tiny", "--name", "other")
    assert run(keeper, "edit", "last", "--project", "other").code == 0
    Services().store.trash.remove([], [newest().metadata.project or ""])
    assert run(keeper, "rerun", "last").code == 0
    assert newest().metadata.project == first.metadata.project
