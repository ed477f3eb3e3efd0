"""`tuibench attach` on scripted runs: CPU facts come from the run's record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.quick import QuickShell
from tests.services.script import ScriptedRun


@pytest.mark.parametrize(
    ("host", "where"),
    [({"affinity": {"cpus": "64-67", "usable_cores": 4}}, "CPU 64-67"), ({}, "the CPUs of its process")],
)
def test_attached_run_shows_the_cpus_of_its_runner(
    quick: QuickShell, home: Path, host: dict[str, Any], where: str
) -> None:
    run = ScriptedRun(home / "tuibench" / "state" / "runs")
    run.hold()
    run.begin(host=host, host_id="")
    run.plan()
    run.done(0, 1)
    run.end(saved=False)
    done = quick.call("attach", run.id)
    assert f"{where}," in done.err
