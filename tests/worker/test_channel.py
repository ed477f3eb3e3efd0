"""Frames arrive whole, however the pipe splits them."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuibench.worker.job import Assembler, encode, receive, send

MESSAGES = st.lists(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=20), max_size=3), max_size=5)


@given(MESSAGES, st.integers(1, 17))
def test_frames_survive_being_cut_anywhere(messages: list[dict[str, Any]], size: int) -> None:
    data = b"".join(map(encode, messages))
    assembler = Assembler()
    found = [f for i in range(0, len(data), size) for f in assembler.feed(data[i : i + size])]
    assert found == messages


def test_frame_passes_a_pipe_and_the_end_of_file_is_an_error() -> None:
    read, write = os.pipe()
    send(write, {"a": "ü" * 1000})
    os.close(write)
    assert receive(read) == {"a": "ü" * 1000}
    with pytest.raises(EOFError):
        receive(read)
    os.close(read)


def test_invalid_frame_is_refused_before_memory_is_allocated() -> None:
    with pytest.raises(ValueError, match="no valid frame"):
        Assembler().feed(b"\xff\xff\xff\xff{}")
