"""Read small models once per session, and hide the load of this machine."""

from __future__ import annotations

import pytest

from tuibench.services.machine import MachineFacts


@pytest.fixture(autouse=True)
def unknown_load(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the load that other processes cause on this machine."""
    monkeypatch.setattr(MachineFacts, "load_words", lambda facts: "")


@pytest.fixture(autouse=True)
def ask_once(shared_answers: None) -> None:
    """Read a small model in a child process once per session."""
