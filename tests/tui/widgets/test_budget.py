from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

MOST = {
    "same rows": 0,
    "same figure": 0,
    "cursor key": 450,
    "page down": 3000,
    "mark": 300,
    "cursor of a figure": 900,
    "focus": 450,
    "focus back": 450,
    "news": 300,
    "question": 600,
    "answer": 600,
}
"""Bytes at 80x24; the whole screen has 1920 characters."""


@pytest.mark.parametrize(
    ("theme", "colours"), [("ansi-dark", "truecolor"), ("textual-dark", "truecolor"), ("textual-dark", "256")]
)
def test_widget_keys_and_updates_send_within_budget(theme: str, colours: str) -> None:
    environ = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLORTERM")}
    environ |= {"TERM": "xterm-256color", "TEXTUAL_COLOR_SYSTEM": colours, "TEXTUAL_ANIMATIONS": "none"}
    command = [sys.executable, "-m", "tests.tui.widgets.budget", theme]
    run = subprocess.run(command, env=environ, capture_output=True, text=True, check=True, timeout=60)
    sent: dict[str, int] = json.loads(run.stdout.splitlines()[-1])
    over = {name: sent[name] for name, most in MOST.items() if sent[name] > most}
    assert not over, f"{theme} {colours}: {sent}"
    assert sent["cursor key"] > 0
    assert sent["page down"] > 500
