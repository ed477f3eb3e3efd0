from __future__ import annotations

import os
from pathlib import Path

from tests.refusal import refused
from tuibench.core.errors import WriteError
from tuibench.services.state_file import keep_copy


def test_last_copy_is_in_a_file_private_to_its_user(tmp_path: Path) -> None:
    state = tmp_path / "state"
    assert keep_copy(state, "first") == keep_copy(state, "tuibench benchmark 'ü.onnx' \udcff")
    path = state / "copied.txt"
    assert path.read_bytes() == "tuibench benchmark 'ü.onnx' \\udcff\n".encode()
    assert (path.stat().st_mode & 0o777, os.listdir(state)) == (0o600, ["copied.txt"])


def test_unwritable_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "state").write_bytes(b"")
    with refused(WriteError, "copy_unwritable"):
        keep_copy(tmp_path / "state", "x")
