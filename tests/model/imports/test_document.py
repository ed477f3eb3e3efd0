from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.refusal import refused, require_shown
from tuibench.core.reason import Reason, because
from tuibench.model.imports.checks import InvalidImport
from tuibench.model.imports.task import MOST_DEPTH, load_document
from tuibench.present.reason import reason_words

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(-1e18, 1e18) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def load(tmp_path: Path, content: str | bytes) -> Any:
    file = tmp_path / "x.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return load_document(str(file))


def refusal(tmp_path: Path, content: str | bytes) -> Reason:
    with pytest.raises(InvalidImport) as caught:
        load(tmp_path, content)
    return require_shown(caught.value.reason)


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4), st.booleans())
def test_json_output_is_read_back_equal(tmp_path_factory: pytest.TempPathFactory, value: Any, marked: bool) -> None:
    text = json.dumps(value)
    assert load(tmp_path_factory.mktemp("any"), "\ufeff" * marked + text) == value


@given(st.binary(max_size=60))
def test_any_bytes_are_an_object_or_a_refusal(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    try:
        assert isinstance(load(tmp_path_factory.mktemp("any"), data), dict)
    except InvalidImport as error:
        assert reason_words(error.reason).isprintable()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("", Reason("import_empty")),
        (" \n\t ", Reason("import_empty")),
        (b"\x89PNG\r\n\x1a\n\xff", because("import_not_utf8", byte=0)),
        ('{"a": 1}'.encode("utf-16"), because("import_not_utf8", byte=0)),
        ('{"a": 1}'.encode("utf-32-be"), Reason("import_with_nul_bytes")),
        ("<!DOCTYPE html>\n<html>", Reason("import_web_page")),
        ("key,model\n1,2\n", because("import_no_json", line=1, column=1, text="Expecting value")),
        ('{"a": 1,\n "b": [1, 2', because("import_cut_off", line=2)),
        ('{"a": 1,\n "b": "te', because("import_no_json", line=2, column=7, text="Unterminated string starting at")),
        ('{"a": 1} {"a": 1}', because("import_no_json", line=1, column=10, text="Extra data")),
        (
            "{'a': 1}",
            because("import_no_json", line=1, column=2, text="Expecting property name enclosed in double quotes"),
        ),
        ("[1]", Reason("import_without_object")),
        ("null", Reason("import_without_object")),
        ('{"a": {"b": 1, "b": 2}}', because("json_key_repeated", name="b")),
        ('{"a": [{"b": NaN}]}', because("number_not_finite", place="a[0].b")),
        ('{"a": [1, -Infinity]}', because("number_not_finite", place="a[1]")),
        ('{"a": 1e999}', because("number_not_finite", place="a")),
        ('{"a": ' + "9" * 5000 + "}", because("number_not_finite", place="a")),
        ('{"a": -9223372036854775808}', because("number_not_finite", place="a")),
        ('{"a":' * 2000 + "1" + "}" * 2000, because("import_too_deep", levels=MOST_DEPTH)),
        ("[" * 200_000, because("import_too_deep", levels=MOST_DEPTH)),
        ('{"a":' * 60 + "1" + "}" * 60, because("import_too_deep", levels=MOST_DEPTH)),
    ],
)
def test_invalid_export_is_refused_with_its_place(tmp_path: Path, content: str | bytes, what: Reason) -> None:
    assert refusal(tmp_path, content) == what


def test_valid_json_variants_are_accepted(tmp_path: Path) -> None:
    assert load(tmp_path, '{"a": 9223372036854775807, "b": 1e-400, "c": "\\udcff"}') == {
        "a": 9223372036854775807, "b": 0.0, "c": "\udcff"
    }  # fmt: skip


def test_oversized_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    with file.open("wb") as sparse:
        sparse.truncate(1 << 40)
    with refused(InvalidImport, "import_too_large", bytes=64_000_000):
        load_document(str(file))
    file.write_text('{"a": 1}')
    assert load_document(str(file), 8) == {"a": 1}
    with refused(InvalidImport, "import_too_large", bytes=7):
        load_document(str(file), 7)


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, what in [
        (tmp_path / "pipe", because("import_no_file", kind=Reason("kind_pipe"))),
        (tmp_path, because("import_no_file", kind=Reason("kind_directory"))),
        (Path("/dev/zero"), because("import_no_file", kind=Reason("kind_device"))),
        (tmp_path / "none", Reason("import_missing")),
        (tmp_path / "a\0b", because("import_unreadable", text="embedded null byte")),
        (tmp_path / ("n" * 300), because("import_unreadable", text="File name too long")),
    ]:
        with pytest.raises(InvalidImport) as caught:
            load_document(str(path))
        assert caught.value.reason == what
    (tmp_path / "x.json").write_text('{"a": 1}')
    (tmp_path / "link.json").symlink_to("x.json")
    assert load_document(str(tmp_path / "link.json")) == {"a": 1}
