"""Layer times of the scripted engine: every node is its own layer and nothing runs."""

from __future__ import annotations

from tuibench.core.profile import LAYER, KernelRow, LayerRun
from tuibench.engines.fake import FakeEngine, make
from tuibench.engines.protocol import LayerOrder, Tell
from tuibench.host.noise import Witness
from tuibench.model.graph import Placed, walk
from tuibench.model.profile.layers import open_timed, setting_for

_USUAL_US = 10.0
_PROFILED = 1.1
"""Profiled time per second of unprofiled time that the script pretends."""


def make_timer() -> ScriptedTimer:
    """Create the timer with the script from the environment, for the registry."""
    return ScriptedTimer(make())


class ScriptedTimer:
    """Returns scripted times at once, by node id or operator."""

    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine

    def time_layers(self, order: LayerOrder, tell: Tell) -> LayerRun:
        """Return a row per node; loading fails just as it would in a benchmark."""
        model, _ = open_timed(order)
        setting = setting_for(order.path, order.cpus, order.threads, order.work_dir)
        version = self._engine.start()
        witness = Witness(order.cpus)
        witness.start()
        tell("loading", 0, 1)
        self._engine.load(setting).close()
        layer_us = self._engine.layers_us(setting)
        tell("profiling", 0, order.runs)
        rows = tuple(_row(placed, layer_us) for placed in walk(model.graph))
        witness.mark()
        tell("timing", order.runs, order.runs)
        whole_us = sum(row.us for row in rows)
        return LayerRun(
            rows=rows,
            unprofiled_us=whole_us,
            profiled_us=_PROFILED * whole_us,
            bias_us=0.0,
            runs=order.runs,
            unprofiled_runs=order.runs,
            kernels=len(rows),
            load_ms=1.0,
            first_ms=whole_us / 1000,
            peak_bytes=None,
            noise=witness.finish(),
            engine_version=version,
            threads=order.threads,
            cpus=order.cpus,
            precision=setting.precision,
        )


def _row(placed: Placed, layer_us: dict[str, float]) -> KernelRow:
    us = layer_us.get(placed.id, layer_us.get(placed.op, _USUAL_US))
    name = placed.node.name or placed.id
    return KernelRow(placed.id, LAYER, placed.op, (placed.id,), (name,), placed.op, us, us, calls=float(us > 0))
