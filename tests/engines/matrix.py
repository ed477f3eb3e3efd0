"""Expected outcome of each model in each engine: a file of rows, proved by runs of `tuibench benchmark`."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT
from tuibench.core.cell import CellResult
from tuibench.core.engine import is_apart
from tuibench.core.stored import StoredBenchmark
from tuibench.engines.installation import find_installation
from tuibench.present.reason import reason_words
from tuibench.services.api import Services
from tuibench.services.settings import read_settings

ENGINES = ("onnxruntime", "openvino", "deepsparse", "executor", "onnxruntime@1.20.1")
"""The columns; rows of an engine that is not installed are skipped."""
SHORT = ("-s", "sync", "-ncores", "1", "--executions", "1", "-t", "0.05", "-w", "0.05")
"""One short execution of each cell; all engines pass the same single input, so none is measured twice."""
SAME = ("--io", "call", "--distinct-inputs", "1")
FAILURES = {"refused": "refused", "setting": "refused", "inputs": "refused", "model": "refused"}
FAILURES |= {"signal": "died", "exit": "died"}
"""Outcome of a kind of failure; of any other kind it is `failed`: the worker was ended, or an engine raised."""

Rows = dict[tuple[str, str], str]
"""The outcome of each model and engine."""


@dataclass(frozen=True)
class Outcome:
    """What one engine did with a model."""

    text: str
    """`agrees`, `differs`, `unchecked`; or `refused`, `failed` or `died` with the code of the reason or the signal."""
    words: str = ""
    """The reason as the user reads it."""


@dataclass(frozen=True)
class Trial:
    """One run of a model in several engines."""

    outcomes: dict[str, Outcome]
    """By engine."""
    faults: tuple[str, ...]
    """What no run may do: print a traceback, change the model's file, or leave a file beside it."""


def read_rows(path: Path) -> Rows:
    """Return the rows of a matrix file: model, engine and outcome, separated by blanks."""
    lines = path.read_text(encoding="utf-8").splitlines()
    cut = [line.split(maxsplit=2) for line in lines if line.strip() and not line.startswith("#")]
    rows = {(model, engine): " ".join(outcome.split()) for model, engine, outcome in cut}
    assert len(rows) == len(cut), f"{path.name} has two rows for one model and engine"
    return rows


def update_rows(path: Path, found: Mapping[tuple[str, str], str], models: Sequence[str]) -> None:
    """Replace rows below the comment that the file begins with; blocks of models are in this order."""
    head = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    rows = {**read_rows(path), **found}
    kept = [(model, engine) for model in models for engine in ENGINES if (model, engine) in rows]
    widths = [max(len(key[at]) for key in kept) for at in (0, 1)]
    lines, before = list(head), ""
    for model, engine in kept:
        lines += [""] if model != before else []
        lines.append(f"{model:{widths[0]}}  {engine:{widths[1]}}  {rows[model, engine]}")
        before = model
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def installed(root: str) -> tuple[str, ...]:
    """Return the engines of the columns that can run here, those with an interpreter of their own below `root`."""
    return tuple(one for one in ENGINES if not is_apart(one) or (root and find_installation(Path(root), one)))


def try_model(path: Path, engines: Sequence[str], root: str, home: Path, seconds: float = 240) -> Trial:
    """Run a model once in each of the engines, with a store of its own in `home`."""
    environment = _environment(root, home)
    before, neighbours = _checksum(path), sorted(os.listdir(path.parent))
    command = [sys.executable, "-P", "-m", "tuibench", "benchmark", str(path), "-e", ",".join(engines), *SHORT, *SAME]
    done = subprocess.run(
        [*command, "-q", "--json"], env=environment, capture_output=True, text=True, timeout=seconds, check=False
    )
    faults = ["the model's file changed"] if _checksum(path) != before else []
    faults += [f"left {name}" for name in sorted(os.listdir(path.parent)) if name not in neighbours]
    if not done.stdout.strip():
        words = (done.stderr.strip().splitlines() or ["no message"])[0]
        return Trial(
            dict.fromkeys(engines, Outcome(f"refused exit {done.returncode}", words)), (*faults, *_tracebacks(done))
        )
    record = json.loads(done.stdout)["tuibench"]["id"]
    outcomes = {cell.asked.engine: _outcome(cell) for cell in _stored(environment, record).result.cells}
    return Trial(outcomes, (*faults, *_tracebacks(done)))


def differences(expected: Mapping[str, str], found: Mapping[str, Outcome]) -> list[str]:
    """Return a line for each engine whose outcome is not the expected one, or that has none."""
    pairs = [(engine, wanted, found.get(engine, Outcome("no cell"))) for engine, wanted in expected.items()]
    return [
        f"{engine}: {wanted!r}, not {one.text!r} ({one.words})" for engine, wanted, one in pairs if wanted != one.text
    ]


def _environment(root: str, home: Path) -> dict[str, str]:
    data = home / "data"
    data.mkdir(parents=True, exist_ok=True)
    if root and not (data / "engines").is_symlink():
        (data / "engines").symlink_to(root)
    # Its own lock, because a benchmark of another user would make it wait.
    lock = f"tuibench-matrix-{secrets.token_hex(4)}"
    return {**os.environ, "TUIBENCH_HOME": str(home), "TUIBENCH_HOST_LOCK": lock, "PYTHONPATH": str(ROOT)}


def _stored(environment: dict[str, str], record: str) -> StoredBenchmark:
    services = Services(read_settings(environment))
    try:
        return services.library.get(record)
    finally:
        services.close()


def _outcome(cell: CellResult) -> Outcome:
    if cell.failure is not None:
        reason, failure = cell.failure.message, cell.failure
        code = failure.signal or (reason.code if reason is not None else failure.kind)
        words = reason_words(failure.as_reason())
        return Outcome(f"{FAILURES.get(failure.kind, 'failed')} {code}", words)
    if cell.check is None:
        return Outcome(cell.status)
    if cell.check.state == "agrees":
        return Outcome("agrees")
    words = reason_words(cell.check.reason) if cell.check.reason is not None else ""
    return Outcome(cell.check.state, f"{words} difference {cell.check.difference}, tolerance {cell.check.tolerance}")


def _tracebacks(done: subprocess.CompletedProcess[str]) -> list[str]:
    return ["printed a traceback"] if "Traceback (most recent" in done.stdout + done.stderr else []


def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
