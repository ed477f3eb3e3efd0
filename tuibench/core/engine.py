"""Engines: what executes a model. Each is declared here once; `engines/registry.py` makes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EngineEntry:
    """One engine, known without importing any part of it."""

    name: str
    short: str
    """For narrow columns."""
    module: str = ""
    """Its `make()` builds the engine, and its `CAPABILITIES` tell what it can do; '' for a planned engine."""
    layer_timer: str = ""
    """Module whose `make_timer()` times layers; '' where the engine does not tell them apart. For children only."""
    runs_ours: bool = False
    """Whether it runs models that we make: roofs, the effect of zeros, layers in another form, changed layers."""
    hidden: bool = False
    """Ships for tests and screenshots; not offered."""


REGISTRY: dict[str, EngineEntry] = {
    one.name: one
    for one in (
        EngineEntry("onnxruntime", "ort", "tuibench.engines.onnxruntime", "tuibench.profiles.layers", runs_ours=True),
        EngineEntry("openvino", "ov", "tuibench.engines.openvino"),
        EngineEntry("fake", "fake", "tuibench.engines.fake", "tuibench.profiles.scripted", hidden=True),
        EngineEntry("deepsparse", "ds"),
        EngineEntry("executor", "executor"),
        EngineEntry("torch", "torch"),
        EngineEntry("tract", "tract"),
    )
}
"""Name to engine, in the order in which they are offered."""

DEFAULT = "onnxruntime"
"""Measured where no engine is asked for; also makes the reference outputs."""


def names(*, hidden: bool = False) -> tuple[str, ...]:
    """Return the engines of this version."""
    return tuple(one.name for one in REGISTRY.values() if one.module and (hidden or not one.hidden))


def timed(*, hidden: bool = False) -> tuple[str, ...]:
    """Return the engines that tell how long each layer takes."""
    return tuple(name for name in names(hidden=hidden) if REGISTRY[name].layer_timer)


def short_names(engines: Iterable[str]) -> str:
    """Return engines for a narrow column: ort|ov."""
    return "|".join(REGISTRY[name].short if name in REGISTRY else name for name in engines)
