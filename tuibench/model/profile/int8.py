"""A few nodes as a model of their own, unchanged or with int8 products in QDQ form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper, version_converter

from tuibench.core.reason import Reason, because
from tuibench.core.value import dataclass
from tuibench.engines.error_words import engine_reason
from tuibench.engines.onnxruntime import open_session
from tuibench.engines.protocol import LoadSettings
from tuibench.model.graph import op_of
from tuibench.model.profile.mapping import is_integer
from tuibench.worker.bundle import Array

_NAME = "simple.onnx"
_MIN_OPSET, _TARGET_OPSET = 10, 13
"""The first opset with integer products, and one with per-channel scales."""


class NotSeparable(Exception):
    """A row cannot run by itself or lacks the wanted form."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.code)
        self.reason = reason


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
    outputs: Sequence[str]
    opsets: Sequence[onnx.OperatorSetIdProto]
    functions: Sequence[onnx.FunctionProto] = ()


def unchanged_form(cut: Cut) -> Form:
    """Build the nodes with their constants unchanged; rename everything, as some names cannot be written down."""
    names: dict[str, str] = {"": ""}

    def rename(name: str) -> str:
        return names.setdefault(name, f"t{len(names)}")

    nodes = []
    for at, node in enumerate(cut.nodes):
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        copy.name = f"n{at}"
        copy.input[:] = map(rename, node.input)
        copy.output[:] = map(rename, node.output)
        nodes.append(copy)
    inputs = [
        helper.make_tensor_value_info(rename(name), helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in cut.fed.items()
    ]
    # The engine infers the output types.
    outputs = [onnx.ValueInfoProto(name=rename(name)) for name in cut.outputs]
    weights = [numpy_helper.from_array(array, rename(name)) for name, array in cut.constants.items()]
    graph = helper.make_graph(nodes, "cut", inputs, outputs, weights)
    opsets = list(cut.opsets)
    model = helper.make_model(graph, opset_imports=opsets, functions=list(cut.functions), ir_version=10)
    return Form(model.SerializeToString(), {rename(name): array for name, array in cut.fed.items()})


def simplify(form: Form, setting: LoadSettings, work_dir: str) -> onnx.ModelProto:
    """Let the engine simplify the form without changing operators; normalizations fold into weights, for example."""
    path = Path(work_dir) / _NAME
    try:
        open_session(replace(setting, threads=1, pin="none"), form.model, save=str(path), basic=True)
        return _raise_opset(onnx.load(path))
    finally:
        path.unlink(missing_ok=True)


def _raise_opset(model: onnx.ModelProto) -> onnx.ModelProto:
    """Convert the model to an opset with integer operators; raise NotSeparable if that fails."""
    own = next((opset.version for opset in model.opset_import if opset.domain in ("", "ai.onnx")), _TARGET_OPSET)
    if own >= _MIN_OPSET:
        return model
    try:
        return version_converter.convert_version(model, _TARGET_OPSET)
    except version_converter.ConvertError as error:
        reason = because("opset_without_integers", version=own, why=engine_reason(error, 200))
        raise NotSeparable(reason) from error


def values_of(
    model: onnx.ModelProto, feed: Mapping[str, Array], names: Sequence[str], setting: LoadSettings
) -> dict[str, Array]:
    """Run the model and return the named tensors; leave out values that are no tensors."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    known = {output.name for output in changed.graph.output}
    changed.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in known)
    plain = replace(setting, threads=1, pin="none", optimize=False)
    session, _, _ = open_session(plain, changed.SerializeToString())
    given = session.run(list(names), dict(feed)) if names else []
    return {name: array for name, array in zip(names, given, strict=True) if isinstance(array, np.ndarray)}


_PRODUCTS = frozenset({"Conv", "MatMul", "Gemm"})
_DOMAIN = "com.microsoft"
"""Domain of the Q/DQ operators; there they take per-channel scales at any opset."""
_FUSED_ACTIVATIONS = frozenset({"Relu", "Clip"})
"""Activations that a convolution kernel fuses."""
_MAX_BIAS = 2**30


def needed_ranges(model: onnx.ModelProto) -> list[str]:
    """Return the tensors within a model whose ranges are needed: inputs and outputs of the products."""
    given = {value.name for value in model.graph.input} | {tensor.name for tensor in model.graph.initializer}
    readers = _readers(model.graph)
    names = [
        name
        for node in model.graph.node
        if node.op_type in _PRODUCTS
        for name in (*node.input[:2], _fused_output(node, readers, model.graph))
    ]
    return [name for name in dict.fromkeys(names) if name not in given]


def as_int8(model: onnx.ModelProto, values: Mapping[str, Array]) -> bytes:
    """Convert the products to int8 where they have such a form; raise NotSeparable with the reason if none has.

    Inputs and outputs stay floats, so the conversions are part of the model.
    """
    products = [node for node in model.graph.node if op_of(node) in _PRODUCTS]
    if not products:
        ops = list(dict.fromkeys(op_of(node) for node in model.graph.node))
        if any(map(is_integer, ops)):
            raise NotSeparable(Reason("already_integer"))
        raise NotSeparable(because("no_int8_form", ops=ops))
    writer = _Writer(model, values)
    reasons = []
    for node in model.graph.node:
        try:
            writer.write(node)
        except NotSeparable as error:
            reasons.append(error.reason)
            writer.copy(node)
    if len(reasons) == len(products):
        raise NotSeparable(reasons[0])
    return writer.serialize()


def _readers(graph: onnx.GraphProto) -> dict[str, list[onnx.NodeProto]]:
    found: dict[str, list[onnx.NodeProto]] = {}
    for node in graph.node:
        for name in node.input:
            found.setdefault(name, []).append(node)
    return found


def _fused_output(node: onnx.NodeProto, readers: Mapping[str, list[onnx.NodeProto]], graph: onnx.GraphProto) -> str:
    """Return the tensor that the kernel of a product outputs, after the activation it fuses."""
    output: str = node.output[0]
    own = readers.get(output, [])
    single = len(own) == 1 and all(value.name != output for value in graph.output)
    return (
        str(own[0].output[0]) if single and node.op_type == "Conv" and own[0].op_type in _FUSED_ACTIVATIONS else output
    )


class _Writer:
    """Copies a model's nodes and puts Q/DQ nodes around its products."""

    def __init__(self, model: onnx.ModelProto, values: Mapping[str, Array]) -> None:
        self._model = model
        self._values = values
        self._weights = {tensor.name: tensor for tensor in model.graph.initializer}
        self._readers = _readers(model.graph)
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._dequantized: dict[str, tuple[str, Array]] = {}
        """Maps a tensor to its dequantized copy and the scale."""
        self._fused_outputs: set[str] = set()
        """Tensors to quantize and dequantize where they are produced."""

    def write(self, node: onnx.NodeProto) -> None:
        """Write one node; quantize its inputs first if it is a product."""
        change = {"Conv": self._conv, "MatMul": self._matmul, "Gemm": self._gemm}.get(op_of(node))
        if change is None:
            self.copy(node)
        else:
            self.copy(node, change(node))

    def copy(self, node: onnx.NodeProto, inputs: list[str] | None = None) -> None:
        """Copy a node, with other inputs if given."""
        own = onnx.NodeProto()
        own.CopyFrom(node)
        own.input[:] = node.input if inputs is None else inputs
        self._nodes.append(own)
        for place, name in enumerate(node.output):
            if name in self._fused_outputs:
                own.output[place] = f"{name}/float"
                self._add_unsigned_qdq(f"{name}/float", name, self._calibration_values(name))

    def serialize(self) -> bytes:
        """Return the serialized model without weights that are no longer read."""
        model = onnx.ModelProto()
        model.CopyFrom(self._model)
        del model.graph.node[:]
        model.graph.node.extend(self._nodes)
        read = {name for node in self._nodes for name in node.input} | {value.name for value in model.graph.output}
        weights = [tensor for tensor in self._model.graph.initializer if tensor.name in read]
        del model.graph.initializer[:]
        model.graph.initializer.extend([*weights, *self._constants])
        del model.graph.value_info[:]
        if all(opset.domain != _DOMAIN for opset in model.opset_import):
            model.opset_import.append(helper.make_opsetid(_DOMAIN, 1))
        return bytes(model.SerializeToString())

    def _conv(self, node: onnx.NodeProto) -> list[str]:
        weight = self._weight(node.input[1])
        self._bias(node, weight.shape[0])
        read, scale = self._quantize_input(node.input[0])
        self._fused_outputs.add(_fused_output(node, self._readers, self._model.graph))
        return [read, *self._add_weights(node, weight, 0, scale)]

    def _matmul(self, node: onnx.NodeProto) -> list[str]:
        left, right = node.input
        if left in self._weights:
            raise NotSeparable(Reason("first_input_constant"))
        if right not in self._weights:
            other = self._calibration_values(right)
            return [self._quantize_input(left)[0], self._quantize_signed(right, other)]
        weight = self._weight(right)
        read, scale = self._quantize_input(left)
        # Only two-dimensional weights take scales per column.
        return [read, *self._add_weights(node, weight, 1 if weight.ndim == 2 else None, scale)]

    def _gemm(self, node: onnx.NodeProto) -> list[str]:
        settings = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        if settings.get("transA") or settings.get("alpha", 1.0) != 1.0 or settings.get("beta", 1.0) != 1.0:
            raise NotSeparable(Reason("transposes_or_scales"))
        weight = self._weight(node.input[1])
        axis = 0 if settings.get("transB") else 1
        self._bias(node, weight.shape[axis])
        read, scale = self._quantize_input(node.input[0])
        return [read, *self._add_weights(node, weight, axis, scale)]

    def _weight(self, name: str) -> Array:
        if name not in self._weights:
            raise NotSeparable(Reason("weights_not_constant"))
        array: Array = numpy_helper.to_array(self._weights[name])
        return _floats(array)

    def _calibration_values(self, name: str) -> Array:
        if name not in self._values:
            raise NotSeparable(Reason("ranges_unknown"))
        return _floats(self._values[name])

    def _bias(self, node: onnx.NodeProto, channels: int) -> Array | None:
        """Return one number per channel, or None without a bias."""
        name = node.input[2] if len(node.input) > 2 else ""
        if not name:
            return None
        if name not in self._weights:
            raise NotSeparable(Reason("bias_not_constant"))
        bias: Array = _floats(numpy_helper.to_array(self._weights[name]))
        if bias.size != channels or bias.shape[-1] != channels:
            raise NotSeparable(Reason("bias_of_other_size"))
        return bias.reshape(-1)

    def _quantize_input(self, name: str) -> tuple[str, Array]:
        """Quantize a tensor once for all its readers; return the dequantized tensor and its scale."""
        if name not in self._dequantized:
            self._add_unsigned_qdq(name, f"{name}/back", self._calibration_values(name))
            self._dequantized[name] = self._dequantized.pop(f"{name}/back")
        return self._dequantized[name]

    def _add_unsigned_qdq(self, name: str, output: str, values: Array) -> None:
        """Convert a tensor to uint8 and back; remember the result and its scale."""
        scale, zero = unsigned_range(values)
        self._add_qdq(name, output, scale, zero)
        self._dequantized[output] = (output, scale)

    def _quantize_signed(self, name: str, values: Array) -> str:
        """Quantize the second of two non-constant factors as int8."""
        _, scale = quantize_signed(values, None)
        output = f"{name}/signed {len(self._constants)}"
        self._add_qdq(name, output, scale, np.zeros((), np.int8))
        return output

    def _add_qdq(self, name: str, output: str, scale: Array, zero: Array) -> None:
        """Add one QuantizeLinear and one DequantizeLinear."""
        at = len(self._constants)
        names = [self._add_constant(f"int8/{at}/scale", scale), self._add_constant(f"int8/{at}/zero", zero)]
        self._nodes.append(_qdq_node("QuantizeLinear", [name, *names], f"{output}/int8", f"into {at}"))
        self._nodes.append(_qdq_node("DequantizeLinear", [f"{output}/int8", *names], output, f"out of {at}"))

    def _add_weights(self, node: onnx.NodeProto, weight: Array, axis: int | None, scale: Array) -> list[str]:
        """Add int8 weights, and the bias in units of the input scale times the weight scales."""
        integers, scales = quantize_signed(weight, axis)
        at = len(self._constants)
        names = [self._add_constant(f"int8/{at}/w", integers), self._add_constant(f"int8/{at}/ws", scales)]
        names.append(self._add_constant(f"int8/{at}/wz", np.zeros(scales.shape, np.int8)))
        self._nodes.append(_qdq_node("DequantizeLinear", names, f"int8/{at}", f"weights {at}", axis))
        bias = self._bias(node, scales.size) if node.op_type != "MatMul" else None
        if bias is None:
            return [f"int8/{at}"]
        bias_scale = (scale * scales).astype(np.float32)
        quantized = np.clip(np.rint(np.nan_to_num(bias) / bias_scale), -_MAX_BIAS, _MAX_BIAS).astype(np.int32)
        names = [self._add_constant(f"int8/{at}/b", quantized), self._add_constant(f"int8/{at}/bs", bias_scale)]
        names.append(self._add_constant(f"int8/{at}/bz", np.zeros(bias_scale.shape, np.int32)))
        self._nodes.append(_qdq_node("DequantizeLinear", names, f"int8/{at}/bias", f"bias {at}", 0))
        return [f"int8/{at}", f"int8/{at}/bias"]

    def _add_constant(self, name: str, array: Array) -> str:
        self._constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name


def _qdq_node(op: str, inputs: list[str], output: str, name: str, axis: int | None = None) -> onnx.NodeProto:
    settings: dict[str, Any] = {} if axis is None else {"axis": axis}
    return helper.make_node(op, inputs, [output], name=name, domain=_DOMAIN, **settings)


def _floats(array: Array) -> Array:
    if array.dtype != np.float32:
        raise NotSeparable(Reason("not_float32"))
    return array


def unsigned_range(values: Array) -> tuple[Array, Array]:
    """Return the uint8 scale and zero point for the range of the values."""
    finite = values[np.isfinite(values)]
    low = min(0.0, float(finite.min(initial=0.0)))
    high = max(0.0, float(finite.max(initial=0.0)))
    scale = max((high - low) / 255, 1e-8)
    zero = min(255, max(0, round(-low / scale)))
    return np.asarray(scale, np.float32), np.asarray(zero, np.uint8)


def quantize_signed(values: Array, axis: int | None) -> tuple[Array, Array]:
    """Quantize values to int8 with one scale for all, or one per slice along an axis."""
    clean = np.nan_to_num(values, posinf=0.0, neginf=0.0)
    axes = None if axis is None else tuple(at for at in range(values.ndim) if at != axis % values.ndim)
    largest = np.abs(clean).max(axis=axes, keepdims=True, initial=0.0)
    scales = np.maximum(largest / 127, 1e-8).astype(np.float32)
    integers = np.clip(np.rint(clean / scales), -127, 127).astype(np.int8)
    return integers, scales.reshape(() if axis is None else (-1,))
