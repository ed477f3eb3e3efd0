from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from tuibench.core.errors import name_kind
from tuibench.present.reason import reason_words


def test_every_file_kind_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        # A relative path, because the path of a socket may not be long.
        monkeypatch.chdir(tmp_path)
        listener.bind("socket")
        words = {str(p): reason_words(name_kind(os.stat(p).st_mode)) for p in (".", "pipe", "/dev/null", "socket")}
    assert words == {".": "a directory", "pipe": "a pipe", "/dev/null": "a device", "socket": "a socket"}
    assert reason_words(name_kind(0o100644)) == "a special file"
