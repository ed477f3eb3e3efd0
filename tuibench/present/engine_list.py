"""The list of engines: a table for the shell and the screen, JSON, and the words of an installation's progress."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tuibench.core.engine import REGISTRY, entry_of, with_version
from tuibench.core.engine_state import (
    AVAILABLE,
    BESIDE,
    DAMAGED,
    DOWNLOAD,
    IMPOSSIBLE,
    INSTALL,
    INSTALLED,
    MISSING,
    PROBE,
    PYTHON,
    EngineState,
    InstallProgress,
)
from tuibench.core.record import to_plain
from tuibench.core.text import show
from tuibench.core.units import size
from tuibench.present.error.engine import LICENCE_ADDRESSES, TERMS, licence_words
from tuibench.present.reason import reason_words
from tuibench.present.table import NONE, Column, as_text, table_lines, wrap_lines

SCHEMA = 1
_STATES = {
    INSTALLED: "installed",
    BESIDE: "installed with tuibench",
    AVAILABLE: "can be installed",
    DAMAGED: "damaged: install it again",
    MISSING: "not installed",
    IMPOSSIBLE: "not possible",
}
_SAME_RELEASE = "the release that is installed with tuibench, too"
_STAGES = {
    PYTHON: "looking for a Python",
    DOWNLOAD: "downloading",
    INSTALL: "installing",
    PROBE: "running a small model",
}


def state_of(engine: EngineState) -> str:
    """Return an engine's state in words, with its cause."""
    words = _STATES.get(engine.state, show(engine.state, 20))
    if engine.why is not None:
        words += f": {reason_words(engine.why)}"
    return f"{words}, licence to accept" if engine.licence and engine.is_installable else words


def size_of(engine: EngineState) -> str:
    """Return an engine's size on disk; with a tilde if it is only expected."""
    if not engine.size_bytes:
        return NONE
    return ("" if engine.state == INSTALLED else "~") + size(engine.size_bytes)


COLUMNS: tuple[Column[EngineState], ...] = (
    Column("id", "engine", 18, lambda one: show(one.id, 60), head="ENGINE"),
    Column("release", "release", 10, lambda one: show(one.release, 20) or NONE, head="RELEASE"),
    Column("python", "Python", 7, lambda one: show(one.python, 20) or NONE, head="PYTHON", rank=2),
    Column("size", "size", 8, size_of, right=True, head="SIZE", rank=1),
    Column("state", "state", 39, state_of, least=39, head="STATE", grow=True, wide=60),
)


def engine_table(engines: Sequence[EngineState], width: int | None, ascii_only: bool) -> str:
    """Return the list of engines, what each is for, and the commands that install those that are missing."""
    lines = table_lines(COLUMNS, engines, width)
    purposes = filter(None, dict.fromkeys(purpose_words(one.id) for one in engines))
    commands = dict.fromkeys(one.command for one in engines if one.command)
    others = [f"{one.name}@RELEASE from {one.lowest_release}" for one in REGISTRY.values() if one.lowest_release]
    further = f"Further releases get a Python environment of their own: {', '.join(others)}."
    return as_text([*lines, "", *wrap_lines(purposes, width), "", *commands, *wrap_lines([further], width)], ascii_only)


def engines_json(engines: Sequence[EngineState]) -> str:
    """Return the list of engines as JSON."""
    plain = [
        to_plain(one)
        | {"why": reason_words(one.why), "licence": licence_words(one.licence) if one.licence else ""}
        | {"purpose": entry.purpose if (entry := entry_of(one.id)) is not None else ""}
        for one in engines
    ]
    return json.dumps({"schema": SCHEMA, "engines": plain}, indent=2, ensure_ascii=True) + "\n"


def purpose_words(engine_id: str) -> str:
    """Return the name of an engine and what it is for; '' if that is not declared."""
    entry = entry_of(engine_id)
    return f"{entry.name}: {entry.purpose}" if entry is not None and entry.purpose else ""


def install_question(engine: EngineState) -> str:
    """Return the question before an installation, for one line."""
    about = f", about {size(engine.size_bytes)}" if engine.size_bytes else ""
    again = f", {_SAME_RELEASE}" if engine.is_beside else ""
    return f"Install {show(engine.id, 40)}{about}{again}?"


def disturbance_words(holder: str) -> str:
    """Return the warning that an action on engines takes cores from a measurement; `holder` is who measures."""
    return f"this machine is measuring ({holder}), and this command disturbs it"


def disturbance_question(holder: str) -> str:
    """Return the same as a question, for one line."""
    return f"Disturbs a measurement: {holder}"


def removal_question(engine: EngineState) -> str:
    """Return the question before a removal, for one line."""
    about = f", {size(engine.size_bytes)}" if engine.size_bytes else ""
    return f"Remove {show(with_version(engine.id, engine.release), 60)}{about}?"


def removed_words(engine_id: str, size_bytes: int) -> str:
    """Return the result of a removal."""
    return f"removed {show(engine_id, 60)}: {size(size_bytes)}"


def licence_question(engine: EngineState) -> str:
    """Return the question for a licence, for one line."""
    return f"Licence: {TERMS.get(engine.licence, show(engine.licence, 40))}"


def offer_words(engine: EngineState) -> str:
    """Return what an installation would take: size and licence; '' if nothing is known."""
    parts = [f"about {size(engine.size_bytes)} on disk" if engine.size_bytes else ""]
    parts += [_SAME_RELEASE] if engine.is_beside else []
    parts += licence_lines(engine.licence) if engine.licence else []
    return "; ".join(filter(None, parts))


def licence_lines(code: str) -> list[str]:
    """Return the name of a licence with what it permits, and where to read it if that is known."""
    address = LICENCE_ADDRESSES.get(code)
    return [licence_words(code), *([f"read it at {address}"] if address else [])]


def progress_words(progress: InstallProgress) -> str:
    """Return the present step of an installation."""
    if progress.stage == PYTHON and progress.what:
        return f"asking the package index for {show(progress.what, 60)}"
    count = f" {progress.done} of {progress.total}" if progress.total else ""
    what = f": {show(progress.what, 60)}" if progress.what else ""
    return f"{_STAGES.get(progress.stage, show(progress.stage, 20))}{count}{what}"


def installed_words(engine_id: str, python: str, size_bytes: int) -> str:
    """Return the result of an installation."""
    return f"installed {show(engine_id, 60)} for Python {show(python, 20)}: {size(size_bytes)}"
