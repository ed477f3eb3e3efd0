from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuibench.model.imports.checks import Refusal
from tuibench.model.imports.task import MOST_DEPTH, load_document

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(-1e18, 1e18) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def load(tmp_path: Path, content: str | bytes) -> Any:
    file = tmp_path / "x.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return load_document(str(file))


def refusal(tmp_path: Path, content: str | bytes) -> str:
    with pytest.raises(Refusal) as caught:
        load(tmp_path, content)
    return caught.value.what


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4), st.booleans())
def test_json_output_is_read_back_equal(tmp_path_factory: pytest.TempPathFactory, value: Any, marked: bool) -> None:
    text = json.dumps(value)
    assert load(tmp_path_factory.mktemp("any"), "\ufeff" * marked + text) == value


@given(st.binary(max_size=60))
def test_any_bytes_are_an_object_or_a_refusal(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    try:
        assert isinstance(load(tmp_path_factory.mktemp("any"), data), dict)
    except Refusal as refused:
        assert refused.what.isprintable()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("", "is empty"),
        (" \n\t ", "is empty"),
        (b"\x89PNG\r\n\x1a\n\xff", "is not text: byte 0 is not UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "is not text: byte 0 is not UTF-8"),
        ('{"a": 1}'.encode("utf-32-be"), "is not text: it holds zero bytes"),
        ("<!DOCTYPE html>\n<html>", "looks like a web page, not like JSON"),
        ("key,model\n1,2\n", "is not JSON: line 1, column 1: expecting value"),
        ('{"a": 1,\n "b": [1, 2', "ends in line 2, as if cut off"),
        ('{"a": 1,\n "b": "te', "is not JSON: line 2, column 7: unterminated string starting at"),
        ('{"a": 1} {"a": 1}', "is not JSON: line 1, column 10: extra data"),
        ("{'a': 1}", "is not JSON: line 1, column 2: expecting property name enclosed in double quotes"),
        ("[1]", "contains no JSON object"),
        ("null", "contains no JSON object"),
        ('{"a": {"b": 1, "b": 2}}', "the key 'b' is twice in one object"),
        ('{"a": [{"b": NaN}]}', "a[0].b is not finite or too large to be a measurement"),
        ('{"a": [1, -Infinity]}', "a[1] is not finite or too large to be a measurement"),
        ('{"a": 1e999}', "a is not finite or too large to be a measurement"),
        ('{"a": ' + "9" * 5000 + "}", "a is not finite or too large to be a measurement"),
        ('{"a": -9223372036854775808}', "a is not finite or too large to be a measurement"),
        ('{"a":' * 2000 + "1" + "}" * 2000, f"is nested deeper than {MOST_DEPTH} levels, which no export is"),
        ("[" * 200_000, f"is nested deeper than {MOST_DEPTH} levels, which no export is"),
        ('{"a":' * 60 + "1" + "}" * 60, f"is nested deeper than {MOST_DEPTH} levels, which no export is"),
    ],
)  # fmt: skip
def test_invalid_export_is_refused_with_its_place(tmp_path: Path, content: str | bytes, what: str) -> None:
    assert refusal(tmp_path, content) == what


def test_valid_json_variants_are_accepted(tmp_path: Path) -> None:
    assert load(tmp_path, '{"a": 9223372036854775807, "b": 1e-400, "c": "\\udcff"}') == {
        "a": 9223372036854775807, "b": 0.0, "c": "\udcff"
    }  # fmt: skip


def test_oversized_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    with file.open("wb") as sparse:
        sparse.truncate(1 << 40)
    with pytest.raises(Refusal, match=r"has more than 64\.0 MB, which no export has"):
        load_document(str(file))
    file.write_text('{"a": 1}')
    assert load_document(str(file), 8) == {"a": 1}
    with pytest.raises(Refusal, match="has more than 7 B"):
        load_document(str(file), 7)


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, what in [
        (tmp_path / "pipe", "is a pipe, not a file"),
        (tmp_path, "is a directory, not a file"),
        (Path("/dev/zero"), "is a device, not a file"),
        (tmp_path / "none", "does not exist"),
        (tmp_path / "a\0b", "cannot be read: embedded null byte"),
        (tmp_path / ("n" * 300), "cannot be read: file name too long"),
    ]:
        with pytest.raises(Refusal) as caught:
            load_document(str(path))
        assert caught.value.what == what
    (tmp_path / "x.json").write_text('{"a": 1}')
    (tmp_path / "link.json").symlink_to("x.json")
    assert load_document(str(tmp_path / "link.json")) == {"a": 1}
