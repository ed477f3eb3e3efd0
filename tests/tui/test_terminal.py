"""The table of terminals, row by row: what they are told from, and how the dashboard is shown there."""

from __future__ import annotations

import pytest

from tuibench.tui.terminal import Display, DisplayWishes, plan_display

TTYS = (True, True, True)
XTERM = {"TERM": "xterm-256color", "LANG": "en_US.UTF-8"}


def plan(wishes: DisplayWishes | None = None, ttys: tuple[bool, bool, bool] = TTYS, /, **changes: str) -> Display:
    return plan_display({**XTERM, **changes}, ttys, wishes or DisplayWishes())


def variables(display: Display) -> dict[str, str]:
    return dict(display.environ)


@pytest.mark.parametrize(
    ("ttys", "name"),
    [((False, True, True), "stdin"), ((True, False, True), "stdout"), ((True, True, False), "stderr")],
)
def test_each_descriptor_must_be_a_terminal(ttys: tuple[bool, bool, bool], name: str) -> None:
    assert plan(None, ttys).refusal == f"{name} is not a terminal"
    assert plan().refusal == ""


@pytest.mark.parametrize(
    ("term", "words"), [("dumb", "TERM is dumb"), ("unknown", "TERM is unknown"), ("", "TERM is not set")]
)
def test_a_terminal_that_cannot_be_drawn_on(term: str, words: str) -> None:
    assert plan(TERM=term).refusal.startswith(words)
    assert plan_display({}, TTYS, DisplayWishes()).refusal.startswith("TERM is not set")


@pytest.mark.parametrize(
    "term", ["xterm", "linux", "screen", "vt100", "tmux", "xterm-256color", "screen.xterm-256color"]
)
def test_every_other_terminal_is_taken(term: str) -> None:
    assert plan(TERM=term).refusal == ""


def test_a_quiet_local_terminal() -> None:
    display = plan()
    assert (display.mouse, display.ascii_only, display.colour, display.remote) == (True, False, True, False)
    assert variables(display) == {
        "TEXTUAL_ANIMATIONS": "none",
        "TEXTUAL_SMOOTH_SCROLL": "0",
        "TEXTUAL_FPS": "30",
        "TEXTUAL_THEME": "ansi-dark",
    }


@pytest.mark.parametrize("name", ["SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"])
def test_over_ssh_fewer_frames_and_no_mouse(name: str) -> None:
    display = plan(**{name: "somewhere"})
    assert (display.remote, display.mouse) == (True, False)
    assert variables(display)["TEXTUAL_FPS"] == "15" and variables(display)["TEXTUAL_ANIMATIONS"] == "none"
    assert not plan(**{name: ""}).remote


@pytest.mark.parametrize("wish", [True, False])
def test_who_says_something_about_the_mouse_gets_it_everywhere(wish: bool) -> None:
    assert plan(DisplayWishes(mouse=wish)).mouse is wish
    assert plan(DisplayWishes(mouse=wish), SSH_TTY="/dev/pts/1").mouse is wish


def test_what_the_user_has_told_textual_stays() -> None:
    own = {"TEXTUAL_ANIMATIONS": "full", "TEXTUAL_SMOOTH_SCROLL": "1", "TEXTUAL_FPS": "5"}
    assert variables(plan(DisplayWishes(fps=20), **own)) == {"TEXTUAL_THEME": "ansi-dark"}
    assert variables(plan(DisplayWishes(fps=20), SSH_TTY="x"))["TEXTUAL_FPS"] == "20"


@pytest.mark.parametrize("value", ["1", "0", "no"])
def test_no_color_holds_for_the_session(value: str) -> None:
    display = plan(DisplayWishes(theme="nord"), NO_COLOR=value, COLORTERM="truecolor", TEXTUAL_THEME="gruvbox")
    assert not display.colour
    # Any other first theme would be turned into greys.
    assert variables(display)["TEXTUAL_THEME"] == "ansi-dark"


def test_an_empty_no_color_asks_for_nothing() -> None:
    display = plan(NO_COLOR="")
    assert display.colour


MANY: list[dict[str, str]] = [
    {"TERM": "xterm-256color"},
    {"TERM": "screen-256color"},
    {"TERM": "xterm", "COLORTERM": "truecolor"},
    {"TERM": "xterm", "COLORTERM": "24bit"},
]
FEW: list[dict[str, str]] = [{"TERM": "xterm"}, {"TERM": "linux"}, {"TERM": "screen"}, {"TERM": "vt100"}]


@pytest.mark.parametrize("terminal", MANY)
def test_a_theme_is_for_terminals_of_many_colours(terminal: dict[str, str]) -> None:
    # The plain one stands behind it for a name that Textual does not know.
    assert variables(plan(DisplayWishes(theme="nord"), **terminal))["TEXTUAL_THEME"] == "nord,ansi-dark"
    own = plan(DisplayWishes(theme="nord"), TEXTUAL_THEME="gruvbox", **terminal)
    assert variables(own)["TEXTUAL_THEME"] == "gruvbox,ansi-dark"
    assert variables(plan(**terminal))["TEXTUAL_THEME"] == "ansi-dark"


@pytest.mark.parametrize("terminal", FEW)
def test_sixteen_colours_are_the_terminals_own(terminal: dict[str, str]) -> None:
    assert variables(plan(DisplayWishes(theme="nord"), **terminal))["TEXTUAL_THEME"] == "ansi-dark"


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
        # Python itself says so where the locale is C: it takes UTF-8 then.
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, False),
        ({"TERM": "linux"}, True),
        ({"TERM": "vt100"}, True),
        ({"TERM": "screen"}, False),
    ],
)
def test_ascii_where_locale_or_console_take_nothing_else(changes: dict[str, str], ascii_only: bool) -> None:
    assert plan(**changes).ascii_only is ascii_only
    assert plan(DisplayWishes(ascii_only=True), **changes).ascii_only
