"""The nodes of one row of a model as a model of their own, with what they read from the rest of it in place."""

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
"""The first version with integer products, and one that scales per channel belong to."""


class NotAlone(Exception):
    """A row cannot be run alone, or has no such form; the message says why."""


@dataclass(frozen=True, slots=True)
class Form:
    """A model of a few nodes and what it is fed."""

    model: bytes
    feed: dict[str, Array]


@dataclass(frozen=True, slots=True)
class Cut:
    """Nodes in the order of their model, the values of what they read from outside, and what is read of them there."""

    nodes: Sequence[onnx.NodeProto]
    constants: Mapping[str, Array]
    fed: Mapping[str, Array]
    given: Sequence[str]
    opsets: Sequence[onnx.OperatorSetIdProto]
    functions: Sequence[onnx.FunctionProto] = ()


def as_it_is(cut: Cut) -> Form:
    """The nodes with their constants as they are in the model; names are ours, as some cannot be written down."""
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
    # Of what types these are the engine finds out by itself.
    outputs = [onnx.ValueInfoProto(name=named(name)) for name in cut.given]
    weights = [numpy_helper.from_array(array, named(name)) for name, array in cut.constants.items()]
    graph = helper.make_graph(nodes, "cut", inputs, outputs, weights)
    opsets = list(cut.opsets)
    model = helper.make_model(graph, opset_imports=opsets, functions=list(cut.functions), ir_version=10)
    return Form(model.SerializeToString(), {named(name): array for name, array in cut.fed.items()})


def simplified(form: Form, setting: Setting, work_dir: str) -> onnx.ModelProto:
    """What the engine itself makes of it without changing operators: normalizations are in the weights, for one."""
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
    """The same in a version of the operators that has those on integers."""
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
    """What such a model computes on its way; tensors that are none are left out."""
    import onnxruntime as ort  # after the process is pinned

    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    known = {output.name for output in changed.graph.output}
    changed.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in known)
    options, _ = make_options(replace(setting, threads=1, pin="none", optimize=False))
    session = ort.InferenceSession(changed.SerializeToString(), options, providers=["CPUExecutionProvider"])
    given = session.run(list(names), dict(feed)) if names else []
    return {name: array for name, array in zip(names, given, strict=True) if isinstance(array, np.ndarray)}
