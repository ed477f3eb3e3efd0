from __future__ import annotations

import pytest

from tuibench.tui.config import DEFAULT, FILE, Config, Setting, display_options, list_settings, refusal_of

XTERM = {"TERM": "xterm-256color", "LANG": "C.UTF-8"}


def found(config: Config | None = None, /, **changes: str) -> dict[str, tuple[bool | int | str, str]]:
    settings = list_settings({**XTERM, **changes}, config or Config())
    return {one.name: (one.value, one.source) for one in settings}


def test_settings_without_input_use_defaults() -> None:
    assert list_settings(XTERM, Config()) == (
        Setting("theme", "ansi-dark", DEFAULT),
        Setting("colour", True, DEFAULT),
        Setting("ascii", False, DEFAULT),
        Setting("mouse", True, DEFAULT),
        Setting("fps", 30, DEFAULT),
        Setting("bell", True, DEFAULT),
    )


def test_setting_in_file_has_file_origin_even_if_default() -> None:
    given = frozenset({"theme", "ascii", "mouse", "fps", "bell"})
    settings = found(Config("nord", False, True, True, 30, {}, given), SSH_TTY="x")
    assert {source for name, (_, source) in settings.items() if name != "colour"} == {FILE}
    assert settings["theme"] == ("nord", FILE) and settings["mouse"] == (True, FILE)


@pytest.mark.parametrize(
    ("changes", "name", "expected"),
    [
        ({"SSH_TTY": "x"}, "mouse", (False, "over SSH")),
        ({"SSH_TTY": "x"}, "fps", (15, "over SSH")),
        ({"TEXTUAL_FPS": "7"}, "fps", (7, "TEXTUAL_FPS")),
        ({"TEXTUAL_FPS": "many"}, "fps", ("many", "TEXTUAL_FPS")),
        ({"NO_COLOR": "1"}, "colour", (False, "NO_COLOR")),
        ({"NO_COLOR": "1", "TEXTUAL_THEME": "nord"}, "theme", ("ansi-dark", "NO_COLOR")),
        ({"TERM": "xterm", "TEXTUAL_THEME": "nord"}, "theme", ("ansi-dark", "a terminal of 16 colours")),
        ({"TEXTUAL_THEME": "nord"}, "theme", ("nord", "TEXTUAL_THEME")),
        ({"TEXTUAL_THEME": "ansi-dark"}, "theme", ("ansi-dark", "TEXTUAL_THEME")),
        ({"TERM": "linux"}, "ascii", (True, "TERM=linux")),
        ({"LC_ALL": "C"}, "ascii", (True, "LC_ALL")),
        ({"TERM": "linux", "LANG": "C"}, "ascii", (True, "LANG")),
    ],
)
def test_setting_origin_is_named(changes: dict[str, str], name: str, expected: tuple[object, str]) -> None:
    assert found(**changes)[name] == expected


def test_flags_override_file() -> None:
    config = Config(mouse=True, ascii=False)
    assert display_options(config).mouse is True and not display_options(config).ascii_only
    assert display_options(config, mouse=False, ascii_only=True).mouse is False
    assert display_options(config, ascii_only=True).ascii_only and display_options(Config(ascii=True)).ascii_only
    assert display_options(Config()).mouse is None


def test_unsupported_terminal_setting_shows_reason() -> None:
    assert refusal_of({"TERM": "dumb"}) and not refusal_of(XTERM)
