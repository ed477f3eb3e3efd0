"""The dashboard on a real terminal: the bytes each kind of terminal gets, and its state after exit."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.shell import Shell
from tests.cli.terminal import Terminal

HERE: dict[str, str | None] = {
    **dict.fromkeys(("NO_COLOR", "COLORTERM", "LC_ALL", "LC_CTYPE", "SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT")),
    **dict.fromkeys(("TEXTUAL_THEME", "TEXTUAL_FPS", "TEXTUAL_ANIMATIONS", "TMUX", "TERM_PROGRAM")),
    "TERM": "xterm-256color",
    "LANG": "C.UTF-8",
    "COLUMNS": "80",
    "LINES": "24",
}
MOUSE = "\x1b[?1003h"
ALTERNATE, NORMAL = "\x1b[?1049h", "\x1b[?1049l"
LAST_ROW = "\x1b[24;1H"
SGR = re.compile(r"\x1b\[([0-9;]*)m")
SSH = {"SSH_CONNECTION": "10.0.0.1 5 10.0.0.2 22"}


def show(shell: Shell, *flags: str, env: Mapping[str, str | None] | None = None, keys: str = "q") -> tuple[int, str]:
    """Return the exit code and all output up to the return to the first screen."""
    terminal = Terminal(shell, *flags, env={**HERE, **(env or {})})
    terminal.wait_for("No project yet.")
    terminal.wait_for(LAST_ROW)
    terminal.type(keys)
    return terminal.end(), terminal.shown


def colours(shown: str) -> set[str]:
    """Return the parameters of colour sequences, such as 38;5;6 or 31."""
    found = set()
    for command in SGR.findall(shown):
        found |= set(re.findall(r"[34]8;[25];[0-9;]*|\b(?:3[0-7]|4[0-7]|9[0-7]|10[0-7])\b", command))
    return found


def test_q_quits_and_restores_the_terminal(shell: Shell, home: Path) -> None:
    code, shown = show(shell)
    assert code == 0
    assert shown.index(ALTERNATE) < shown.index("No project yet.") < shown.rindex(NORMAL)
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l"), "the cursor is shown again"
    assert "Traceback" not in shown


def test_ctrl_q_quits(shell: Shell, home: Path) -> None:
    assert show(shell, keys="\x11")[0] == 0


@pytest.mark.parametrize(
    ("flags", "env", "mouse"),
    [((), {}, True), (("--no-mouse",), {}, False), ((), SSH, False), (("--mouse",), SSH, True)],
)
def test_mouse_is_enabled_locally_or_on_request(
    shell: Shell, home: Path, flags: tuple[str, ...], env: dict[str, str], mouse: bool
) -> None:
    code, shown = show(shell, *flags, env=env)
    assert (code, MOUSE in shown) == (0, mouse)


def test_no_color_sends_no_colour(shell: Shell, home: Path) -> None:
    assert colours(show(shell, env={"NO_COLOR": "1"})[1]) == set()


@pytest.mark.parametrize("term", ["xterm", "screen", "linux"])
def test_sixteen_colour_terminal_gets_sixteen_colours(shell: Shell, home: Path, term: str) -> None:
    code, shown = show(shell, env={"TERM": term, "TEXTUAL_THEME": "nord"})
    assert code == 0 and not {one for one in colours(shown) if ";" in one}


def test_plain_theme_sends_no_colours_of_its_own(shell: Shell, home: Path) -> None:
    for env in ({}, {"COLORTERM": "truecolor"}):
        _, shown = show(shell, env=env)
        assert not {one for one in colours(shown) if ";" in one}


@pytest.mark.parametrize(("flags", "env"), [(("--ascii",), {}), ((), {"LC_ALL": "C"}), ((), {"TERM": "linux"})])
def test_ascii_terminal_gets_ascii(shell: Shell, home: Path, flags: tuple[str, ...], env: dict[str, str]) -> None:
    code, shown = show(shell, *flags, env=env)
    assert code == 0 and shown.isascii()


def test_unknown_theme_is_reported_and_plain_is_used(shell: Shell, home: Path) -> None:
    file = home / "tuibench" / "config" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[dashboard]\ntheme = "neon"\n[keys]\nquit-now = "ctrl+x"\n')
    terminal = Terminal(shell, env=HERE)
    terminal.wait_for("error in the config file: there is no theme neon")
    terminal.type("\x18")
    assert terminal.end() == 0, "and the key of the file leaves"


@pytest.mark.parametrize(("number", "code"), [("SIGHUP", 129), ("SIGTERM", 143)])
def test_signal_restores_the_terminal(shell: Shell, home: Path, number: str, code: int) -> None:
    terminal = Terminal(shell, env=HERE)
    terminal.wait_for("No project yet.")
    terminal.process.send_signal(getattr(signal, number))
    assert terminal.end() == code
    assert NORMAL in terminal.shown and "Traceback" not in terminal.shown


def test_startup_output_is_small(shell: Shell, home: Path) -> None:
    _, shown = show(shell)
    assert len(shown.encode()) <= 25_000


def test_model_opens_its_form_and_measures_nothing(shell: Shell, home: Path) -> None:
    terminal = Terminal(shell, "sample:tiny", env=HERE)
    terminal.wait_for("tuibench benchmark sample:tiny")
    terminal.type("\x11")
    assert terminal.end() == 0
    assert not (home / "tuibench" / "data").exists()


def test_invalid_utf8_input_is_shown_and_later_keys_work(shell: Shell, home: Path) -> None:
    terminal = Terminal(shell, env=HERE)
    terminal.wait_for("No project yet.")
    terminal.send(b"\xff\xe9n")
    terminal.wait_for("New project")
    terminal.send(b"caf\xe9.onnx")
    terminal.wait_for("caf\ufffd.onnx")
    terminal.type("\x11")
    assert terminal.end() == 0
    assert "Traceback" not in terminal.shown
