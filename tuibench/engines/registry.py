"""Finds engines by name without importing any of them, so that asking what exists costs nothing."""

from __future__ import annotations

import importlib
from typing import cast

from tuibench.core.errors import EngineError, UsageError
from tuibench.core.text import show
from tuibench.engines.protocol import Capabilities, Engine

_MODULES = {
    "onnxruntime": "tuibench.engines.onnxruntime",
    "openvino": "tuibench.engines.openvino",
    "fake": "tuibench.engines.fake",
}
_LATER = ("deepsparse", "executor", "torch", "tract")
_HIDDEN = ("fake",)
"""Ships for tests and screenshots; named only by those who know it."""


def names(*, hidden: bool = False) -> tuple[str, ...]:
    """The engines of this version, in the order they are offered."""
    return tuple(name for name in _MODULES if hidden or name not in _HIDDEN)


def check(name: str) -> None:
    """Raise UsageError where `name` is an engine of a later version, EngineError where it is none at all."""
    if name in _LATER:
        raise UsageError(f"engine {name} is not in this version", f"engines here: {', '.join(names())}")
    if name not in _MODULES:
        raise EngineError(f"unknown engine '{show(name, 40)}'", f"engines here: {', '.join(names())}")


def make(name: str) -> Engine:
    """The engine called `name`; its own package is imported only by its `start`."""
    check(name)
    return cast(Engine, importlib.import_module(_MODULES[name]).make())


def capabilities(name: str) -> Capabilities:
    """What `name` can do, without importing its package."""
    return make(name).capabilities
