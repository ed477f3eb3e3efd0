"""The page about keys is made from the registry; what it says of the config file holds."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tuibench.tui.config import read_config
from tuibench.tui.key import KEYS
from tuibench.tui.key_name import spelled

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "keys.md"


def test_the_page_is_what_the_registry_says() -> None:
    command = [sys.executable, "tools/make_keys.py", "--print"]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert PAGE.read_text(encoding="utf-8") == made, "make docs writes it anew"


def test_every_action_stands_there_once() -> None:
    ids = re.findall(r"\| `([a-z0-9-]+)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert ids == list(KEYS)


@pytest.mark.parametrize("number", [0, 1])
def test_its_examples_of_the_config_file_are_right(tmp_path: Path, number: int) -> None:
    example = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[number]
    path = tmp_path / "config.toml"
    path.write_text(example)
    config = read_config(path)
    assert config.problems == ()
    found = tomllib.loads(example)
    assert set(config.keys) == set(found.get("keys", {})) and config.given == set(found.get("dashboard", {}))


def test_the_keys_that_it_names_are_keys() -> None:
    text = PAGE.read_text(encoding="utf-8").partition("## Keys of your own")[2]
    named = re.findall(r"`((?:ctrl\+|alt\+|shift\+)?[a-z0-9?\[]+)`", text)
    assert len(named) > 20
    assert [each for each in named if not spelled(each) and each not in ("nord", "esc")] == []
