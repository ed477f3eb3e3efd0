from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tuibench.tui.app
from tuibench.core import activity
from tuibench.core.machine import Places
from tuibench.core.reason import because
from tuibench.services.api import Services
from tuibench.services.state_file import StateFile
from tuibench.tui.config import Config
from tuibench.tui.start import STATE, Left, check_theme, config_path, look_at_terminal, open_dashboard
from tuibench.tui.terminal import Display


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """Return places in an unused directory."""
    made = Places(*(tmp_path / name for name in ("data", "state", "cache", "config")))
    made.config.mkdir()
    return made


def be_terminals(monkeypatch: pytest.MonkeyPatch, numbers: Iterable[int] = (0, 1, 2)) -> None:
    held = set(numbers)
    monkeypatch.setattr(os, "isatty", lambda number: number in held)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


def test_start_combines_flags_file_and_terminal(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    be_terminals(monkeypatch)
    config_path(places).write_text('[dashboard]\nmouse = false\nascii = true\nfps = 7\n[keys]\nundo = "ctrl+z"\n')
    monkeypatch.delenv("TEXTUAL_FPS", raising=False)
    display, config = look_at_terminal(places, None, False)
    assert (display.refusal, display.mouse, display.ascii_only) == (None, False, True)
    assert dict(display.environ)["TEXTUAL_FPS"] == "7" and config.keys == {"undo": "ctrl+z"}
    assert look_at_terminal(places, True, False)[0].mouse


@pytest.mark.parametrize(("number", "name"), [(0, "stdin"), (1, "stdout"), (2, "stderr")])
def test_every_standard_descriptor_is_checked(
    places: Places, monkeypatch: pytest.MonkeyPatch, number: int, name: str
) -> None:
    be_terminals(monkeypatch, {0, 1, 2} - {number})
    assert look_at_terminal(places, None, False)[0].refusal == because("stream_is_no_terminal", stream=name)


def test_closed_stdin_is_not_terminal(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    be_terminals(monkeypatch)
    monkeypatch.setattr(sys, "stdin", None)
    assert look_at_terminal(places, None, False)[0].refusal == because("stream_is_no_terminal", stream="stdin")


def test_unknown_theme_is_reported_only_when_named(tmp_path: Path) -> None:
    assert check_theme(Config()) == Config()
    assert check_theme(Config(theme="nord")) == Config(theme="nord")
    found = check_theme(Config(theme="neon", problems=("another",))).problems
    assert found[0] == "another" and "neon;" in found[1] and "ansi-dark" in found[1]


STATES = (activity.RUNNING, activity.WAITING, activity.INTERRUPTED)


class _Opened:
    """A replacement of the app that records its arguments and the environment."""

    last: _Opened

    def __init__(self, services: Services, display: Display, config: Config, state: StateFile, opening: Any) -> None:
        self.config, self.path, self.remembered = config, opening.path, state
        self.environ = dict(os.environ)
        self.return_code, self.traceback_text = 3, "said"
        runs = [SimpleNamespace(info=SimpleNamespace(id=state.upper(), state=state)) for state in STATES]
        self.snapshot = SimpleNamespace(runs=runs)
        self.mouse: bool | None = None
        _Opened.last = self

    def run(self, *, mouse: bool) -> None:
        self.mouse = mouse
        self.remembered.note({"chosen": "last"})


def open_it(places: Places, monkeypatch: pytest.MonkeyPatch, display: Display, config: Config) -> _Opened:
    monkeypatch.setattr(tuibench.tui.app, "Dashboard", _Opened)
    # At the end of the test, monkeypatch removes the variables that the start sets.
    for name, value in display.environ:
        monkeypatch.setenv(name, value + " before")
    services: Any = object()
    left = open_dashboard(services, places, display, config, "m.onnx")
    assert left == Left(3, "said", ("RUNNING", "WAITING")), "what broke off does not go on"
    return _Opened.last


def test_environment_is_set_before_app_is_created(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    environ = (("TEXTUAL_FPS", "15"), ("TEXTUAL_THEME", "ansi-dark"))
    opened = open_it(places, monkeypatch, Display(environ=environ, mouse=True), Config(theme="neon"))
    assert (opened.environ["TEXTUAL_FPS"], opened.environ["TEXTUAL_THEME"]) == ("15", "ansi-dark")
    assert (opened.path, opened.mouse) == ("m.onnx", True)
    assert "NO_COLOR" not in opened.environ, "an empty one asks for nothing, and Textual takes it for a wish"
    assert StateFile(places.state / STATE).read() == {"chosen": "last"}, "what was chosen last is kept in the end"
    assert " neon" in opened.config.problems[0]


def test_no_color_request_reaches_textual(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    opened = open_it(places, monkeypatch, Display(colour=False), Config())
    assert opened.environ["NO_COLOR"] == "1" and opened.mouse is False
