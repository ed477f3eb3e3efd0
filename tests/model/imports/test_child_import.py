"""The import task as services call it: foreign bytes in a child process, a result or a refusal back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.present import build
from tuibench.core.errors import UsageError
from tuibench.core.record import from_plain
from tuibench.core.result import RunResult
from tuibench.present.json_export import dumps
from tuibench.runs.task import StopSwitch, call_child


def take_in(path: Path) -> RunResult:
    return from_plain(RunResult, call_child("import", {"path": str(path)}, timeout_s=60, stop=StopSwitch()))


def test_result_crosses_the_process_boundary_unchanged(tmp_path: Path) -> None:
    result = build.run(build.ok_cell(executions=()), build.failed_cell({"dims": {build.HOSTILE: 2}}))
    (tmp_path / "x.json").write_text(dumps(result))
    assert dumps(take_in(tmp_path / "x.json")) == dumps(result)


def test_refusal_arrives_with_its_hint(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError) as caught:
        take_in(tmp_path / "pipe")
    assert caught.value.message.startswith(str(tmp_path / "pipe"))
    assert "JSON" in caught.value.hint
