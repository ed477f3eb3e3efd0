"""One node of a model as a model of its own, as it is and with 8-bit integers: U8 activations, S8 weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tuibench.models.node import op_of
from tuibench.profiles.bench_model import build
from tuibench.profiles.mapping import is_integer

Array = np.ndarray[Any, Any]


class NotAlone(Exception):
    """A layer cannot be run alone, or has no such form; the message says why."""


@dataclass(frozen=True, slots=True)
class Form:
    """A model of one node and what it is fed."""

    model: bytes
    feed: dict[str, Array]


@dataclass(frozen=True, slots=True)
class Piece:
    """A node with the values of its inputs, constants apart from what is fed."""

    node: onnx.NodeProto
    constants: Mapping[str, Array]
    fed: Mapping[str, Array]
    opsets: Sequence[onnx.OperatorSetIdProto]


def as_it_is(piece: Piece) -> Form:
    """The node alone, with its constants as they are in the model."""
    weights = [numpy_helper.from_array(array, name) for name, array in piece.constants.items()]
    inputs = [(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape) for name, array in piece.fed.items()]
    outputs = [(piece.node.output[0], TensorProto.FLOAT)]
    return Form(build([piece.node], inputs, outputs, weights, piece.opsets), dict(piece.fed))


def as_int8(piece: Piece) -> Form:
    """The same work in integers, or NotAlone with the reason."""
    op = op_of(piece.node)
    if is_integer(op):
        raise NotAlone("it works on integers already")
    maker = _FORMS.get(op)
    if maker is None:
        raise NotAlone(f"{op} has no int8 form here")
    if any(array.dtype != np.float32 for array in (*piece.fed.values(), *piece.constants.values())):
        raise NotAlone("it is not of 32-bit floats")
    return maker(piece)


def _conv(piece: Piece) -> Form:
    names = list(piece.node.input)
    weight = piece.constants.get(names[1])
    if weight is None or names[0] not in piece.fed:
        raise NotAlone("its weights are no constant")
    quantized, scales = _signed(weight, tuple(range(1, weight.ndim)))
    fed, scale, zero = _unsigned(piece.fed[names[0]])
    bias = piece.constants.get(names[2]) if len(names) > 2 and names[2] else None
    constants = _scales(scale, zero) | {"w": quantized, "ws": scales, "wz": np.zeros(scales.shape, np.int8)}
    inputs = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"]
    if bias is not None:
        constants["b"] = np.clip(np.rint(bias / (scale * scales)), -(2**30), 2**30).astype(np.int32)
        inputs.append("b")
    node = helper.make_node("QLinearConv", inputs, ["y"], name="int8")
    node.attribute.extend(piece.node.attribute)
    return _form(node, constants, {"x": fed})


def _matmul(piece: Piece) -> Form:
    left, right = piece.node.input
    if left not in piece.fed:
        raise NotAlone("its first input is a constant")
    weight = piece.constants.get(right)
    return _product("QLinearMatMul", piece.fed[left], weight, None if weight is not None else piece.fed[right])


def _product(op: str, left: Array, weight: Array | None, right: Array | None) -> Form:
    fed, scale, zero = _unsigned(left)
    feeds = {"x": fed}
    constants = _scales(scale, zero)
    if weight is not None:
        # Scales per column go with matrices alone.
        quantized, scales = _signed(weight, (0,) if weight.ndim == 2 else tuple(range(weight.ndim)))
        constants |= {"w": quantized, "ws": scales, "wz": np.zeros(scales.shape, np.int8)}
    elif right is not None:
        quantized, scales = _signed(right, tuple(range(right.ndim)))
        feeds["w"] = quantized
        constants |= {"ws": scales, "wz": np.zeros(scales.shape, np.int8)}
    node = helper.make_node(op, ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"], ["y"], name="int8")
    return _form(node, constants, feeds)


def _gemm(piece: Piece) -> Form:
    settings = {attribute.name: helper.get_attribute_value(attribute) for attribute in piece.node.attribute}
    names = list(piece.node.input)
    weight = piece.constants.get(names[1])
    if weight is None or names[0] not in piece.fed:
        raise NotAlone("its weights are no constant")
    if settings.get("transA") or settings.get("alpha", 1.0) != 1.0 or settings.get("beta", 1.0) != 1.0:
        raise NotAlone("it transposes or scales what it reads")
    quantized, scales = _signed(weight, (1,) if settings.get("transB") else (0,))
    fed, scale, zero = _unsigned(piece.fed[names[0]])
    bias = piece.constants.get(names[2]) if len(names) > 2 and names[2] else None
    constants = _scales(scale, zero) | {"w": quantized, "ws": scales, "wz": np.zeros(scales.shape, np.int8)}
    if bias is not None and bias.size == scales.size:
        constants["b"] = np.clip(np.rint(bias.reshape(-1) / (scale * scales)), -(2**30), 2**30).astype(np.int32)
    inputs = ["x", "xs", "xz", "w", "ws", "wz", "b" if "b" in constants else "", "ys", "yz"]
    node = helper.make_node("QGemm", inputs, ["y"], name="int8", domain="com.microsoft")
    node.attribute.append(helper.make_attribute("transB", int(settings.get("transB", 0))))
    return _form(node, constants, {"x": fed})


_FORMS = {"Conv": _conv, "MatMul": _matmul, "Gemm": _gemm}


def _form(node: onnx.NodeProto, constants: Mapping[str, Array], feeds: Mapping[str, Array]) -> Form:
    weights = [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    inputs = [(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape) for name, array in feeds.items()]
    return Form(build([node], inputs, [("y", TensorProto.UINT8)], weights), dict(feeds))


def _scales(scale: Array, zero: Array) -> dict[str, Array]:
    """Of what is read, and of what is given, where any will do: no time depends on it."""
    return {"xs": scale, "xz": zero, "ys": np.asarray(scale * 4, np.float32), "yz": np.asarray(128, np.uint8)}


def _unsigned(values: Array) -> tuple[Array, Array, Array]:
    """Values as uint8 with their scale and zero point, over the range that they have."""
    finite = values[np.isfinite(values)]
    low = min(0.0, float(finite.min(initial=0.0)))
    high = max(0.0, float(finite.max(initial=0.0)))
    scale = max((high - low) / 255, 1e-8)
    zero = round(-low / scale)
    clean = np.nan_to_num(values, posinf=high, neginf=low)
    quantized = np.clip(np.rint(clean / scale) + zero, 0, 255).astype(np.uint8)
    return quantized, np.asarray(scale, np.float32), np.asarray(min(255, max(0, zero)), np.uint8)


def _signed(values: Array, axes: tuple[int, ...]) -> tuple[Array, Array]:
    """Values as int8 with a scale for each slice, over all other axes."""
    clean = np.nan_to_num(values, posinf=0.0, neginf=0.0)
    most = np.abs(clean).max(axis=axes, keepdims=True, initial=0.0)
    scales = np.maximum(most / 127, 1e-8).astype(np.float32)
    quantized = np.clip(np.rint(clean / scales), -127, 127).astype(np.int8)
    return quantized, scales.reshape(-1) if scales.size > 1 else scales.reshape(())
