"""Helpers that start, detach, list and end runs of the scripted engine."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from tests.cli.shell import Done, Shell, until
from tuibench.services.api import Services

FAKE = ("sample:tiny", "-e", "fake", "-s", "sync", "-ncores", "1", "-w", "0.05")
LONG = (*FAKE, "--executions", "300", "-t", "15")
"""Outlasts every test that uses it; the next execution always ends soon."""
BRIEF = (*FAKE, "--executions", "1", "-t", "0.05")
SCRIPT = {"TUIBENCH_FAKE": json.dumps({"default": {"latency_us": 300}})}


def run(shell: Shell, *arguments: str, **options: Any) -> Done:
    return shell.run(*arguments, env=SCRIPT, **options)


def detach(shell: Shell, *arguments: str) -> str:
    done = run(shell, "benchmark", *(arguments or LONG), "--detach")
    assert done.code == 0, done.err
    return done.out.strip()


def start(shell: Shell, *arguments: str) -> subprocess.Popen[bytes]:
    return shell.start("benchmark", *(arguments or LONG), env=SCRIPT)


def runner_of(shell: Shell) -> int:
    (pid,) = until(lambda: shell.pids("tuibench.runner"), "a runner")
    return pid


def state(token: str) -> str:
    return Services().runs.info(token).state


def stored() -> list[str]:
    return [row.id for row in Services().store.benchmarks.rows()]


def end(shell: Shell, short: str) -> None:
    assert run(shell, "cancel", short).code == 0
    until(lambda: not shell.processes(), "no process")
