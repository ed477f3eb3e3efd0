"""Engines by name; nothing here imports an engine's package."""

from __future__ import annotations

import importlib
import re
from typing import cast

from tuibench.core.engine import REGISTRY, EngineEntry, entry_of, offered, split_id, timed
from tuibench.core.errors import EngineError, UsageError
from tuibench.engines.protocol import Capabilities, Engine, LayerTimer

_RELEASE = re.compile(r"\d{1,5}(\.\d{1,5}){1,3}((a|b|rc|\.?post|\.?dev)\d{1,8}){0,3}(\+[a-z0-9.]{1,12})?", re.ASCII)


def check(engine_id: str) -> None:
    """Raise UsageError for an engine or a release that this version does not run, EngineError for an unknown name."""
    name, release = split_id(engine_id)
    entry = entry_of(name)
    if entry is None:
        raise EngineError("unknown_engine", engine=name, names=offered())
    if not release and "@" not in engine_id:
        return
    if not entry.lowest_release and not entry.own_release:
        raise UsageError("engine_has_no_releases", engine=name, given=engine_id)
    if not _RELEASE.fullmatch(release):
        raise UsageError("not_a_release", engine=name, given=engine_id)
    if not entry.lowest_release and release != entry.own_release:
        raise UsageError("only_one_release", engine=name, release=release, only=entry.own_release)
    if _order(release) < _order(entry.lowest_release):
        raise UsageError("release_too_old", engine=name, release=release, lowest=entry.lowest_release)


def _order(release: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", release.partition("+")[0])[:3]]


def check_timed(engine_id: str) -> None:
    """Raise for an unknown engine, and for one that cannot time each layer."""
    check(engine_id)
    name, release = split_id(engine_id)
    if name not in timed(hidden=True):
        raise EngineError("engine_without_layer_times", engine=name, names=timed())
    if release and release != REGISTRY[name].own_release:
        raise EngineError("release_without_layer_times", engine=name, release=release)


def runs_ours(engine_id: str) -> bool:
    """Return whether generated models run with an engine: roofs, zeros, converted and changed layers."""
    check(engine_id)
    name, release = split_id(engine_id)
    return name in REGISTRY and REGISTRY[name].runs_ours and not release


def imposes_zeros(engine_id: str) -> bool:
    """Return whether an engine can measure a model as if its weights had more zeros."""
    entry = entry_of(engine_id)
    return entry is not None and entry.imposes_zeros


def make(engine_id: str) -> Engine:
    """Return an engine; only its `start` imports its package, from the interpreter that it is made in."""
    check(engine_id)
    return cast(Engine, importlib.import_module(cast(EngineEntry, entry_of(engine_id)).module).make())


def make_timer(engine_id: str) -> LayerTimer:
    """Return the layer timer of an engine; call it only in child processes, because it imports model readers."""
    check_timed(engine_id)
    return cast(LayerTimer, importlib.import_module(REGISTRY[split_id(engine_id)[0]].layer_timer).make_timer())


def capabilities(engine_id: str) -> Capabilities:
    """Return the capabilities of an engine without importing its package."""
    return make(engine_id).capabilities
