from __future__ import annotations

import argparse
from types import SimpleNamespace

import pytest

from tests.cli.test_arguments import info as help_of
from tests.present.test_run_list import info
from tuibench.cli import control
from tuibench.cli.terminal import Interruption
from tuibench.core.activity import RunInfo


def told(asked: RunInfo, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the command's output for a run in that state after the request."""

    services = SimpleNamespace(runs=SimpleNamespace(finish=lambda token: asked))
    control.finish(argparse.Namespace(id="k3f9"), services, Interruption())  # type: ignore[arg-type]
    return capsys.readouterr().out


def test_finish_message_names_the_remaining_work_per_kind(capsys: pytest.CaptureFixture[str]) -> None:
    said = [told(info(kind=kind), capsys) for kind in ("", "performance")]
    assert said == [
        "k3f9: the execution that goes on is the last; 7 executions so far\n",
        "k3f9: it ends as soon as it has something to show; 7 measurements so far\n",
    ]


def test_help_explains_how_a_profile_finishes() -> None:
    text = " ".join(help_of("help", "finish").split())
    assert "A profile ends as soon as it has something to show." in text
