"""The user's config file, and the effective display settings with their sources."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tuibench.core.reason import Reason
from tuibench.core.text import show
from tuibench.services.state_file import read_small
from tuibench.tui.key import clashes, spelled
from tuibench.tui.terminal import PLAIN_THEME, Display, DisplayOptions, plan_display

NAME = "config.toml"
_SECTIONS = ("dashboard", "keys")
_KINDS: dict[str, type] = {"theme": str, "ascii": bool, "mouse": bool, "bell": bool, "fps": int}


@dataclass(frozen=True, slots=True)
class Config:
    """Content of the config file; None and '' leave a setting to the terminal."""

    theme: str = ""
    ascii: bool = False
    mouse: bool | None = None
    bell: bool = True
    """True to ring the bell once when a run ends."""
    fps: int | None = None
    keys: Mapping[str, str] = field(default_factory=dict)
    """Action id to its keys in Textual's spelling, joined by commas."""
    given: frozenset[str] = frozenset()
    """Names of the settings present in the file."""
    problems: tuple[str, ...] = ()
    """Errors in the file, without its path; safe to print."""


def read_config(path: Path) -> Config:
    """Read the config file; a missing file is not a problem."""
    try:
        found = tomllib.loads(read_small(path))
    except FileNotFoundError:
        return Config()
    except OSError as error:
        return Config(problems=(str(error.strerror or error),))
    except (ValueError, RecursionError) as error:
        # Not TOML, not UTF-8, or a number or nesting beyond Python's limits.
        return Config(problems=(show(error) or type(error).__name__,))
    return _check(found)


def _check(found: Mapping[str, Any]) -> Config:
    problems: list[str] = []
    values: dict[str, Any] = {}
    for section, value in found.items():
        if section not in _SECTIONS:
            problems.append(f"{show(section, 40)} belongs to no section; there are [dashboard] and [keys]")
        elif not isinstance(value, dict):
            problems.append(f"{section} is a section: it is written [{section}]")
    for key, value in _section(found, "dashboard").items():
        kind = _KINDS.get(key)
        if kind is None:
            problems.append(f"there is no {show(key, 40)}; there are {', '.join(_KINDS)}")
        elif type(value) is not kind or not _is_sensible(key, value):
            wanted = {"fps": "a number from 1 to 60", "theme": "a name in quotes"}.get(key, "true or false")
            problems.append(f"{key} takes {wanted}, not {show(value, 40)}")
        else:
            values[key] = value
    keys = {each: value for each, value in _section(found, "keys").items() if isinstance(value, str) and value.strip()}
    bad = [each for each in _section(found, "keys") if each not in keys]
    problems += [f'keys of {show(each, 40)} are written "d" or "d,delete"' for each in bad]
    wrong = clashes(keys)
    # Append the consequence to the last problem, so that it does not count as one.
    ends = [""] * (len(wrong) - 1) + ["; all of [keys] is ignored until this is fixed"]
    problems += [f"{show(each)}{end}" for each, end in zip(wrong, ends, strict=False)]
    # Two actions on one key would disable one of them, and which one is wanted cannot be guessed.
    own = {} if wrong else {each: ",".join(map(spelled, value.split(","))) for each, value in keys.items()}
    return Config(**values, keys=own, given=frozenset(values), problems=tuple(problems))


def _is_sensible(key: str, value: Any) -> bool:
    if key == "fps":
        return bool(1 <= value <= 60)
    # The theme's name is put into the environment.
    return key != "theme" or value.replace("-", "").replace("_", "").isalnum()


def _section(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = found.get(name, {})
    return section if isinstance(section, dict) else {}


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


def refusal_of(environ: Mapping[str, str]) -> Reason | None:
    """Return the reason why a terminal with this environment cannot show the dashboard; None if it can."""
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
