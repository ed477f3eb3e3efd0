"""Stream processes are isolated from their working directory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.refusal import refused
from tuibench.core.cell import Asked
from tuibench.core.errors import TuibenchError
from tuibench.worker.stream_process import ProcessStreams, StreamJob


def make_job(tmp_path: Path) -> StreamJob:
    asked = Asked("no engine", "0" * 64, "1", "async", 1, 1, {}, 1, "core", "fp32", {})
    return StreamJob(
        asked=asked,
        model_path=str(tmp_path / "x.onnx"),
        bundle=str(tmp_path / "bundle"),
        cpus=tuple(sorted(os.sched_getaffinity(0)))[:1],
        threads=1,
        io="host",
        work_dir=str(tmp_path),
        stamps_path=str(tmp_path / "stamps"),
        parent=os.getpid(),
        memory_room_bytes=None,
        memory_limit_bytes=None,
        weight_types=(),
    )


def test_module_in_the_working_directory_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = tmp_path / "planted"
    (tmp_path / "dataclasses.py").write_text(f"open({str(mark)!r}, 'w').close()\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with refused(TuibenchError, "unknown_engine", engine="no engine"):
        ProcessStreams([make_job(tmp_path)], lambda: None)
    assert not mark.exists()
