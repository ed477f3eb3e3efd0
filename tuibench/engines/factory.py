"""Engines by name; nothing here imports an engine's package."""

from __future__ import annotations

import importlib
from typing import cast

from tuibench.core.engine import REGISTRY, names, timed
from tuibench.core.errors import EngineError, UsageError
from tuibench.engines.protocol import Capabilities, Engine, LayerTimer


def check(name: str) -> None:
    """Raise UsageError for an engine of a later version and EngineError for an unknown name."""
    entry = REGISTRY.get(name)
    if entry is not None and not entry.module:
        raise UsageError("engine_unsupported", engine=name, names=names())
    if entry is None:
        raise EngineError("unknown_engine", engine=name, names=names())


def check_timed(name: str) -> None:
    """Raise for an unknown engine, and for one that cannot time each layer."""
    check(name)
    if not REGISTRY[name].layer_timer:
        raise EngineError("engine_without_layer_times", engine=name, names=timed())


def runs_ours(name: str) -> bool:
    """Return whether generated models run with `name`: roofs, zeros, converted and changed layers."""
    check(name)
    return REGISTRY[name].runs_ours


def make(name: str) -> Engine:
    """Return the engine called `name`; only its `start` imports its package."""
    check(name)
    return cast(Engine, importlib.import_module(REGISTRY[name].module).make())


def make_timer(name: str) -> LayerTimer:
    """Return the layer timer of an engine; call it only in child processes, because it imports model readers."""
    check_timed(name)
    return cast(LayerTimer, importlib.import_module(REGISTRY[name].layer_timer).make_timer())


def capabilities(name: str) -> Capabilities:
    """Return the capabilities of `name` without importing its package."""
    return make(name).capabilities
