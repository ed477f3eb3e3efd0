"""`tuibench doctor` as a process: as text, as JSON, and in a minimal environment."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli.shell import Shell

FINE = re.compile(r"[^\x20-\x7e\n\x85\xa0-\U0010ffff]")


@pytest.fixture
def shell(real_shell: Shell) -> Shell:
    """Run each command in its own process, because this module tests that process."""
    return real_shell


def test_doctor_reports_machine_noise_and_engines(shell: Shell) -> None:
    done = shell.run("doctor")
    assert done.code == 0, done.err
    assert not FINE.search(done.out)
    for word in ("onnxruntime", "CPU", "quota", "SMT", "NUMA", "governor", "noise"):
        assert word.lower() in done.out.lower(), word
    assert "Traceback" not in done.err


def test_doctor_json_is_one_ascii_object(shell: Shell) -> None:
    done = shell.run("doctor", "--json", env={"HOME": None, "LC_ALL": "C"})
    assert done.code == 0, done.err
    assert done.out.isascii()
    facts = json.loads(done.out)
    engines = {engine["name"]: engine for engine in facts["engines"]}
    assert engines["onnxruntime"]["available"] and engines["onnxruntime"]["version"]
    assert "env_private" not in facts


def test_wrong_flag_exits_2(shell: Shell) -> None:
    done = shell.run("doctor", "--jsno")
    assert done.code == 2
    assert len(done.err.splitlines()) <= 2 and "--jsno" in done.err
