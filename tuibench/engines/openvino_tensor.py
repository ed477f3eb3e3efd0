"""Converts OpenVINO's ports, tensors and error texts into those of the protocol."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tuibench.core.model import Port
from tuibench.engines.protocol import Refusal

_DTYPES = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "f8e4m3": "float8e4m3fn",
    "f8e5m2": "float8e5m2",
    "boolean": "bool",
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
}
# Types that numpy lacks are passed as unsigned bits of the same size.
_RAW = {"bfloat16": "uint16", "float8e4m3fn": "uint8", "float8e5m2": "uint8"}
_NOISE = re.compile(
    r"(Exception from .*|.*\bfailed at \S+:\d+:|Loading input model|FrontEnd API failed with \w+:|Summary:)$"
)
_TAIL = re.compile(r" (Failed operations detailed log:|Please check that model format.*)$")
_MOST_REASONS = 3


def read_ports(nodes: Sequence[Any], role: str, names: Sequence[str]) -> tuple[Port, ...]:
    """Return the ports under their names in the file; raise Refusal for a port that cannot be fed or fetched.

    OpenVINO's own names do not work: removing an Identity or Dropout renames the values on both sides.
    """
    if len(names) != len(nodes):
        raise Refusal(f"openvino has {len(nodes)} {role}s where the file has {len(names)}")
    return tuple(_read_port(node, role, name) for node, name in zip(nodes, names, strict=True))


def make_tensor(ov: Any, port: Port, element_type: Any, value: Any) -> Any:
    """Return a tensor in the engine's own memory, so that alignment is the same for every sample and run."""
    shape = getattr(value, "shape", None)
    expected = _RAW.get(port.dtype, port.dtype)
    if shape is None:
        raise Refusal(f"openvino takes tensors only; input '{port.name}' was given a {type(value).__name__}")
    if value.dtype.name not in (expected, port.dtype):
        raise Refusal(f"input '{port.name}' takes {port.dtype} and was given {value.dtype.name}")
    tensor = ov.Tensor(element_type, list(shape))
    if value.size:
        tensor.data.view(expected)[...] = value.view(expected)
    return tensor


def is_raw(port: Port) -> bool:
    """Return whether values of this port are passed as unsigned bits."""
    return port.dtype in _RAW


def copy_array(port: Port, tensor: Any) -> Any:
    """Return a copy of a tensor's values, which the next inference may overwrite."""
    return copy_raw(port, tensor.data)


def copy_raw(port: Port, array: Any) -> Any:
    """Return a copy, with raw bits as unsigned integers where the engine gives them another type."""
    return array.view(_RAW.get(port.dtype, port.dtype)).copy()


def explain(error: BaseException) -> str:
    """Return the reason in an OpenVINO error, without the source locations around it."""
    lines = [_TAIL.sub("", line.strip()) for line in str(error).splitlines()]
    telling = [line for line in lines if line and not _NOISE.match(line)]
    return " ".join(telling[:_MOST_REASONS]) or (lines[0] if lines else type(error).__name__)


def translate(error: RuntimeError) -> Exception:
    """Return MemoryError or Refusal for a RuntimeError, the only type that OpenVINO raises."""
    reason = explain(error)
    return MemoryError(reason) if "bad_alloc" in reason else Refusal(reason)


def _read_port(node: Any, role: str, name: str) -> Port:
    kind = str(node.get_element_type().get_type_name())
    if kind == "string":
        # Seen with 2026.4.1: both sides of an Identity own the same characters, and freeing them crashes the process.
        raise Refusal(f"openvino corrupts memory with strings; {role} '{name}' is a tensor of strings")
    if kind not in _DTYPES:
        raise Refusal(f"openvino takes no {role} of type {kind}: '{name}'")
    return Port(name, "tensor", _DTYPES[kind], _read_shape(node.get_partial_shape()))


def _read_shape(shape: Any) -> tuple[int | str | None, ...] | None:
    if shape.rank.is_dynamic:
        return None
    return tuple(dim.get_length() if dim.is_static else None for dim in shape)
