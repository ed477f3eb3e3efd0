from __future__ import annotations

import pytest

from tuibench.core.errors import EngineError, UsageError
from tuibench.workbench import Workbench


def test_engines_are_checked_by_name_alone() -> None:
    Workbench().check_engines(["onnxruntime", "openvino", "fake"])
    with pytest.raises(EngineError):
        Workbench().check_engines(["onnxruntime", "nope"])
    with pytest.raises(UsageError):
        Workbench().check_engines(["deepsparse"])
