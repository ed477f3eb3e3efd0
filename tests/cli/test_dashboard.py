"""`tuibench` and `tuibench PATH` without a usable screen, or with an argument that is no model."""

from __future__ import annotations

import os
import pty
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import Shell, as_shell
from tests.cli.terminal import Terminal
from tests.runs.profile_script import make_profile_result
from tests.store.data import make_small
from tuibench.core.stored import Metadata
from tuibench.services.api import Services

HERE = {"TERM": "xterm-256color", "LANG": "C.UTF-8", "LC_ALL": None, "NO_COLOR": None}


@pytest.fixture
def shell(real_shell: Shell) -> Shell:
    """Run each command in its own process, because this module tests its descriptors."""
    return real_shell


@pytest.fixture
def stored(home: Path) -> None:
    """Two benchmarks in the test's home, newest 0002; one has a name that would move the cursor."""
    store = Services().store
    for number, name in ((1, "first"), (2, "\x1b[2Jsecond")):
        store.benchmarks.add(make_small(number), Metadata(name=name))


def test_without_any_terminal_it_prints_the_list(shell: Shell, stored: None) -> None:
    done = shell.run(env=HERE)
    assert done.code == 0
    assert [line.split()[0] for line in done.lines] == ["id", "0002", "0001"]
    assert "stdin" in done.err and len(done.err.splitlines()) == 1
    assert "\x1b" not in done.out + done.err


def test_empty_store_prints_how_to_begin(shell: Shell, home: Path) -> None:
    done = shell.run(env=HERE)
    assert done.code == 0 and len(done.lines) == 1
    assert not (home / "tuibench").exists(), "looking makes nothing"


def test_store_with_only_profiles_is_described_as_in_the_list(shell: Shell, home: Path) -> None:
    Services().store.benchmarks.add(make_profile_result(1), Metadata(name="p"))
    done = shell.run(env=HERE)
    assert (done.code, done.lines) == (0, [])
    assert done.err.splitlines()[1:] == shell.run("list", env=HERE).err.splitlines()
    assert done.err.endswith("and 1 profile: tuibench list --profiles\n")


@pytest.mark.parametrize(("place", "number"), [("stdin", 0), ("stdout", 1), ("stderr", 2)])
def test_one_descriptor_without_terminal_prints_the_list(shell: Shell, stored: None, place: str, number: int) -> None:
    code, shown, piped = run_on_terminal(shell, away=number)
    assert code == 0
    both = shown + piped
    assert "\x1b" not in both and "0002" in both
    assert f"({place} " in both
    assert ("0002" in piped) == (place == "stdout"), "results go to stdout, wherever that is"


@pytest.mark.parametrize("term", ["dumb", "", None])
def test_dumb_terminal_gets_lines(shell: Shell, stored: None, term: str | None) -> None:
    code, shown, _ = run_on_terminal(shell, env={"TERM": term})
    assert code == 0 and "0002" in shown and "\x1b" not in shown
    assert "TERM is" in shown


@pytest.mark.parametrize("env", [{}, {"TERM": "dumb"}])
def test_model_without_screen_exits_2(shell: Shell, env: dict[str, str | None]) -> None:
    done = shell.run("sample:tiny", env={**HERE, **env})
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 2 and "stdin" in done.err
    code, shown, _ = run_on_terminal(shell, "sample:tiny", env={"TERM": "dumb"})
    assert code == 2 and "TERM" in shown and "\x1b" not in shown


def no_file(folder: Path) -> str:
    return str(folder / "gone.onnx")


def empty_file(folder: Path) -> str:
    (folder / "empty.onnx").touch()
    return str(folder / "empty.onnx")


def text_file(folder: Path) -> str:
    (folder / "notes").write_text("# notes\n" * 100)
    return str(folder / "notes")


def fifo(folder: Path) -> str:
    os.mkfifo(folder / "pipe.onnx")
    return str(folder / "pipe.onnx")


def bare_directory(folder: Path) -> str:
    return str(folder)


def hostile_name(folder: Path) -> str:
    return str(folder / "\x1b[2J.onnx")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (no_file, "no such file"),
        (empty_file, "is empty"),
        (text_file, "is not a readable ONNX model"),
        (fifo, "is a pipe, not a file"),
        (bare_directory, "is a directory without a model.onnx"),
        (hostile_name, "\\e[2J.onnx: no such file"),
    ],
)
def test_argument_that_is_no_model_is_reported_in_the_shell(shell: Shell, folder: Path, make: Any, words: str) -> None:
    code, shown, _ = run_on_terminal(shell, make(folder))
    assert code == 3, shown
    assert words.lower() in shown.lower() and "\x1b" not in shown


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("--mouse", "--no-mouse"), "exclude each other"),
        (("sample:nothing",), "there is no sample:nothing"),
        (("zoo:bert",), "its host no longer exists"),
        (("http://example.org/m.onnx",), "http:"),
    ],
)
def test_meaningless_argument_exits_2(shell: Shell, argv: tuple[str, ...], words: str) -> None:
    code, shown, _ = run_on_terminal(shell, *argv)
    assert code == 2 and words in shown and "\x1b" not in shown


def run_on_terminal(
    shell: Shell, *arguments: str, away: int | None = None, env: dict[str, str | None] | None = None
) -> tuple[int, str, str]:
    """Return exit code, terminal output and piped output; `away` is the descriptor that has a pipe."""
    merged = {**HERE, **(env or {})}
    if away is None:
        terminal = Terminal(shell, *arguments, env=merged)
        return terminal.end(), terminal.shown, ""
    main, side = pty.openpty()
    reader, writer = os.pipe()
    places = [side, side, side]
    places[away] = reader if away == 0 else writer
    process = shell.start(*arguments, env=merged, stdin=places[0], stdout=places[1], stderr=places[2])
    for number in (side, writer, *([reader] if away == 0 else [])):
        os.close(number)
    code = as_shell(process.wait(60))
    piped = "" if away == 0 else os.read(reader, 1 << 20).decode()
    shown = os.read(main, 1 << 20).decode()
    os.close(main)
    if away != 0:
        os.close(reader)
    return code, shown, piped
