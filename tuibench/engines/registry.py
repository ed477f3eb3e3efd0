"""Finds engines by name without importing any of them, so that asking what exists costs nothing."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import cast

from tuibench.core.errors import EngineError, UsageError
from tuibench.core.text import show
from tuibench.engines.layer_timer import LayerTimer
from tuibench.engines.protocol import Capabilities, Engine


@dataclass(frozen=True, slots=True)
class Entry:
    """Where an engine's parts are: modules by name, imported once they are needed."""

    module: str
    layer_timer: str = ""
    """Its `make_timer` tells how long each layer takes; '' where the engine does not tell. Only children import it."""
    runs_ours: bool = False
    """Whether it runs models of our own: roofs, the effect of zeros, layers in another form, changed layers."""
    hidden: bool = False
    """Ships for tests and screenshots; named only by those who know it."""


_ENTRIES = {
    "onnxruntime": Entry("tuibench.engines.onnxruntime", "tuibench.profiles.layers", runs_ours=True),
    "openvino": Entry("tuibench.engines.openvino"),
    "fake": Entry("tuibench.engines.fake", "tuibench.profiles.scripted", hidden=True),
}
_LATER = ("deepsparse", "executor", "torch", "tract")


def names(*, hidden: bool = False) -> tuple[str, ...]:
    """The engines of this version, in the order they are offered."""
    return tuple(name for name, entry in _ENTRIES.items() if hidden or not entry.hidden)


def timed(*, hidden: bool = False) -> tuple[str, ...]:
    """Those that tell how long each layer takes."""
    return tuple(name for name in names(hidden=hidden) if _ENTRIES[name].layer_timer)


def check(name: str) -> None:
    """Raise UsageError where `name` is an engine of a later version, EngineError where it is none at all."""
    if name in _LATER:
        raise UsageError(f"engine {name} is not in this version", f"engines here: {', '.join(names())}")
    if name not in _ENTRIES:
        raise EngineError(f"unknown engine '{show(name, 40)}'", f"engines here: {', '.join(names())}")


def check_timed(name: str) -> None:
    """Raise for what is no engine, and for one that does not tell how long each layer takes."""
    check(name)
    if not _ENTRIES[name].layer_timer:
        raise EngineError(f"{name} does not tell how long each layer takes", f"-e {', '.join(timed())} makes profiles")


def runs_ours(name: str) -> bool:
    """Whether models of our own are run with `name`: roofs, zeros, layers in another form, changed layers."""
    check(name)
    return _ENTRIES[name].runs_ours


def make(name: str) -> Engine:
    """The engine called `name`; its own package is imported only by its `start`."""
    check(name)
    return cast(Engine, importlib.import_module(_ENTRIES[name].module).make())


def make_timer(name: str) -> LayerTimer:
    """What times layers with the engine called `name`; this imports what reads models, so only children ask."""
    check_timed(name)
    return cast(LayerTimer, importlib.import_module(_ENTRIES[name].layer_timer).make_timer())


def capabilities(name: str) -> Capabilities:
    """What `name` can do, without importing its package."""
    return make(name).capabilities
