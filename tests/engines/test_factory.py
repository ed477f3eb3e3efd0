from __future__ import annotations

import subprocess
import sys

import pytest

from tests.refusal import refused
from tuibench.core import engine
from tuibench.core.errors import EngineError
from tuibench.engines import factory


@pytest.mark.parametrize("name", ["nope", "\x1b[2J"])
def test_unknown_name_is_refused_with_the_names_of_this_version(name: str) -> None:
    with refused(EngineError, "unknown_engine", engine=name, names=list(engine.names())):
        factory.check(name)


def test_names_of_this_version_are_accepted() -> None:
    for name in engine.names(hidden=True):
        factory.check(name)


def test_engines_for_profiles_are_those_with_layer_times() -> None:
    assert engine.timed() == ("onnxruntime", "deepsparse", "executor")
    assert engine.timed(hidden=True) == ("onnxruntime", "fake", "deepsparse", "executor")
    for name in engine.timed(hidden=True):
        factory.check_timed(name)
    with refused(EngineError, "engine_without_layer_times", engine="openvino", names=list(engine.timed())):
        factory.check_timed("openvino")
    with refused(EngineError, "unknown_engine"):
        factory.check_timed("nope")


def test_layer_timing_support_is_known_without_importing_it() -> None:
    code = (
        "import sys; from tuibench.core import engine; from tuibench.engines import factory; engine.timed();"
        "factory.check_timed('onnxruntime');"
        "print([name for name in sys.modules if name.startswith(('tuibench.model', 'numpy', 'onnx'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
