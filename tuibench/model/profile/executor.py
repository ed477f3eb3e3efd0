"""Layer times of the Executor, whose kernels merge most nodes of a BERT."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import onnx

from tuibench.core.engine import entry_of
from tuibench.core.errors import EngineError
from tuibench.core.profile import LayerRun
from tuibench.engines.protocol import LayerJob, LayerOrder, Tell
from tuibench.model.adaptation import write_copy
from tuibench.model.profile.apart import call_apart
from tuibench.model.profile.deepsparse import Layer, map_layers, to_run
from tuibench.model.profile.events import Flat
from tuibench.model.profile.layers import open_timed, setting_for

_FUNCTION = "tuibench.engines.executor_layers:time_layers"
_COPY, _LOG = "copy.onnx", "executor.log"


def make_timer() -> ExecutorTimer:
    """Create the Executor's layer timer, for the registry."""
    return ExecutorTimer()


class ExecutorTimer:
    """Times layers in the Executor's interpreter, on a copy of the model."""

    def time_layers(self, order: LayerOrder, tell: Tell) -> LayerRun:
        """Profile a model in a process of its own; the copy is deleted afterwards."""
        model, bundle = open_timed(order)
        entry = entry_of("executor")
        if entry is None or entry.model_form is None or not order.interpreter:
            raise EngineError("engine_apart_missing", engine="executor", command="tuibench engines install executor")
        work = Path(order.work_dir)
        copy = work / _COPY
        try:
            write_copy(order.path, entry.model_form, bundle, copy)
            setting = setting_for(str(copy), order.cpus, order.threads, order.work_dir)
            job = LayerJob("executor", _FUNCTION, setting, bundle, order.runs, order.max_s, str(work / _LOG))
            found = call_apart(order.interpreter, job, tell)
            changed = Flat(onnx.load(copy, load_external_data=False).graph)
        finally:
            for path in work.glob(f"{_COPY}*"):
                path.unlink(missing_ok=True)
        whole = found["whole"] | {name: found[name] for name in ("noise", "version")}
        outputs = {one.node.name: one.node.output[0] for one in changed.nodes if one.node.name and one.node.output}
        layers = [_layer(one, outputs) for one in found["layers"]]
        return to_run(order, whole, found, map_layers(Flat(model.graph), changed, layers, True, to_reader=True))


def _layer(found: Mapping[str, object], outputs: Mapping[str, str]) -> Layer:
    """Return a kernel with the tensors that it makes; it has the name of a node if its own output is none of them."""
    name, tensors = str(found["name"]), found["tensors"]
    made = [str(one) for one in tensors] if isinstance(tensors, list) else []
    own = outputs.get(name)
    return Layer(
        name, tuple(dict.fromkeys([*made, *([own] if own else [])])), float(str(found["us"])), str(found["kernel"])
    )
