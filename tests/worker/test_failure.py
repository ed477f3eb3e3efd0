"""Every error of a worker becomes a failure with its kind and its reason."""

from __future__ import annotations

import pytest

from tuibench.core.errors import ModelError
from tuibench.core.reason import Failure, Reason, because, error_text
from tuibench.core.record import from_plain, to_plain
from tuibench.engines.protocol import BadSetting, EngineRefusal, IoUnavailable
from tuibench.worker.main import MissingEngine, describe

PASSED_ON = because("output_is_input", name="y")


@pytest.mark.parametrize(
    ("error", "kind", "reason"),
    [
        (
            MissingEngine("engine_not_installed", engine="openvino", text="No module", command="pip install x"),
            "engine",
            because("engine_not_installed", engine="openvino", text="No module", command="pip install x"),
        ),
        (BadSetting("engine_always_optimizes", engine="e"), "setting", because("engine_always_optimizes", engine="e")),
        (EngineRefusal("input_not_given", name="x"), "refused", because("input_not_given", name="x")),
        (EngineRefusal.from_reason(error_text("no kernel")), "refused", error_text("no kernel")),
        (IoUnavailable("output_is_input", name="y"), "refused", because("io_unavailable", why=PASSED_ON)),
        (MemoryError("9 bytes"), "memory", because("out_of_memory", text="9 bytes")),
        (MemoryError(), "memory", because("out_of_memory", text="MemoryError")),
        (RuntimeError("std::bad_alloc"), "memory", because("out_of_memory", text="std::bad_alloc")),
        (RuntimeError("[ONNXRuntimeError] : 1 : FAIL : odd"), "exception", error_text("odd")),
        (ValueError("odd"), "exception", error_text("ValueError: odd")),
        (KeyError(), "exception", error_text("KeyError: KeyError")),
        (ModelError("model_empty", path="m"), "exception", because("model_empty", path="m")),
    ],
)
def test_error_becomes_a_failure_with_its_kind(error: Exception, kind: str, reason: Reason) -> None:
    found = describe(error, "load")
    assert found == Failure(kind, "load", reason)
    assert from_plain(Failure, to_plain(found)) == found


def test_long_message_of_an_engine_is_cut() -> None:
    found = describe(RuntimeError("x" * 5000), "load").message
    assert found is not None and len(found.fields["text"]) == 2000
