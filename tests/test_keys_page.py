"""The keys page is generated from the registry, and its config file statements are true."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tuibench.tui.config import read_config
from tuibench.tui.key import KEYS, spelled

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "keys.md"


def test_keys_page_equals_the_registry() -> None:
    command = [sys.executable, "tools/make_keys.py", "--print"]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert PAGE.read_text(encoding="utf-8") == made, "make docs writes it anew"


def test_every_action_is_listed_once() -> None:
    ids = re.findall(r"\| `([a-z0-9-]+)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert ids == list(KEYS)


@pytest.mark.parametrize("number", [0, 1])
def test_config_file_examples_are_valid(tmp_path: Path, number: int) -> None:
    example = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[number]
    path = tmp_path / "config.toml"
    path.write_text(example)
    config = read_config(path)
    assert config.problems == ()
    found = tomllib.loads(example)
    assert set(config.keys) == set(found.get("keys", {})) and config.given == set(found.get("dashboard", {}))


def test_named_keys_are_keys() -> None:
    text = PAGE.read_text(encoding="utf-8").partition("## Your own keys")[2]
    named = re.findall(r"`((?:ctrl\+|alt\+|shift\+)?[a-z0-9?\[]+)`", text)
    assert len(named) > 20
    assert [each for each in named if not spelled(each) and each not in ("nord", "esc")] == []
