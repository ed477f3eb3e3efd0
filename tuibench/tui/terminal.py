"""Whether a terminal can show the dashboard, and how: decided from its descriptors and environment alone.

Textual reads its environment when it is imported, so this is asked before that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_SSH = ("SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT")
_TRUE = ("truecolor", "24bit")
PLAIN_THEME = "ansi-dark"
"""The terminal's own sixteen colours; the only one that Textual shows rightly with few colours or none."""


@dataclass(frozen=True, slots=True)
class Display:
    """How to show the dashboard."""

    refusal: str = ""
    """Why it cannot be shown, in words; '' where it can."""
    environ: tuple[tuple[str, str], ...] = ()
    """To be set before Textual is imported; what the user has set already stays."""
    mouse: bool = False
    ascii_only: bool = False
    colour: bool = True
    remote: bool = False


@dataclass(frozen=True, slots=True)
class DisplayWishes:
    """What flags and the config file say; None leaves it to the terminal."""

    mouse: bool | None = None
    ascii_only: bool = False
    fps: int | None = None
    theme: str = ""


def plan_display(environ: Mapping[str, str], ttys: tuple[bool, bool, bool], wishes: DisplayWishes) -> Display:
    """`ttys` says of stdin, stdout and stderr which are terminals: Textual reads the first and draws on the last."""
    refusal = _refuse(environ, ttys)
    remote = any(environ.get(name) for name in _SSH)
    colour = "NO_COLOR" not in environ or not environ["NO_COLOR"]
    named = environ.get("TEXTUAL_THEME") or wishes.theme
    # A theme of exact colours would be turned into greys or into the wrong ones of sixteen.
    theme = named if named and colour and _has_many_colours(environ) else PLAIN_THEME
    changes = {
        "TEXTUAL_ANIMATIONS": "none",
        "TEXTUAL_SMOOTH_SCROLL": "0",
        "TEXTUAL_FPS": str(wishes.fps or (15 if remote else 30)),
    }
    kept = {name: value for name, value in changes.items() if not environ.get(name)}
    # Textual takes the first of them that there is.
    kept["TEXTUAL_THEME"] = theme if theme == PLAIN_THEME else f"{theme},{PLAIN_THEME}"
    ascii_only = wishes.ascii_only or not _takes_utf8(environ)
    mouse = (not remote) if wishes.mouse is None else wishes.mouse
    return Display(refusal, tuple(kept.items()), mouse, ascii_only, colour, remote)


def _refuse(environ: Mapping[str, str], ttys: tuple[bool, bool, bool]) -> str:
    for is_tty, name in zip(ttys, ("stdin", "stdout", "stderr"), strict=True):
        if not is_tty:
            return f"{name} is not a terminal"
    term = environ.get("TERM", "")
    if term in ("dumb", "unknown", ""):
        return f"TERM is {term or 'not set'}, and such a terminal cannot be drawn on"
    return ""


def _has_many_colours(environ: Mapping[str, str]) -> bool:
    """Whether a theme can have its own colours instead of the sixteen of the terminal."""
    return environ.get("COLORTERM", "").lower() in _TRUE or "256color" in environ.get("TERM", "")


def _takes_utf8(environ: Mapping[str, str]) -> bool:
    """By the locale, as the terminal itself cannot be asked; the console of the kernel has few signs in its font."""
    if environ.get("TERM", "") in ("linux", "vt100", "vt102", "vt220"):
        return False
    said = next((environ[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if environ.get(name)), "")
    # C.UTF-8 and no locale at all are what minimal servers have; C and POSIX are a choice of ASCII.
    return said not in ("C", "POSIX") and ("utf" in said.lower() or not said or "." not in said)
