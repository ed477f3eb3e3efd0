from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.services.script import ScriptedRun
from tuibench.core.errors import StoreError
from tuibench.services.run_view import run_log, run_spec


@pytest.fixture
def run(tmp_path: Path) -> ScriptedRun:
    return ScriptedRun(tmp_path)


def test_quiet_run_has_no_log(run: ScriptedRun) -> None:
    assert run_log(run.directory) == ()


def test_each_log_has_its_name_and_the_latest_is_last(run: ScriptedRun) -> None:
    folder = run.directory.path / "logs"
    texts = {"b.log": "second\n", "a.log": "first\nand more\n", "c.log": ""}
    for age, (name, text) in enumerate(texts.items()):
        (folder / name).write_text(text)
        os.utime(folder / name, ns=(1, 10**9 - age))
    run.directory.log.write_text("the runner says\n")
    assert run_log(run.directory) == (
        *("a.log:", "  first", "  and more"),
        *("b.log:", "  second"),
        *("runner.log:", "  the runner says"),
    )


def test_long_log_shows_its_last_whole_lines(run: ScriptedRun) -> None:
    run.directory.log.write_text("".join(f"line {number}\n" for number in range(20_000)))
    lines = run_log(run.directory)
    assert lines[-1] == "  line 19999"
    assert 4_000 < len(lines) < 20_000
    assert all(line.startswith("  line ") for line in lines[1:])


def test_log_cannot_drive_the_terminal(run: ScriptedRun) -> None:
    run.directory.log.write_bytes(b"\x1b[2J\xff\xfe evil\r\n")
    (words,) = run_log(run.directory)[1:]
    assert words.isprintable() and "\\e[2J" in words


@pytest.mark.parametrize("plant", ["pipe", "link", "directory"])
def test_special_file_is_left_out(run: ScriptedRun, plant: str, tmp_path: Path) -> None:
    path = run.directory.path / "logs" / "x.log"
    if plant == "pipe":
        os.mkfifo(path)
    elif plant == "link":
        (tmp_path / "secret").write_text("of somebody else")
        path.symlink_to(tmp_path / "secret")
    else:
        path.mkdir()
    assert run_log(run.directory) == ()


def test_spec_of_a_run_is_that_of_its_request(run: ScriptedRun) -> None:
    assert run_spec(run.directory) == run.spec
    (run.directory.path / "request.json").unlink()
    with pytest.raises(StoreError):
        run_spec(run.directory)
