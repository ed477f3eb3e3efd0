from __future__ import annotations

import argparse
from types import SimpleNamespace

import pytest

from tests.present.test_run_list import info
from tuibench.cli import runs
from tuibench.cli.terminal import Interruption
from tuibench.core.activity import RunInfo


def told(asked: RunInfo, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the command's output for a run in that state after the request."""

    services = SimpleNamespace(runs=SimpleNamespace(finish=lambda token: asked))
    runs.finish(argparse.Namespace(id="k3f9"), services, Interruption())  # type: ignore[arg-type]
    return capsys.readouterr().out


def test_finish_message_names_the_remaining_work_per_kind(capsys: pytest.CaptureFixture[str]) -> None:
    said = [told(info(kind=kind), capsys) for kind in ("", "performance")]
    assert all(line.startswith("k3f9: ") for line in said)
    assert ["7 executions" in line for line in said] == [True, False]
