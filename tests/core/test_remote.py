from __future__ import annotations

import pytest

from tuibench.core.model import is_remote, public_name, remote_scheme


@pytest.mark.parametrize(
    ("token", "remote"),
    [("hf:o/r", True), ("HTTPS://h/m", True), ("http://h/m", False), ("sample:tiny", False), ("m.onnx", False)],
)
def test_remote_token_is_recognized(token: str, remote: bool) -> None:
    assert is_remote(token) is remote


def test_token_without_a_colon_has_no_scheme() -> None:
    assert remote_scheme("hf") == "" and remote_scheme("zoo:x") == "zoo"


@pytest.mark.parametrize(
    ("token", "public"),
    [
        ("hf:o/r/f", "hf:o/r/f"),
        ("https://user:pw@h:1/m.onnx?sig=x#y", "https://h:1/m.onnx?…"),
        ("https://h/m.onnx", "https://h/m.onnx"),
        ("https://[broken", "https:…"),
    ],
)
def test_secrets_are_removed_from_a_public_name(token: str, public: str) -> None:
    assert public_name(token) == public
