"""States of engines on this machine: beside tuibench, installed, half made, installable, or why not."""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from tuibench.core import engine
from tuibench.core.engine_state import AVAILABLE, BESIDE, DAMAGED, IMPOSSIBLE, INSTALLED, MISSING, EngineState
from tuibench.core.reason import because
from tuibench.engines.installation import Installation, find_installation, list_installations, lock_installation
from tuibench.engines.recipes import Recipe, find_recipe
from tuibench.host.facts import read_versions
from tuibench.services.interpreters import find_interpreters

HasPython = Callable[[str], bool]


def list_states(root: Path, *, hidden: bool) -> tuple[EngineState, ...]:
    """Return every engine of this version and every installed release; try interpreters, import no engine."""
    installed = {one.id: one for one in list_installations(root)}
    half, has_python = _half_made(root), functools.cache(_has_python)
    found: list[EngineState] = []
    for name in engine.offered(hidden=hidden):
        own = find_recipe(name)
        ids = sorted(one for one in {*installed, *half} if engine.split_id(one)[0] == name)
        if own is None:
            found.append(_beside(name))
        elif own.id not in ids:
            found.append(_missing(name, own, False, has_python))
        for one in ids:
            shown = name if own is not None and own.id == one else one
            if one in installed:
                found.append(_installed(shown, installed[one]))
            else:
                found.append(_missing(shown, half[one], True, has_python))
    return tuple(found)


def find_state(root: Path, recipe: Recipe) -> EngineState:
    """Return the state of one engine with an interpreter of its own."""
    found = find_installation(root, recipe.id)
    if found is not None:
        return _installed(recipe.id, found)
    return _missing(recipe.id, recipe, recipe.id in _half_made(root), _has_python)


def _half_made(root: Path) -> dict[str, Recipe]:
    """Return the recipes whose directory exists but cannot be used."""
    try:
        names = os.listdir(root)
    except OSError:
        return {}  # nothing was installed
    ids = {name.removesuffix(".new") for name in names if "@" in name and (root / name).is_dir()}
    found = {one: recipe for one in ids if (recipe := find_recipe(one)) is not None}
    return {one: found[one] for one in found if _is_left(root, one)}


def _is_left(root: Path, engine_id: str) -> bool:
    """Return whether an installation is neither complete nor being made."""
    if find_installation(root, engine_id) is not None:
        return False
    try:
        lock = lock_installation(root, engine_id, alone=False)
    except OSError:
        return True  # nobody can install into a directory that cannot be written to
    if lock is not None:
        os.close(lock)
    return lock is not None


def _beside(name: str) -> EngineState:
    entry = engine.entry_of(name)
    package = entry.package if entry is not None else name
    version = read_versions([package])[package] or ""
    if version:
        return EngineState(name, BESIDE, version)
    return EngineState(name, MISSING, "", command=engine.install_command(name))


def _installed(name: str, found: Installation) -> EngineState:
    return EngineState(name, INSTALLED, engine.split_id(found.id)[1], found.size_bytes, found.python)


def _missing(name: str, recipe: Recipe, is_half_made: bool, has_python: HasPython) -> EngineState:
    """Return the state of an engine that is not installed, or only half."""
    why, command = None, engine.install_command(name)
    if recipe.machine and os.uname().machine != recipe.machine:
        why, command = because("only_for_machine", machine=os.uname().machine, wanted=recipe.machine), ""
    elif not any(map(has_python, recipe.pythons)):
        why, command = because("no_python_for", pythons=recipe.pythons), _python_command(name, recipe)
    base, release = engine.split_id(recipe.id)
    return EngineState(
        name,
        IMPOSSIBLE if why is not None else DAMAGED if is_half_made else AVAILABLE,
        release,
        recipe.size_bytes,
        licence=recipe.licence,
        why=why,
        command=command,
        is_beside=not engine.is_apart(base) and _beside(base).release == release,
    )


def _has_python(series: str) -> bool:
    return next(find_interpreters(series), None) is not None


def _python_command(name: str, recipe: Recipe) -> str:
    """Return the command that installs a Python for an engine, or that names one."""
    for manager in ("uv python", "pyenv"):
        if shutil.which(manager.split()[0]):
            return f"{manager} install {recipe.pythons[0]}"
    return f"{engine.install_command(name)} --python PATH"
