"""Decides from descriptors and environment whether and how a terminal can show the dashboard.

Must run before Textual is imported, because Textual reads its environment at import.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tuibench.core.reason import Reason, because

_SSH = ("SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT")
_TRUE = ("truecolor", "24bit")
PLAIN_THEME = "ansi-dark"
"""The terminal's own 16 colours; the only theme that Textual shows correctly with few colours or none."""


@dataclass(frozen=True, slots=True)
class Display:
    """Display options of the dashboard."""

    refusal: Reason | None = None
    """Reason why it cannot be shown; None if it can."""
    environ: tuple[tuple[str, str], ...] = ()
    """Variables to set before Textual is imported; those that the user has set are kept."""
    mouse: bool = False
    ascii_only: bool = False
    colour: bool = True
    remote: bool = False


@dataclass(frozen=True, slots=True)
class DisplayOptions:
    """Options from flags and the config file; None leaves one to the terminal."""

    mouse: bool | None = None
    ascii_only: bool = False
    fps: int | None = None
    theme: str = ""


def plan_display(environ: Mapping[str, str], ttys: tuple[bool, bool, bool], options: DisplayOptions) -> Display:
    """Plan the display; `ttys` is True for each of stdin, stdout and stderr that is a terminal.

    Textual reads stdin and draws on stderr.
    """
    refusal = _refuse(environ, ttys)
    remote = any(environ.get(name) for name in _SSH)
    colour = "NO_COLOR" not in environ or not environ["NO_COLOR"]
    named = environ.get("TEXTUAL_THEME") or options.theme
    # Without enough colours, exact ones would become greys or wrong ones of the 16.
    theme = named if named and colour and _has_many_colours(environ) else PLAIN_THEME
    changes = {
        "TEXTUAL_ANIMATIONS": "none",
        "TEXTUAL_SMOOTH_SCROLL": "0",
        "TEXTUAL_FPS": str(options.fps or (15 if remote else 30)),
    }
    kept = {name: value for name, value in changes.items() if not environ.get(name)}
    # Textual uses the first theme of the list that exists.
    kept["TEXTUAL_THEME"] = theme if theme == PLAIN_THEME else f"{theme},{PLAIN_THEME}"
    ascii_only = options.ascii_only or not _takes_utf8(environ)
    mouse = (not remote) if options.mouse is None else options.mouse
    return Display(refusal, tuple(kept.items()), mouse, ascii_only, colour, remote)


def _refuse(environ: Mapping[str, str], ttys: tuple[bool, bool, bool]) -> Reason | None:
    for is_tty, name in zip(ttys, ("stdin", "stdout", "stderr"), strict=True):
        if not is_tty:
            return because("stream_is_no_terminal", stream=name)
    term = environ.get("TERM", "")
    if term in ("dumb", "unknown", ""):
        return because("terminal_unsupported", term=term)
    return None


def _has_many_colours(environ: Mapping[str, str]) -> bool:
    """Return whether a theme can use its own colours instead of the terminal's 16."""
    return environ.get("COLORTERM", "").lower() in _TRUE or "256color" in environ.get("TERM", "")


def _takes_utf8(environ: Mapping[str, str]) -> bool:
    """Decide by the locale, as a terminal cannot be queried; the kernel console has few signs in its font."""
    if environ.get("TERM", "") in ("linux", "vt100", "vt102", "vt220"):
        return False
    said = next((environ[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if environ.get(name)), "")
    # Minimal servers have C.UTF-8 or no locale; C and POSIX request ASCII.
    return said not in ("C", "POSIX") and ("utf" in said.lower() or not said or "." not in said)
