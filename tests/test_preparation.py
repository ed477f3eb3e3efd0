"""Answers of .ci/test-engines to an engine that was not installed: skip what nothing here can mend, else fail."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tuibench.present.error.engine import ENGINE_ERRORS

COMMAND = """#!/bin/sh
case "$2 $3" in
    list*) echo '{{"engines": [{{"id": "deepsparse", "state": "{state}"}}]}}' ;;
    "install deepsparse") echo "tuibench: {words}" >&2; exit 4 ;;
esac
"""
"""A command that cannot install DeepSparse and can install the others."""
UNREACHABLE = "the package index cannot be reached for deepsparse: no connection"


@pytest.mark.parametrize(
    ("words", "state", "code"),
    [("no Python", "impossible", 0), (UNREACHABLE, "available", 0), ("other outputs", "available", 1), ("", "", 1)],
)
def test_only_what_is_impossible_here_is_skipped(tmp_path: Path, words: str, state: str, code: int) -> None:
    command, root = tmp_path / "bin" / "tuibench", tmp_path / "home"
    command.parent.mkdir()
    command.write_text(COMMAND.format(words=words, state=state))
    command.chmod(0o755)
    (command.parent / "python").symlink_to(sys.executable)
    script = [ROOT / ".ci" / "test-engines", tmp_path, root]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (code, "" if code else f"{root}/data/engines\n")
    assert words in done.stderr and "deepsparse" in done.stderr


def test_words_of_the_script_are_those_of_the_refusal() -> None:
    text = str(ENGINE_ERRORS["index_unreachable"][0])
    assert UNREACHABLE.startswith(text.partition(" for ")[0])
    assert f'"{text.partition(" for ")[0]}"' in (ROOT / ".ci" / "test-engines").read_text(encoding="utf-8")
