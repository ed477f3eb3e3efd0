from __future__ import annotations

import pytest

from tuibench.core.errors import EngineError, UsageError
from tuibench.engines import registry


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("deepsparse", UsageError, "engine deepsparse is not in this version"),
        ("nope", EngineError, "unknown engine 'nope'"),
        ("\x1b[2J", EngineError, "unknown engine '\\e[2J'"),
    ],
)
def test_a_name_of_a_later_version_is_a_wrong_request_and_any_other_a_missing_engine(
    name: str, kind: type[EngineError | UsageError], said: str
) -> None:
    with pytest.raises(kind) as caught:
        registry.check(name)
    assert caught.value.message == said
    assert caught.value.hint == "engines here: onnxruntime, openvino"


def test_names_of_this_version_pass() -> None:
    for name in registry.names(hidden=True):
        registry.check(name)
