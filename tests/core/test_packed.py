from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuibench.core.record import pack, unpack

VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.lists(st.integers())


def rows(found: Any) -> list[dict[str, Any]]:
    return [dict(zip(block, row, strict=True)) for block in unpack(found) for row in zip(*block.values(), strict=True)]


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=20), st.integers(1, 300))
def test_packed_rows_come_back_in_order(given_rows: list[tuple[Any, Any]], times: int) -> None:
    many = given_rows * times
    packed = pack(("a", "b"), list(zip(*many, strict=True)))
    assert packed is not None
    assert rows(json.loads(json.dumps(packed))) == [{"a": a, "b": b} for a, b in many]


def test_many_rows_are_packed_in_small_blocks() -> None:
    packed = pack(("n",), [list(range(60_000))])
    assert packed is not None and len(packed["blocks"]) > 20
    assert [row["n"] for row in rows(packed)] == list(range(60_000))


def test_row_too_large_to_read_back_is_not_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tuibench.core.record._MOST_BYTES", 1000)
    assert pack(("a",), [["x" * 1100]]) is None
    packed = pack(("a",), [["x" * 900]])
    assert packed is not None and rows(packed) == [{"a": "x" * 900}]
    monkeypatch.setattr("tuibench.core.record._MOST_BYTES", 500)
    with pytest.raises(ValueError, match="larger than any that is written"):
        rows(packed)


def zipped(value: Any) -> str:
    return base64.b64encode(zlib.compress(json.dumps(value).encode())).decode()


@pytest.mark.parametrize(
    "block",
    [
        "no base64!",
        base64.b64encode(bytes(range(40))).decode(),
        base64.b64encode(base64.b64decode(zipped([[1, 2]]))[:-4]).decode(),
        zipped([[1, 2], [1]]),
        zipped([]),
        zipped([[1, 2], [3, 4]]),
        zipped([[1, 2, 3]]),
    ],
)
def test_invalid_block_is_refused(block: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        rows({"columns": ["a"], "rows": 2, "blocks": [block]})
    assert rows({"columns": ["a"], "rows": 2, "blocks": [zipped([[1, 2]])]}) == [{"a": 1}, {"a": 2}]
