from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import NetworkUsed
from tests.model.download.server import Fetcher, Loopback, serve


@pytest.fixture
def loopback(tmp_path: Path) -> Iterator[Loopback]:
    with serve(tmp_path) as running:
        yield running


@pytest.fixture
def fetch(loopback: Loopback, tmp_path: Path) -> Fetcher:
    return Fetcher(loopback, tmp_path / "cache")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process connect to servers on this machine only."""
    look_up = socket.getaddrinfo

    def look_up_here(host: object, *more: Any, **named: Any) -> Any:
        if host not in ("localhost", "127.0.0.1"):
            raise NetworkUsed(f"look-up of {host!r}")
        return look_up("127.0.0.1", *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", look_up_here)
