from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuibench.core.text import show
from tuibench.tui.config import Config, _check, read_config


def read(folder: Path, text: str | bytes) -> Config:
    path = folder / "config.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_config(path)


def test_missing_file_gives_defaults(tmp_path: Path) -> None:
    assert read_config(tmp_path / "config.toml") == Config() == read(tmp_path, "")


def test_file_values_are_used(tmp_path: Path) -> None:
    config = read(
        tmp_path,
        '[dashboard]\ntheme = "nord"\nascii = true\nmouse = false\nbell = false\nfps = 10\n'
        '[keys]\nremove = "?, Ctrl+X"\nhelp = "f1"\n',
    )
    given = frozenset({"theme", "ascii", "mouse", "bell", "fps"})
    assert config == Config("nord", True, False, False, 10, {"remove": "question_mark,ctrl+x", "help": "f1"}, given)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[dashboard\n", "line 1"),
        (b"\xff", "can't decode"),
        ("a = " + "[" * 20_000, ""),
        ("a = " + "9" * 5000, ""),
        ("[looks]\n", "looks belongs to no section; there are [dashboard] and [keys]"),
        ("theme = 'nord'\n", "theme belongs to no section"),
        ("dashboard = 3\n", "dashboard is a section: it is written [dashboard]"),
        ("[dashboard]\ncolor = true\n", "there is no color; there are theme, ascii, mouse, bell, fps"),
        ("[dashboard]\nmouse = 'yes'\n", "mouse takes true or false, not yes"),
        ("[dashboard]\nascii = 1\n", "ascii takes true or false, not 1"),
        ("[dashboard]\nfps = true\n", "fps takes a number from 1 to 60, not True"),
        ("[dashboard]\nfps = 61\n", "fps takes a number from 1 to 60, not 61"),
        ("[dashboard]\nfps = 0\n", "fps takes a number from 1 to 60, not 0"),
        ("[dashboard]\ntheme = 2026-01-01\n", "theme takes a name in quotes, not 2026-01-01"),
        ('[dashboard]\ntheme = "a\\u0000b"\n', "theme takes a name in quotes, not a\\x00b"),
        ("[keys]\nremove = ['d']\n", 'keys of remove are written "d" or "d,delete"'),
        ("[keys]\nremove = ' '\n", 'keys of remove are written "d" or "d,delete"'),
        ("[keys]\nremove = 'n'\n", "n means both new and remove"),
        ('[keys]\n"\\u001b[2J" = "x"\n', "there is no action \\e[2J"),
    ],
)
def test_invalid_values_are_reported_and_skipped(tmp_path: Path, text: str | bytes, words: str) -> None:
    config = read(tmp_path, text)
    assert any(words in problem for problem in config.problems), config.problems
    assert all(show(problem, 999) == problem for problem in config.problems)
    assert Config(problems=config.problems) == config


def test_valid_values_beside_invalid_ones_are_used(tmp_path: Path) -> None:
    config = read(tmp_path, "[dashboard]\nfps = 99\nmouse = true\n[keys]\nremove = 'ctrl+x'\n")
    assert (config.fps, config.mouse, config.keys) == (None, True, {"remove": "ctrl+x"}) and len(config.problems) == 1
    clash = read(tmp_path, "[dashboard]\nmouse = true\n[keys]\nremove = 'n'\nundo = 'ctrl+z'\n")
    assert (clash.mouse, clash.keys, len(clash.problems)) == (True, {}, 1)
    assert {"n", "new", "remove"} <= {*re.findall(r"\w+", clash.problems[-1])}


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_directory_or_fifo_is_reported_without_blocking(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "config.toml")
    (problem,) = read_config(tmp_path / "config.toml").problems
    assert "regular" in problem


VALUES = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.dates()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=8,
)
NAMES = st.one_of(
    st.sampled_from(["dashboard", "keys", "theme", "fps", "mouse", "remove", "help"]), st.text(max_size=8)
)


@settings(max_examples=40)
@given(st.dictionaries(NAMES, st.one_of(VALUES, st.dictionaries(NAMES, VALUES, max_size=5)), max_size=4))
def test_any_file_gives_usable_config(found: dict[str, object]) -> None:
    config = _check(found)
    assert config.fps is None or 1 <= config.fps <= 60
    assert all(show(problem, 999) == problem for problem in config.problems)
    assert all(value and "" not in value.split(",") for value in config.keys.values())
