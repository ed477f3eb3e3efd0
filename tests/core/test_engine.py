"""Spelling of engines' ids."""

from __future__ import annotations

import pytest

from tuibench.core.engine import REGISTRY, complete_id, spell_id


@pytest.mark.parametrize(
    ("typed", "spelled"),
    [
        ("onnxruntime", "onnxruntime"), (" openvino==2024.6.0 ", "openvino@2024.6.0"), ("ort", "onnxruntime"),
        ("ort@1.27.0", "onnxruntime@1.27.0"), ("ds", "deepsparse"), ("ov==2024.6.0", "openvino@2024.6.0"),
        ("onnxruntime@", "onnxruntime@"), ("onnxruntime==1.27", "onnxruntime@1.27.0"),
        ("nothing@1.0", "nothing@1.0"), ("", ""),
    ],
)  # fmt: skip
def test_ids_are_stored_in_one_spelling(typed: str, spelled: str) -> None:
    assert spell_id(typed) == spelled


def test_release_alone_is_one_of_the_engine_beside_it() -> None:
    assert complete_id("1.27.0", "onnxruntime") == "onnxruntime@1.27.0"
    assert complete_id("ov@2024.6.0", "onnxruntime") == "openvino@2024.6.0"
    assert complete_id("1.27.0", "") == "1.27.0"


def test_purposes_fit_one_line_of_a_small_screen() -> None:
    for one in REGISTRY.values():
        assert one.hidden or 0 < len(f"{one.name}: {one.purpose}") <= 78
