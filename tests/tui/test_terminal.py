"""The table of terminals, row by row: their detection and the resulting display."""

from __future__ import annotations

import pytest

from tuibench.core.reason import because
from tuibench.present.reason import reason_words
from tuibench.tui.terminal import Display, DisplayOptions, plan_display

TTYS = (True, True, True)
XTERM = {"TERM": "xterm-256color", "LANG": "en_US.UTF-8"}


def plan(wishes: DisplayOptions | None = None, ttys: tuple[bool, bool, bool] = TTYS, /, **changes: str) -> Display:
    return plan_display({**XTERM, **changes}, ttys, wishes or DisplayOptions())


def variables(display: Display) -> dict[str, str]:
    return dict(display.environ)


@pytest.mark.parametrize(
    ("ttys", "name"),
    [((False, True, True), "stdin"), ((True, False, True), "stdout"), ((True, True, False), "stderr")],
)
def test_every_descriptor_must_be_terminal(ttys: tuple[bool, bool, bool], name: str) -> None:
    assert plan(None, ttys).refusal == because("stream_is_no_terminal", stream=name)
    assert plan().refusal is None


@pytest.mark.parametrize(
    ("term", "words"), [("dumb", "TERM is dumb"), ("unknown", "TERM is unknown"), ("", "TERM is not set")]
)
def test_unusable_terminal_is_refused(term: str, words: str) -> None:
    assert reason_words(plan(TERM=term).refusal).startswith(words)
    assert reason_words(plan_display({}, TTYS, DisplayOptions()).refusal).startswith("TERM is not set")


@pytest.mark.parametrize(
    "term", ["xterm", "linux", "screen", "vt100", "tmux", "xterm-256color", "screen.xterm-256color"]
)
def test_other_terminals_are_accepted(term: str) -> None:
    assert plan(TERM=term).refusal is None


def test_local_terminal_uses_defaults() -> None:
    display = plan()
    assert (display.mouse, display.ascii_only, display.colour, display.remote) == (True, False, True, False)
    assert variables(display) == {
        "TEXTUAL_ANIMATIONS": "none",
        "TEXTUAL_SMOOTH_SCROLL": "0",
        "TEXTUAL_FPS": "30",
        "TEXTUAL_THEME": "ansi-dark",
    }


@pytest.mark.parametrize("name", ["SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"])
def test_ssh_reduces_frame_rate_and_disables_mouse(name: str) -> None:
    display = plan(**{name: "somewhere"})
    assert (display.remote, display.mouse) == (True, False)
    assert variables(display)["TEXTUAL_FPS"] == "15" and variables(display)["TEXTUAL_ANIMATIONS"] == "none"
    assert not plan(**{name: ""}).remote


@pytest.mark.parametrize("wish", [True, False])
def test_explicit_mouse_setting_applies_everywhere(wish: bool) -> None:
    assert plan(DisplayOptions(mouse=wish)).mouse is wish
    assert plan(DisplayOptions(mouse=wish), SSH_TTY="/dev/pts/1").mouse is wish


def test_textual_environment_of_user_is_kept() -> None:
    own = {"TEXTUAL_ANIMATIONS": "full", "TEXTUAL_SMOOTH_SCROLL": "1", "TEXTUAL_FPS": "5"}
    assert variables(plan(DisplayOptions(fps=20), **own)) == {"TEXTUAL_THEME": "ansi-dark"}
    assert variables(plan(DisplayOptions(fps=20), SSH_TTY="x"))["TEXTUAL_FPS"] == "20"


@pytest.mark.parametrize("value", ["1", "0", "no"])
def test_no_color_applies_to_session(value: str) -> None:
    display = plan(DisplayOptions(theme="nord"), NO_COLOR=value, COLORTERM="truecolor", TEXTUAL_THEME="gruvbox")
    assert not display.colour
    # Any other first theme would be converted to greys.
    assert variables(display)["TEXTUAL_THEME"] == "ansi-dark"


MANY: list[dict[str, str]] = [
    {"TERM": "xterm-256color"},
    {"TERM": "screen-256color"},
    {"TERM": "xterm", "COLORTERM": "truecolor"},
    {"TERM": "xterm", "COLORTERM": "24bit"},
]
FEW: list[dict[str, str]] = [{"TERM": "xterm"}, {"TERM": "linux"}, {"TERM": "screen"}, {"TERM": "vt100"}]


@pytest.mark.parametrize("terminal", MANY)
def test_theme_requires_terminal_with_many_colours(terminal: dict[str, str]) -> None:
    # The plain theme follows as a fallback for a name that Textual does not know.
    assert variables(plan(DisplayOptions(theme="nord"), **terminal))["TEXTUAL_THEME"] == "nord,ansi-dark"
    own = plan(DisplayOptions(theme="nord"), TEXTUAL_THEME="gruvbox", **terminal)
    assert variables(own)["TEXTUAL_THEME"] == "gruvbox,ansi-dark"
    assert variables(plan(**terminal))["TEXTUAL_THEME"] == "ansi-dark"


@pytest.mark.parametrize("terminal", FEW)
def test_sixteen_colour_terminal_uses_its_own_colours(terminal: dict[str, str]) -> None:
    assert variables(plan(DisplayOptions(theme="nord"), **terminal))["TEXTUAL_THEME"] == "ansi-dark"


@pytest.mark.parametrize(
    ("changes", "ascii_only"),
    [
        ({}, False),
        ({"LANG": ""}, False),
        ({"LANG": "C.UTF-8"}, False),
        ({"LANG": "de_DE.utf8"}, False),
        ({"LANG": "de_DE"}, False),
        ({"LANG": "de_DE.ISO-8859-1"}, True),
        ({"LANG": "C"}, True),
        ({"LC_ALL": "POSIX"}, True),
        ({"LC_ALL": "C"}, True),
        ({"LC_CTYPE": "C", "LC_ALL": "C.UTF-8"}, False),
        # Python itself reports this where the locale is C: it uses UTF-8 then.
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, False),
        ({"TERM": "linux"}, True),
        ({"TERM": "vt100"}, True),
        ({"TERM": "screen"}, False),
    ],
)
def test_ascii_mode_follows_locale_and_console(changes: dict[str, str], ascii_only: bool) -> None:
    assert plan(**changes).ascii_only is ascii_only
    assert plan(DisplayOptions(ascii_only=True), **changes).ascii_only
