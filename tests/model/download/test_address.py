from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuibench.core.errors import UsageError
from tuibench.core.text import show
from tuibench.model.download.file import parse_address, safe_name
from tuibench.present.reason import reason_words


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/a/model.onnx", "model.onnx"),
        ("/a/Model.ONNX", "Model.onnx"),
        ("/m.ort", "m.ort"),
        ("/a/..%2f..%2fetc%2fpasswd", "etc_passwd.onnx"),
        ("/%2e%2e/%2e%2e", "model.onnx"),
        ("/", "model.onnx"),
        ("", "model.onnx"),
        ("/.onnx", "onnx.onnx"),
        ("/.bashrc", "bashrc.onnx"),
        ("/-rf.onnx", "rf.onnx"),
        ("/a%00b%0a%1b[31m.onnx", "a_b_31m.onnx"),
        ("/r%C3%A9seau.onnx", "r_seau.onnx"),
        ("/download?file=x.onnx", "download.onnx"),
        ("/" + "x" * 300 + ".onnx", "x" * 100 + ".onnx"),
        ("/m.onnx.part", "m.onnx.part.onnx"),
    ],
)
def test_file_name_of_an_address_is_safe(path: str, name: str) -> None:
    assert parse_address(f"https://h{path}").file_name == name


@given(st.text())
def test_safe_name_never_leaves_its_directory(name: str) -> None:
    safe = safe_name(name)
    assert os.path.basename(safe) == safe and safe.isascii() and safe.isprintable()
    assert safe[0] not in ".-" and safe.endswith((".onnx", ".ort")) and len(safe) <= 110


@given(st.text())
def test_any_text_is_an_address_or_refused(text: str) -> None:
    for address in (text, f"https://{text}", f"https://host/{text}"):
        try:
            found = parse_address(address)
        except UsageError as error:
            message = reason_words(error.reason)
            assert show(message, 10_000) == message
        else:
            assert found.url.startswith("https://") and found.url.isascii() and " " not in found.url


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("HTTPS://Example.COM:8443/a b/ü.onnx?x=1#part", "https://example.com:8443/a%20b/%C3%BC.onnx?x=1"),
        ("https://u:p@h/m%20m", "https://h/m%20m"),
        ("https://[::1]:5/m", "https://[::1]:5/m"),
        ("https://bücher.example/m", "https://xn--bcher-kva.example/m"),
    ],
)
def test_address_is_requested_in_ascii(text: str, url: str) -> None:
    assert parse_address(text).url == url


@pytest.mark.parametrize(
    "text",
    ["https://", "https:///m", "https://h:x/", "https://h:99999/", "https://a\nb/", "https://h/\r\nX: y", "http://h/"],
)
def test_text_that_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_address(text)


def test_cache_key_ignores_credentials_and_fragment() -> None:
    assert parse_address("https://h/m").key == parse_address("https://u:p@h/m#x").key
    assert parse_address("https://h/m?1").key != parse_address("https://h/m?2").key
