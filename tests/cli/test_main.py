from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from tests.cli.shell import SHORT, Shell
from tuibench.cli.main import main
from tuibench.cli.terminal import CODES

ONE = ("benchmark", "sample:tiny", "-e", "fake", "-s", "sync", "-ncores", "1", *SHORT)


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in CODES}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("flags", [(), pytest.param(("-q",), marks=pytest.mark.slow)])
def test_closed_stderr_ends_nothing(shell: Shell, flags: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = shell.start(*ONE, *flags, stderr=writer)
    os.close(writer)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"ms" in out.splitlines()[-1]


@pytest.mark.parametrize(("argv", "code"), [(["-b", "0"], 2), (["-e", "nope"], 4), (["-x", "/nowhere/x"], 6)])
def test_debug_prints_the_traceback_and_keeps_the_exit_code(
    argv: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["benchmark", "sample:tiny", *argv]) == code
    assert "Traceback" not in capsys.readouterr().err
    assert main(["benchmark", "sample:tiny", *argv, "--debug"]) == code
    err = capsys.readouterr().err
    assert err.startswith("Traceback") and "\ntuibench: " in err


def test_traceback_cannot_drive_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["benchmark", "\x1b[2J.onnx", "--debug"]) == 3
    assert "\x1b" not in capsys.readouterr().err
