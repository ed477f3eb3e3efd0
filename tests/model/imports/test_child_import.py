"""The import task as services call it: foreign bytes in a child process, a result or a refusal back."""

from __future__ import annotations

import os
from pathlib import Path

from tests.present import build
from tests.refusal import refused
from tuibench.core.errors import UsageError
from tuibench.core.reason import Reason
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


def test_refusal_arrives_with_the_name_of_the_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with refused(UsageError, "import_no_file", subject=f"{tmp_path / 'pipe'}:", kind=Reason("kind_pipe")):
        take_in(tmp_path / "pipe")
