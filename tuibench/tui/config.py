"""The user's config file: how the dashboard looks and which keys do what; what is wrong in it is said, and left out."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tuibench.core.text import show
from tuibench.tui.key import clashes

NAME = "config.toml"
_KINDS: dict[str, type] = {"theme": str, "ascii": bool, "mouse": bool, "bell": bool, "fps": int}


@dataclass(frozen=True, slots=True)
class Config:
    """What the file says; None and '' leave it to the terminal."""

    theme: str = ""
    ascii: bool = False
    mouse: bool | None = None
    bell: bool = True
    """One bell when a run ends."""
    fps: int | None = None
    keys: Mapping[str, str] = field(default_factory=dict)
    """Id of an action to its keys, joined by commas."""
    problems: tuple[str, ...] = ()
    """What is wrong in the file, safe to print."""


def read_config(path: Path) -> Config:
    """What is there; without a file nothing is said."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Config()
    except OSError as error:
        return Config(problems=(f"{show(str(path))}: {error.strerror}",))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        return Config(problems=(f"{show(str(path))}: {show(str(error))}",))
    return _check(found, show(str(path)))


def _check(found: Mapping[str, Any], name: str) -> Config:
    problems: list[str] = []
    values: dict[str, Any] = {}
    problems += [
        f"{name}: there is no [{show(section, 40)}]; there are [dashboard] and [keys]"
        for section in found
        if section not in ("dashboard", "keys") or not isinstance(found[section], dict)
    ]
    for key, value in _section(found, "dashboard").items():
        kind = _KINDS.get(key)
        if kind is None:
            problems.append(f"{name}: there is no {show(key, 40)}; there are {', '.join(_KINDS)}")
        elif type(value) is not kind or (isinstance(value, int) and key == "fps" and not 1 <= value <= 60):
            wanted = {"fps": "a number from 1 to 60", "theme": "a name in quotes"}.get(key, "true or false")
            problems.append(f"{name}: {key} takes {wanted}, not {show(value, 40)}")
        else:
            values[key] = value
    keys = {str(each): value for each, value in _section(found, "keys").items() if isinstance(value, str) and value}
    bad = [each for each in _section(found, "keys") if each not in keys]
    problems += [f'{name}: keys of {show(each, 40)} are written "d" or "d,delete"' for each in bad]
    wrong = clashes(keys)
    problems += [f"{name}: {show(each)}" for each in wrong]
    # Two actions on one key would leave one of them without any.
    return Config(**values, keys={} if wrong else keys, problems=tuple(problems))


def _section(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = found.get(name, {})
    return section if isinstance(section, dict) else {}
