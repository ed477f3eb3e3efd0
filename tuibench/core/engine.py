"""Engines, which execute models. Each is declared here once; `engines/registry.py` makes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EngineEntry:
    """One engine, described without importing it."""

    name: str
    short: str
    """Name in narrow columns."""
    module: str = ""
    """Module with `make()`, which builds the engine, and `CAPABILITIES`; '' for a planned engine."""
    layer_timer: str = ""
    """Module whose `make_timer()` times layers, imported in child processes only; '' if the engine cannot."""
    runs_ours: bool = False
    """True if it runs models made by tuibench: roofs, the effect of zeros, INT8 forms and changed layers."""
    hidden: bool = False
    """True for the engine for tests and screenshots, which is not offered."""


REGISTRY: dict[str, EngineEntry] = {
    one.name: one
    for one in (
        EngineEntry(
            "onnxruntime", "ort", "tuibench.engines.onnxruntime", "tuibench.model.profile.layers", runs_ours=True
        ),
        EngineEntry("openvino", "ov", "tuibench.engines.openvino"),
        EngineEntry("fake", "fake", "tuibench.engines.fake", "tuibench.model.profile.scripted", hidden=True),
        EngineEntry("deepsparse", "ds"),
        EngineEntry("executor", "executor"),
        EngineEntry("torch", "torch"),
        EngineEntry("tract", "tract"),
    )
}
"""Engines by name, in the order in which they are offered."""

DEFAULT = "onnxruntime"
"""The default engine; also computes the reference outputs."""


def names(*, hidden: bool = False) -> tuple[str, ...]:
    """Return the engines of this version."""
    return tuple(one.name for one in REGISTRY.values() if one.module and (hidden or not one.hidden))


def timed(*, hidden: bool = False) -> tuple[str, ...]:
    """Return the engines that can time each layer."""
    return tuple(name for name in names(hidden=hidden) if REGISTRY[name].layer_timer)


def short_names(engines: Iterable[str]) -> str:
    """Return the names of engines for a narrow column: ort|ov."""
    return "|".join(REGISTRY[name].short if name in REGISTRY else name for name in engines)
