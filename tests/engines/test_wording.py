"""The reason in an engine's exception comes first, without the library's prefix."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuibench.engines.error_words import plain_words

SOURCE = "/onnxruntime_src/onnxruntime/core"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : No output.", "No output."),
        (f"failed:{SOURCE}/graph/model.cc:256 onnxruntime::Model::Model(int&&, const Path&) IR 99", "failed:IR 99"),
        (f"x: {SOURCE}/a.h:9 void {{anon}}::f(std::function<void(int)>, (anonymous namespace)::T) const bad", "x: bad"),
        (f"{SOURCE}/a.cc:1 auto n::(anonymous namespace)::f(int) [with T = float] worse", "worse"),
        ("Load model from /a b/c.onnx failed:No graph.", "No graph."),
        (f"{SOURCE}/a.cc:1 no list of arguments", f"{SOURCE}/a.cc:1 no list of arguments"),
        (f"{SOURCE}/a.cc:1 never(closed", f"{SOURCE}/a.cc:1 never(closed"),
        (f"{SOURCE}/a.cc:1 f(int) one {SOURCE}/b.cc:2 g() two", "one two"),
        ("file.onnx:1 f(x) is no source", "file.onnx:1 f(x) is no source"),
    ],
)
def test_source_places_and_signatures_are_removed(said: str, meant: str) -> None:
    assert plain_words(said.replace("{anon}", "n")) == meant


@given(st.text(alphabet="(/a.cc:1 )[]x", max_size=60))
def test_text_of_any_content_is_never_lengthened(text: str) -> None:
    assert len(plain_words(text)) <= len(text)
