"""Engines that are installed in an interpreter of their own: where they are, and what an installation holds."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path

from tuibench.core.engine import full_id, install_command, is_apart
from tuibench.core.errors import EngineError
from tuibench.core.record import from_plain
from tuibench.core.value import dataclass

RECORD = "installed.json"
"""Written last: a directory without it is half made and never used."""
_INTERPRETER = Path("venv", "bin", "python")
_NEW = ".new"
_LOCK = ".lock"


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


def new_place_of(root: Path, engine_id: str) -> Path:
    """Return the directory in which an installation is made before it is renamed."""
    return root / f"{full_id(engine_id)}{_NEW}"


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
            code = "engine_apart_damaged" if place_of(root, engine_id).exists() else "engine_apart_missing"
            raise EngineError(code, engine=engine_id, command=install_command(engine_id))
        interpreters[engine_id] = str(interpreter_of(root, engine_id))
    return interpreters


def lock_installation(root: Path, engine_id: str, *, alone: bool) -> int | None:
    """Lock an installation until the descriptor is closed; return None if another process has it.

    Runs share the lock; whoever installs or removes holds it `alone`. The file of the lock is never removed.
    """
    path = root / f"{full_id(engine_id)}{_LOCK}"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def installations_held(root: Path, engine_ids: Iterable[str]) -> Iterator[None]:
    """Keep the installations of these engines from being removed; raise EngineError if one is being changed."""
    held: list[int] = []
    try:
        for engine_id in sorted({full_id(one) for one in engine_ids if is_apart(one)}):
            if find_installation(root, engine_id) is None:
                continue  # the run says which engine is missing
            try:
                lock = lock_installation(root, engine_id, alone=False)
            except OSError:
                continue  # a directory that nobody can write to is not removed either
            if lock is None:
                raise EngineError("engine_being_changed", engine=engine_id)
            held.append(lock)
        yield
    finally:
        for lock in held:
            os.close(lock)
