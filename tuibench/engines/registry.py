"""Finds engines by name without importing any of them, so that asking what exists costs nothing."""

from __future__ import annotations

import importlib
from typing import cast

from tuibench.core.engine import REGISTRY, names, timed
from tuibench.core.errors import EngineError, UsageError
from tuibench.core.text import show
from tuibench.engines.layer_timer import LayerTimer
from tuibench.engines.protocol import Capabilities, Engine


def check(name: str) -> None:
    """Raise UsageError for an engine of a later version and EngineError for an unknown name."""
    entry = REGISTRY.get(name)
    if entry is not None and not entry.module:
        raise UsageError(f"engine {name} is not in this version", f"engines here: {', '.join(names())}")
    if entry is None:
        raise EngineError(f"unknown engine '{show(name, 40)}'", f"engines here: {', '.join(names())}")


def check_timed(name: str) -> None:
    """Raise for what is no engine, and for one that does not tell how long each layer takes."""
    check(name)
    if not REGISTRY[name].layer_timer:
        raise EngineError(f"{name} does not tell how long each layer takes", f"-e {', '.join(timed())} makes profiles")


def runs_ours(name: str) -> bool:
    """Whether models of our own are run with `name`: roofs, zeros, layers in another form, changed layers."""
    check(name)
    return REGISTRY[name].runs_ours


def make(name: str) -> Engine:
    """The engine called `name`; its own package is imported only by its `start`."""
    check(name)
    return cast(Engine, importlib.import_module(REGISTRY[name].module).make())


def make_timer(name: str) -> LayerTimer:
    """What times layers with the engine called `name`; this imports what reads models, so only children ask."""
    check_timed(name)
    return cast(LayerTimer, importlib.import_module(REGISTRY[name].layer_timer).make_timer())


def capabilities(name: str) -> Capabilities:
    """What `name` can do, without importing its package."""
    return make(name).capabilities
