"""The nodes of one row as a model of their own, with values for everything they read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper, version_converter

from tuibench.engines.onnxruntime import make_options
from tuibench.engines.protocol import Setting
from tuibench.engines.wording import plain_words

Array = np.ndarray[Any, Any]
_NAME = "simple.onnx"
_LEAST_OPSET, _RAISED = 10, 13
"""The first opset with integer products, and one with per-channel scales."""


class NotAlone(Exception):
    """A row cannot run by itself or lacks the wanted form; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Form:
    """A model of a few nodes and its inputs."""

    model: bytes
    feed: dict[str, Array]


@dataclass(frozen=True, slots=True)
class Cut:
    """Nodes in model order, the values they read from outside, and the names of the outputs that others read."""

    nodes: Sequence[onnx.NodeProto]
    constants: Mapping[str, Array]
    fed: Mapping[str, Array]
    given: Sequence[str]
    opsets: Sequence[onnx.OperatorSetIdProto]
    functions: Sequence[onnx.FunctionProto] = ()


def as_it_is(cut: Cut) -> Form:
    """Build the nodes with their constants unchanged; rename everything, as some names cannot be written down."""
    names: dict[str, str] = {"": ""}

    def named(name: str) -> str:
        return names.setdefault(name, f"t{len(names)}")

    nodes = []
    for at, node in enumerate(cut.nodes):
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        copy.name = f"n{at}"
        copy.input[:] = map(named, node.input)
        copy.output[:] = map(named, node.output)
        nodes.append(copy)
    inputs = [
        helper.make_tensor_value_info(named(name), helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in cut.fed.items()
    ]
    # The engine infers the output types.
    outputs = [onnx.ValueInfoProto(name=named(name)) for name in cut.given]
    weights = [numpy_helper.from_array(array, named(name)) for name, array in cut.constants.items()]
    graph = helper.make_graph(nodes, "cut", inputs, outputs, weights)
    opsets = list(cut.opsets)
    model = helper.make_model(graph, opset_imports=opsets, functions=list(cut.functions), ir_version=10)
    return Form(model.SerializeToString(), {named(name): array for name, array in cut.fed.items()})


def simplified(form: Form, setting: Setting, work_dir: str) -> onnx.ModelProto:
    """Let the engine simplify the form without changing operators; normalizations fold into weights, for example."""
    import onnxruntime as ort  # after the process is pinned

    path = Path(work_dir) / _NAME
    options, _ = make_options(replace(setting, threads=1, pin="none"))
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(path)
    try:
        ort.InferenceSession(form.model, options, providers=["CPUExecutionProvider"])
        return _raised(onnx.load(path))
    finally:
        path.unlink(missing_ok=True)


def _raised(model: onnx.ModelProto) -> onnx.ModelProto:
    """Convert the model to an opset with integer operators; raise NotAlone if that fails."""
    own = next((opset.version for opset in model.opset_import if opset.domain in ("", "ai.onnx")), _RAISED)
    if own >= _LEAST_OPSET:
        return model
    try:
        return version_converter.convert_version(model, _RAISED)
    except version_converter.ConvertError as error:
        raise NotAlone(
            f"its operators are of version {own}, without integers: {plain_words(str(error))[:200]}"
        ) from error


def values_of(
    model: onnx.ModelProto, feed: Mapping[str, Array], names: Sequence[str], setting: Setting
) -> dict[str, Array]:
    """Run the model and return the named tensors; leave out values that are no tensors."""
    import onnxruntime as ort  # after the process is pinned

    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    known = {output.name for output in changed.graph.output}
    changed.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in known)
    options, _ = make_options(replace(setting, threads=1, pin="none", optimize=False))
    session = ort.InferenceSession(changed.SerializeToString(), options, providers=["CPUExecutionProvider"])
    given = session.run(list(names), dict(feed)) if names else []
    return {name: array for name, array in zip(names, given, strict=True) if isinstance(array, np.ndarray)}
