"""Engines that are installed in an interpreter of their own: where they are, and what an installation holds."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import field
from pathlib import Path

from tuibench.core.engine import full_id, install_command, is_apart
from tuibench.core.errors import EngineError
from tuibench.core.record import from_plain
from tuibench.core.value import dataclass

RECORD = "installed.json"
"""Written last: a directory without it is half made and never used."""
_INTERPRETER = Path("venv", "bin", "python")


@dataclass(frozen=True, slots=True)
class Installation:
    """One installed release of an engine, as its record holds it."""

    id: str
    """Name and release."""
    python: str
    """Version of the interpreter that the virtual environment was made with."""
    packages: dict[str, str] = field(default_factory=dict)
    """Version of each package by its name."""
    hashes: dict[str, str] = field(default_factory=dict)
    """The sha256 of each installed file by its file name."""
    size_bytes: int = 0
    installed_utc: str = ""


def place_of(root: Path, engine_id: str) -> Path:
    """Return the directory of an engine's installation, which need not exist."""
    return root / full_id(engine_id)


def interpreter_of(root: Path, engine_id: str) -> Path:
    """Return the Python of an installation."""
    return place_of(root, engine_id) / _INTERPRETER


def find_installation(root: Path, engine_id: str) -> Installation | None:
    """Return an engine's installation; None if there is none, or only a half-made or damaged one."""
    try:
        record = json.loads((place_of(root, engine_id) / RECORD).read_bytes())
        found = from_plain(Installation, record)
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return found if found.id == full_id(engine_id) and os.access(interpreter_of(root, engine_id), os.X_OK) else None


def list_installations(root: Path) -> list[Installation]:
    """Return all usable installations by their ids."""
    try:
        names = sorted(os.listdir(root))
    except OSError:
        return []  # nothing is installed
    found = (find_installation(root, name) for name in names if "@" in name)
    return [one for one in found if one is not None]


def require_interpreters(root: Path, engine_ids: Iterable[str]) -> dict[str, str]:
    """Return the interpreter of each engine that has its own; raise EngineError if one is not installed."""
    interpreters = {}
    for engine_id in engine_ids:
        if not is_apart(engine_id):
            continue
        if find_installation(root, engine_id) is None:
            raise EngineError("engine_apart_missing", engine=engine_id, command=install_command(engine_id))
        interpreters[engine_id] = str(interpreter_of(root, engine_id))
    return interpreters
