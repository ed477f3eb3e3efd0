"""Engines, which execute models. Each is declared here once; `engines/factory.py` makes them."""

from __future__ import annotations

from collections.abc import Iterable

from tuibench.core.value import dataclass


@dataclass(frozen=True, slots=True)
class EngineEntry:
    """One engine, described without importing it."""

    name: str
    short: str
    """Name in narrow columns."""
    package: str = ""
    """Name of its package, for its version and for the hint if it is missing."""
    extra: str = ""
    """The extra of tuibench that installs the package; '' if tuibench itself requires it."""
    module: str = ""
    """Module with `make()`, which builds the engine, and `CAPABILITIES`; '' for a planned engine."""
    layer_timer: str = ""
    """Module whose `make_timer()` times layers, imported in child processes only; '' if the engine cannot."""
    runs_ours: bool = False
    """True if it runs models made by tuibench: roofs, the effect of zeros, INT8 forms and changed layers."""
    hidden: bool = False
    """True for the engine for tests and screenshots, which is not offered."""

    @property
    def install_command(self) -> str:
        """The command that installs its package."""
        return f"pip install 'tuibench[{self.extra}]'" if self.extra else f"pip install {self.package}"


REGISTRY: dict[str, EngineEntry] = {
    one.name: one
    for one in (
        EngineEntry(
            "onnxruntime",
            "ort",
            package="onnxruntime",
            module="tuibench.engines.onnxruntime",
            layer_timer="tuibench.model.profile.layers",
            runs_ours=True,
        ),
        EngineEntry("openvino", "ov", package="openvino", extra="openvino", module="tuibench.engines.openvino"),
        EngineEntry(
            "fake",
            "fake",
            package="tuibench",
            module="tuibench.engines.fake",
            layer_timer="tuibench.model.profile.scripted",
            hidden=True,
        ),
        EngineEntry("deepsparse", "ds", package="deepsparse"),
        EngineEntry("executor", "executor"),
        EngineEntry("torch", "torch", package="torch"),
        EngineEntry("tract", "tract", package="tract"),
    )
}
"""Engines by name, in the order in which they are offered."""

IO_CLASSES = ("bound", "engine-allocated", "call")
"""Ordered from least to most work inside the timed call; see docs/architecture.md."""

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
