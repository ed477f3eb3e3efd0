"""Products of a small model with 8-bit integers: U8 activations, S8 weights, the way quantized models are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tuibench.models.node import op_of
from tuibench.profiles.cut import Array, NotAlone
from tuibench.profiles.mapping import is_integer

_PRODUCTS = frozenset({"Conv", "MatMul", "Gemm"})
_DOMAIN = "com.microsoft"
"""Of what turns numbers into integers and back: its operators take scales per channel whatever the model's opset."""
_BETWEEN = frozenset({"Relu", "Clip"})
"""What a convolution's kernel does on its way out."""
_MOST_BIAS = 2**30


def to_be_known(model: onnx.ModelProto) -> list[str]:
    """The tensors within a model whose ranges are asked for: what products read and what they give."""
    given = {value.name for value in model.graph.input} | {tensor.name for tensor in model.graph.initializer}
    readers = _readers(model.graph)
    names = [
        name
        for node in model.graph.node
        if node.op_type in _PRODUCTS
        for name in (*node.input[:2], _end(node, readers, model.graph))
    ]
    return [name for name in dict.fromkeys(names) if name not in given]


def as_int8(model: onnx.ModelProto, values: Mapping[str, Array]) -> bytes:
    """The same work with its products in integers as far as they have such a form, or NotAlone with the reason.

    What comes in and goes out are floats as before: turning them into integers and back is part of it.
    """
    products = [node for node in model.graph.node if op_of(node) in _PRODUCTS]
    if not products:
        ops = list(dict.fromkeys(op_of(node) for node in model.graph.node))
        if any(map(is_integer, ops)):
            raise NotAlone("it works on integers already")
        named = ops[0] if len(ops) == 1 else f"none of {', '.join(ops)}"
        raise NotAlone(f"{named[:200]} has {'no' if len(ops) == 1 else 'an'} int8 form here")
    writer = _Writer(model, values)
    reasons = []
    for node in model.graph.node:
        try:
            writer.write(node)
        except NotAlone as error:
            reasons.append(str(error))
            writer.copy(node)
    if len(reasons) == len(products):
        raise NotAlone(reasons[0])
    return writer.written()


def _readers(graph: onnx.GraphProto) -> dict[str, list[onnx.NodeProto]]:
    found: dict[str, list[onnx.NodeProto]] = {}
    for node in graph.node:
        for name in node.input:
            found.setdefault(name, []).append(node)
    return found


def _end(node: onnx.NodeProto, readers: Mapping[str, list[onnx.NodeProto]], graph: onnx.GraphProto) -> str:
    """What a product's kernel gives: behind the one node that it does on its way out."""
    output: str = node.output[0]
    own = readers.get(output, [])
    alone = len(own) == 1 and all(value.name != output for value in graph.output)
    return str(own[0].output[0]) if alone and node.op_type == "Conv" and own[0].op_type in _BETWEEN else output


class _Writer:
    """Writes the nodes of a model down again, its products with integers around them."""

    def __init__(self, model: onnx.ModelProto, values: Mapping[str, Array]) -> None:
        self._model = model
        self._values = values
        self._weights = {tensor.name: tensor for tensor in model.graph.initializer}
        self._readers = _readers(model.graph)
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._integers: dict[str, tuple[str, Array]] = {}
        """By tensor the one that comes back out of integers, and their scale."""
        self._ends: set[str] = set()
        """Tensors that are to be turned into integers and back where they are given."""

    def write(self, node: onnx.NodeProto) -> None:
        """One node, with what turns its inputs into integers before it if it is a product."""
        change = {"Conv": self._conv, "MatMul": self._matmul, "Gemm": self._gemm}.get(op_of(node))
        if change is None:
            self.copy(node)
        else:
            self.copy(node, change(node))

    def copy(self, node: onnx.NodeProto, inputs: list[str] | None = None) -> None:
        """A node that reads what it did, or other tensors."""
        own = onnx.NodeProto()
        own.CopyFrom(node)
        own.input[:] = node.input if inputs is None else inputs
        self._nodes.append(own)
        for place, name in enumerate(node.output):
            if name in self._ends:
                own.output[place] = f"{name}/float"
                self._turn(f"{name}/float", name, self._known(name))

    def written(self) -> bytes:
        """All of it; weights that nothing reads any more are left out."""
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
        read, scale = self._read(node.input[0])
        self._ends.add(_end(node, self._readers, self._model.graph))
        return [read, *self._constant(node, weight, 0, scale)]

    def _matmul(self, node: onnx.NodeProto) -> list[str]:
        left, right = node.input
        if left in self._weights:
            raise NotAlone("its first input is a constant")
        if right not in self._weights:
            other = self._known(right)
            return [self._read(left)[0], self._signed(right, other)]
        weight = self._weight(right)
        read, scale = self._read(left)
        # Scales per column go with matrices alone.
        return [read, *self._constant(node, weight, 1 if weight.ndim == 2 else None, scale)]

    def _gemm(self, node: onnx.NodeProto) -> list[str]:
        settings = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        if settings.get("transA") or settings.get("alpha", 1.0) != 1.0 or settings.get("beta", 1.0) != 1.0:
            raise NotAlone("it transposes or scales what it reads")
        weight = self._weight(node.input[1])
        axis = 0 if settings.get("transB") else 1
        self._bias(node, weight.shape[axis])
        read, scale = self._read(node.input[0])
        return [read, *self._constant(node, weight, axis, scale)]

    def _weight(self, name: str) -> Array:
        if name not in self._weights:
            raise NotAlone("its weights are no constant")
        array: Array = numpy_helper.to_array(self._weights[name])
        return _floats(array)

    def _known(self, name: str) -> Array:
        if name not in self._values:
            raise NotAlone("what it reads or gives is not known")
        return _floats(self._values[name])

    def _bias(self, node: onnx.NodeProto, channels: int) -> Array | None:
        """One number for each channel, or None where there are none."""
        name = node.input[2] if len(node.input) > 2 else ""
        if not name:
            return None
        if name not in self._weights:
            raise NotAlone("its bias is no constant")
        bias: Array = _floats(numpy_helper.to_array(self._weights[name]))
        if bias.size != channels or bias.shape[-1] != channels:
            raise NotAlone("its bias has another size than its channels")
        return bias.reshape(-1)

    def _read(self, name: str) -> tuple[str, Array]:
        """A tensor on its way through integers, once for all who read it; and their scale."""
        if name not in self._integers:
            self._turn(name, f"{name}/back", self._known(name))
            self._integers[name] = self._integers.pop(f"{name}/back")
        return self._integers[name]

    def _turn(self, name: str, back: str, values: Array) -> None:
        scale, zero = unsigned_range(values)
        self._through(name, back, scale, zero)
        self._integers[back] = (back, scale)

    def _signed(self, name: str, values: Array) -> str:
        """The second of two that are both fed."""
        _, scale = signed(values, None)
        back = f"{name}/signed {len(self._constants)}"
        self._through(name, back, scale, np.zeros((), np.int8))
        return back

    def _through(self, name: str, back: str, scale: Array, zero: Array) -> None:
        at = len(self._constants)
        names = [self._hold(f"int8/{at}/scale", scale), self._hold(f"int8/{at}/zero", zero)]
        self._nodes.append(_turn("QuantizeLinear", [name, *names], f"{back}/int8", f"into {at}"))
        self._nodes.append(_turn("DequantizeLinear", [f"{back}/int8", *names], back, f"out of {at}"))

    def _constant(self, node: onnx.NodeProto, weight: Array, axis: int | None, scale: Array) -> list[str]:
        """Weights as integers, and the bias as those of both scales."""
        integers, scales = signed(weight, axis)
        at = len(self._constants)
        held = [self._hold(f"int8/{at}/w", integers), self._hold(f"int8/{at}/ws", scales)]
        held.append(self._hold(f"int8/{at}/wz", np.zeros(scales.shape, np.int8)))
        self._nodes.append(_turn("DequantizeLinear", held, f"int8/{at}", f"weights {at}", axis))
        bias = self._bias(node, scales.size) if node.op_type != "MatMul" else None
        if bias is None:
            return [f"int8/{at}"]
        both = (scale * scales).astype(np.float32)
        whole = np.clip(np.rint(np.nan_to_num(bias) / both), -_MOST_BIAS, _MOST_BIAS).astype(np.int32)
        held = [self._hold(f"int8/{at}/b", whole), self._hold(f"int8/{at}/bs", both)]
        held.append(self._hold(f"int8/{at}/bz", np.zeros(both.shape, np.int32)))
        self._nodes.append(_turn("DequantizeLinear", held, f"int8/{at}/bias", f"bias {at}", 0))
        return [f"int8/{at}", f"int8/{at}/bias"]

    def _hold(self, name: str, array: Array) -> str:
        self._constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name


def _turn(op: str, inputs: list[str], output: str, name: str, axis: int | None = None) -> onnx.NodeProto:
    settings: dict[str, Any] = {} if axis is None else {"axis": axis}
    return helper.make_node(op, inputs, [output], name=name, domain=_DOMAIN, **settings)


def _floats(array: Array) -> Array:
    if array.dtype != np.float32:
        raise NotAlone("it is not of 32-bit floats")
    return array


def unsigned_range(values: Array) -> tuple[Array, Array]:
    """The scale and zero point with which uint8 holds values, over the range that they have."""
    finite = values[np.isfinite(values)]
    low = min(0.0, float(finite.min(initial=0.0)))
    high = max(0.0, float(finite.max(initial=0.0)))
    scale = max((high - low) / 255, 1e-8)
    zero = min(255, max(0, round(-low / scale)))
    return np.asarray(scale, np.float32), np.asarray(zero, np.uint8)


def signed(values: Array, axis: int | None) -> tuple[Array, Array]:
    """Values as int8, with one scale for all or for each slice along an axis."""
    clean = np.nan_to_num(values, posinf=0.0, neginf=0.0)
    over = None if axis is None else tuple(at for at in range(values.ndim) if at != axis % values.ndim)
    most = np.abs(clean).max(axis=over, keepdims=True, initial=0.0)
    scales = np.maximum(most / 127, 1e-8).astype(np.float32)
    integers = np.clip(np.rint(clean / scales), -127, 127).astype(np.int8)
    return integers, scales.reshape(() if axis is None else (-1,))
