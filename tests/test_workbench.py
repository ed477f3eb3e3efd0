from __future__ import annotations

from pathlib import Path

import pytest

from tests.present import build
from tuibench.core.cell import Samples
from tuibench.core.errors import EngineError
from tuibench.runs.result import settle_samples
from tuibench.services.api import Services


def test_engines_are_checked_by_name_alone() -> None:
    Services().machine.check_engines(["onnxruntime", "openvino", "fake"])
    with pytest.raises(EngineError):
        Services().machine.check_engines(["onnxruntime", "nope"])
    with pytest.raises(EngineError):
        Services().machine.check_engines(["deepsparse"])


def test_settled_result_names_no_file_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "x.z").write_bytes(b"samples")
    cell = build.ok_cell(executions=(build.execution(samples=Samples(1, 1, str(tmp_path / "x.z"))),))
    run = build.run(cell)
    for directory, kept in ((None, None), (str(tmp_path / "kept"), str(tmp_path / "kept" / "x.z"))):
        settled = settle_samples(run, tmp_path, directory)
        assert settled.cells[0].executions[0].samples.file == kept


def test_load_of_this_machine_is_read_without_an_engine() -> None:
    words = Services().machine.load_words()
    assert words == "quiet" or words.startswith("busy (")
