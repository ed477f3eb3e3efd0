"""Layer times of the Executor, whose kernels merge most nodes of a BERT."""

from __future__ import annotations

from collections.abc import Mapping

from tuibench.core.profile import LayerRun
from tuibench.engines.protocol import LayerOrder, Tell
from tuibench.model.profile.apart import copied_model
from tuibench.model.profile.deepsparse import Layer, map_layers, to_run

_FUNCTION = "tuibench.engines.executor_layers:time_layers"


def make_timer() -> ExecutorTimer:
    """Create the Executor's layer timer, for the registry."""
    return ExecutorTimer()


class ExecutorTimer:
    """Times layers in the Executor's interpreter, on a copy of the model."""

    def time_layers(self, order: LayerOrder, tell: Tell) -> LayerRun:
        """Profile a model in a process of its own."""
        with copied_model(order, "executor") as copied:
            found = copied.call(_FUNCTION, tell)
        whole = found["whole"] | {name: found[name] for name in ("noise", "version")}
        nodes = copied.copy.nodes
        outputs = {one.node.name: one.node.output[0] for one in nodes if one.node.name and one.node.output}
        layers = [_layer(one, outputs) for one in found["layers"]]
        rows = map_layers(copied.original, copied.copy, layers, True, to_reader=True)
        return to_run(order, whole, found, rows)


def _layer(found: Mapping[str, object], outputs: Mapping[str, str]) -> Layer:
    """Return a kernel with the tensors that it makes; it has the name of a node if its own output is none of them."""
    name, tensors = str(found["name"]), found["tensors"]
    made = [str(one) for one in tensors] if isinstance(tensors, list) else []
    own = outputs.get(name)
    return Layer(
        name, tuple(dict.fromkeys([*made, *([own] if own else [])])), float(str(found["us"])), str(found["kernel"])
    )
