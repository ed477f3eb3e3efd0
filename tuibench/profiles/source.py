"""The values that a model's nodes read while it runs, so that a few nodes can run by themselves."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import external_data_helper, numpy_helper

from tuibench.engines.onnxruntime import make_options
from tuibench.engines.protocol import Feed, Setting
from tuibench.engines.wording import plain_words
from tuibench.models.external import is_external
from tuibench.profiles.alone import is_of_engine
from tuibench.profiles.cut import Array, Cut, NotAlone
from tuibench.profiles.flat import Flat

_GRAPHS = (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS)


class Source:
    """The values of one model on one input sample."""

    def __init__(self, model: onnx.ModelProto, path: str, feed: Feed, setting: Setting) -> None:
        self._model = model
        self._home = os.path.dirname(os.path.abspath(path))
        self._feed = feed
        self._setting = setting
        self._weights = {tensor.name: tensor for tensor in model.graph.initializer}
        self._weights |= {
            node.output[0]: attribute.t
            for node in model.graph.node
            if node.op_type == "Constant"
            for attribute in node.attribute
            if attribute.name == "value"
        }
        flat = Flat(model.graph)
        moving = flat.dynamic()
        self._nodes = {placed.id: number for number, placed in enumerate(flat.nodes)}
        self._placed = flat.nodes
        self._still = {name for (scope, name), made in flat.producer.items() if not scope and not moving[made]}
        """Tensors computed from constants alone."""
        self._readers: dict[str, set[int]] = {}
        """Readers of top-level tensors, including subgraphs of nodes."""
        for number, tensors in enumerate(flat.inputs):
            for scope, name in tensors:
                if not scope:
                    self._readers.setdefault(name, set()).add(number)
        self._outputs = {output.name for output in model.graph.output}
        self._values: Mapping[str, Array] = {}
        self._reason = ""

    def run(self, wanted: Sequence[str]) -> None:
        """Run the model once, unoptimized, and keep every tensor that the wanted nodes read."""
        import onnxruntime as ort  # after the process is pinned

        made = {name for node in self._model.graph.node for name in node.output}
        placed = [self._placed[self._nodes[one]] for one in wanted if one in self._nodes]
        names = {name for one in placed if not one.parent for name in one.node.input if name in made}
        names -= set(self._weights)
        changed = onnx.ModelProto()
        changed.CopyFrom(self._model)
        changed.graph.output.extend(onnx.ValueInfoProto(name=name) for name in sorted(names - self._outputs))
        options, _ = make_options(self._setting)
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", self._home)
        try:
            session = ort.InferenceSession(changed.SerializeToString(), options, providers=["CPUExecutionProvider"])
            given = session.run(sorted(names), self._feed) if names else []
        except Exception as error:  # an engine raises any type; every row then gets this reason
            if isinstance(error, MemoryError) or not is_of_engine(error):
                raise
            self._reason = f"what it reads could not be had: {plain_words(str(error))[:200]}"
            return
        self._values = {**self._feed, **dict(zip(sorted(names), given, strict=True))}

    def cut(self, names: Sequence[str]) -> Cut:
        """Return the nodes of a row with the values they read; raise NotAlone with the reason."""
        if self._reason:
            raise NotAlone(self._reason)
        if any(name not in self._nodes for name in names):
            raise NotAlone("the model has no such node")
        numbers = sorted(self._nodes[name] for name in names)
        placed = [self._placed[number] for number in numbers]
        if any(one.parent for one in placed):
            raise NotAlone("it lies in the graph of another node")
        nodes = [one.node for one in placed if one.op != "Constant"]
        if any(attribute.type in _GRAPHS for node in nodes for attribute in node.attribute):
            raise NotAlone("it runs graphs of its own")
        made = {name for node in nodes for name in node.output if name}
        read = dict.fromkeys(name for node in nodes for name in node.input if name and name not in made)
        constants: dict[str, Array] = {}
        fed: dict[str, Array] = {}
        for name in read:
            if name in self._weights and name not in self._feed:
                constants[name] = self._constant(self._weights[name])
            elif isinstance(self._values.get(name), np.ndarray):
                (constants if name in self._still else fed)[name] = self._values[name]
            else:
                raise NotAlone("it reads something that is no tensor")
        return Cut(nodes, constants, fed, self._given(made, numbers), self._model.opset_import, self._model.functions)

    def _given(self, made: set[str], numbers: Sequence[int]) -> list[str]:
        """Return the outputs that other nodes read; if none are, all outputs that nothing reads."""
        own = set(numbers)
        given = sorted(name for name in made if name in self._outputs or self._readers.get(name, own) - own)
        return given or sorted(name for name in made if name not in self._readers)

    def _constant(self, tensor: onnx.TensorProto) -> Array:
        if is_external(tensor) and not tensor.raw_data:
            loaded = onnx.TensorProto()
            loaded.CopyFrom(tensor)
            external_data_helper.load_external_data_for_tensor(loaded, self._home)
            tensor = loaded
        array: Array = numpy_helper.to_array(tensor)
        return array
