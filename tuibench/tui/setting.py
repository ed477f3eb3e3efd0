"""The display settings for this terminal, each with the source that decided it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tuibench.tui.config import Config
from tuibench.tui.terminal import PLAIN_THEME, Display, DisplayOptions, plan_display

FILE = "config file"
DEFAULT = "default"
_REMOTE = "over SSH"
_TTYS = (True, True, True)


@dataclass(frozen=True, slots=True)
class Setting:
    """One display setting."""

    name: str
    value: bool | int | str
    source: str
    """In words: the config file, an environment variable, a property of the terminal, or the default."""


def display_options(config: Config, mouse: bool | None = None, ascii_only: bool = False) -> DisplayOptions:
    """Return the settings requested by this start's flags, or else by the config file."""
    return DisplayOptions(
        mouse=config.mouse if mouse is None else mouse,
        ascii_only=ascii_only or config.ascii,
        fps=config.fps,
        theme=config.theme,
    )


def list_settings(environ: Mapping[str, str], config: Config) -> tuple[Setting, ...]:
    """Return all settings, as a start without flags has them in a terminal with this environment."""
    display = plan_display(environ, _TTYS, display_options(config))
    changes = dict(display.environ)
    theme = changes["TEXTUAL_THEME"].partition(",")[0]
    fps = environ.get("TEXTUAL_FPS") or changes["TEXTUAL_FPS"]
    return (
        Setting("theme", theme, _theme_source(environ, config, theme)),
        Setting("colour", display.colour, DEFAULT if display.colour else "NO_COLOR"),
        Setting("ascii", display.ascii_only, _ascii_source(environ, config, display)),
        Setting("mouse", display.mouse, _source(config, "mouse", display.remote)),
        Setting("fps", int(fps) if fps.isdecimal() else fps, _fps_source(environ, config, display)),
        Setting("bell", config.bell, _source(config, "bell")),
    )


def refusal_of(environ: Mapping[str, str]) -> str:
    """Return the reason why a terminal with this environment cannot show the dashboard; '' if it can."""
    return plan_display(environ, _TTYS, DisplayOptions()).refusal


def _source(config: Config, name: str, remote: bool = False) -> str:
    return FILE if name in config.given else _REMOTE if remote else DEFAULT


def _theme_source(environ: Mapping[str, str], config: Config, theme: str) -> str:
    if not environ.get("TEXTUAL_THEME") and not config.theme:
        return DEFAULT
    if theme == PLAIN_THEME and PLAIN_THEME not in (environ.get("TEXTUAL_THEME"), config.theme):
        return "NO_COLOR" if environ.get("NO_COLOR") else "a terminal of 16 colours"
    return "TEXTUAL_THEME" if environ.get("TEXTUAL_THEME") else FILE


def _ascii_source(environ: Mapping[str, str], config: Config, display: Display) -> str:
    if config.ascii or not display.ascii_only:
        return _source(config, "ascii")
    if plan_display({**environ, "TERM": "xterm"}, _TTYS, DisplayOptions()).ascii_only:
        return next(name for name in ("LC_ALL", "LC_CTYPE", "LANG") if environ.get(name))
    return f"TERM={environ['TERM']}"


def _fps_source(environ: Mapping[str, str], config: Config, display: Display) -> str:
    return "TEXTUAL_FPS" if environ.get("TEXTUAL_FPS") else _source(config, "fps", display.remote)
