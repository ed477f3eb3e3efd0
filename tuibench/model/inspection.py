"""Static inspection of a model: ports, operators, quantization and zero weights, without running it."""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from tuibench.core.engine import SAFETENSORS, TORCHSCRIPT, reader_of
from tuibench.core.errors import ModelError
from tuibench.core.model import ModelSummary, Port
from tuibench.core.reason import Reason, because
from tuibench.core.value import dataclass
from tuibench.model.file import (
    Checksums,
    ExternalData,
    ModelFile,
    check_external,
    extent,
    is_external,
    locate,
    read_chunks,
    read_model,
    twin_of,
)
from tuibench.model.graph import dtype_name, parse, text, walk_nodes, walk_weights

# Placeholders that exporters write for unknown names; equal ones do not mean equal dims.
_NAMELESS = frozenset({"", "?", "-1", "None", "none", "unk", "unknown"})


def input_ports(graph: onnx.GraphProto) -> tuple[Port, ...]:
    """Return the inputs that must be fed; up to IR 3 the list of inputs also contains every initializer."""
    held = {text(i.name) for i in graph.initializer} | {text(s.values.name) for s in graph.sparse_initializer}
    return tuple(port(value) for value in graph.input if text(value.name) not in held)


def output_ports(graph: onnx.GraphProto) -> tuple[Port, ...]:
    """Return the model's outputs."""
    return tuple(port(value) for value in graph.output)


def port(value: onnx.ValueInfoProto) -> Port:
    """Return the Port of one input or output."""
    kind, dtype, shape, inner = _read(value.type)
    return Port(text(value.name), kind, dtype, shape, inner)


def _read(kind: onnx.TypeProto) -> tuple[str, str, tuple[int | str | None, ...] | None, str | None]:
    """Return kind, element type, shape (of each element for a sequence) and the inner kind."""
    which = kind.WhichOneof("value")
    if which == "sequence_type":
        inner = _read(kind.sequence_type.elem_type)
        return "sequence", inner[1], inner[2], inner[0]
    if which == "optional_type":
        inner = _read(kind.optional_type.elem_type)
        return "optional", inner[1], inner[2], inner[0]
    if which == "map_type":
        key, value = dtype_name(kind.map_type.key_type), _read(kind.map_type.value_type)
        return "map", f"{key}->{value[1]}", None, value[0]
    tensor = kind.sparse_tensor_type if which == "sparse_tensor_type" else kind.tensor_type
    # Without a type nothing is known; the engine may be able to infer it.
    shape = tuple(_dim(dim) for dim in tensor.shape.dim) if tensor.HasField("shape") else None
    return "tensor", dtype_name(tensor.elem_type), shape, None


def _dim(dim: onnx.TensorShapeProto.Dimension) -> int | str | None:
    which = dim.WhichOneof("value")
    if which == "dim_value":
        return int(dim.dim_value) if dim.dim_value >= 0 else None
    name = text(dim.dim_param) if which == "dim_param" else ""
    return None if name.strip() in _NAMELESS else name


_DYNAMIC = ("DynamicQuantizeLinear", "MatMulInteger", "ConvInteger", "DynamicQuantizeMatMul", "DynamicQuantizeLSTM")
_STATIC = ("QLinearConv", "QLinearMatMul", "QLinearAdd", "QLinearMul", "QGemm", "QLinearAveragePool", "QLinearConcat")
_WEIGHT_ONLY = ("MatMulNBits", "MatMulBnb4", "GatherBlockQuantized", "QMoE")
_SMALL = ("int4", "uint4", "int8", "uint8", "float8e4m3fn", "float8e5m2", "int2", "uint2", "float4e2m1")


def detect_quantization(model: onnx.ModelProto, operators: Mapping[str, int]) -> str | None:
    """Return the kinds of quantization found, such as 'QDQ int8' or 'dynamic int8', or None."""
    bare = Counter[str]()
    for name, count in operators.items():
        bare[name.rsplit("::", 1)[-1]] += count
    kinds = []
    if any(bare[name] for name in _STATIC):
        kinds.append("QOperator int8")
    if any(bare[name] for name in _DYNAMIC):
        kinds.append("dynamic int8")
    if bare["QuantizeLinear"] and bare["DequantizeLinear"]:
        kinds.append(f"QDQ {_smallest_weights(model)}")
    elif bare["DequantizeLinear"]:
        kinds.append(f"weight-only {_smallest_weights(model)}")
    kinds.extend(f"weight-only ({name})" for name in _WEIGHT_ONLY if bare[name])
    return ", ".join(kinds) or None


def _smallest_weights(model: onnx.ModelProto) -> str:
    """Return the narrow element type of most weights; scalars are zero points and do not count."""
    counts = Counter[str]()
    for weight in walk_weights(model):
        name = dtype_name(weight.data_type)
        if name in _SMALL and len(weight.dims) > 0:
            counts[name] += max(1, math.prod(weight.dims))
    return counts.most_common(1)[0][0] if counts else "int8"


KEPT_TENSORS = 200
_PIECE_BYTES = 4 << 20
# Masks that drop the sign bit, so that -0.0 counts as zero.
_FLOAT_MASKS = {
    "float32": 0x7FFF_FFFF,
    "float64": 0x7FFF_FFFF_FFFF_FFFF,
    "float16": 0x7FFF,
    "bfloat16": 0x7FFF,
    "float8e4m3fn": 0x7F,
    "float8e5m2": 0x7F,
}
_WIDTHS = {
    **dict.fromkeys(("float32", "int32", "uint32"), 4),
    **dict.fromkeys(("float64", "int64", "uint64"), 8),
    **dict.fromkeys(("float16", "bfloat16", "int16", "uint16"), 2),
    **dict.fromkeys(("int8", "uint8", "bool", "float8e4m3fn", "float8e5m2", "float8e4m3fnuz", "float8e5m2fnuz"), 1),
}
_NIBBLES = ("int4", "uint4")


@dataclass(frozen=True, slots=True)
class ZeroBudget:
    """Limits of counting; above them the summary says that zeros were not counted."""

    seconds: float = 10.0
    total_bytes: int = 4_000_000_000
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True)
class ZeroCount:
    """Zeros of all weights and of the largest ones, or the reason why they were not counted."""

    total: int | None
    tensors: tuple[tuple[str, int, int], ...]
    reason: Reason | None = None


def count_zeros(weights: Iterable[onnx.TensorProto], model_path: Path, budget: ZeroBudget) -> ZeroCount:
    """Count the zeros of every numeric weight."""
    weights = list(weights)
    total_bytes = sum(math.prod(w.dims) * _WIDTHS.get(dtype_name(w.data_type), 1) for w in weights)
    if total_bytes > budget.total_bytes:
        return ZeroCount(None, (), because("weights_uncounted", bytes=total_bytes))
    until = budget.clock() + budget.seconds
    sizes: dict[Path, int] = {}
    found: list[tuple[str, int, int]] = []
    for weight in weights:
        if budget.clock() > until:
            return ZeroCount(None, (), because("weights_took_too_long", s=budget.seconds))
        if dtype_name(weight.data_type) != "string":
            found.append((text(weight.name), math.prod(weight.dims), zeros_of(weight, model_path, sizes)))
    largest = sorted(found, key=lambda t: (-t[1], t[0]))[:KEPT_TENSORS]
    return ZeroCount(sum(zeros for _, _, zeros in found), tuple(largest))


def zeros_of(weight: onnx.TensorProto, model_path: Path, sizes: dict[Path, int], zero_point: int = 0) -> int:
    """Return the count of elements of one weight that are zero or equal to its zero point.

    `sizes` caches the sizes of checked external files.
    """
    dtype, elements = dtype_name(weight.data_type), math.prod(weight.dims)
    if (dtype not in _WIDTHS and dtype not in _NIBBLES) or not (is_external(weight) or weight.HasField("raw_data")):
        return _typed_zeros(weight, elements, zero_point)
    # An extent without a length reaches to the end of its file and includes other weights, so limit the read.
    needed = (elements + 1) // 2 if dtype in _NIBBLES else elements * _WIDTHS[dtype]
    if is_external(weight):
        place = extent(weight, model_path, sizes)
        pieces: Iterable[bytes | memoryview] = read_chunks(
            place.path, place.offset, min(place.length, needed), _PIECE_BYTES
        )
    else:
        raw = memoryview(weight.raw_data)[:needed]
        pieces = (raw[at : at + _PIECE_BYTES] for at in range(0, len(raw), _PIECE_BYTES))
    zeros, last = 0, 0xFF
    for piece in pieces:
        zeros += _zeros_in(piece, dtype, zero_point)
        last = piece[-1]
    # After an odd count, the last half byte is no weight.
    return zeros - int(dtype in _NIBBLES and elements % 2 == 1 and last >> 4 == zero_point % 16)


def _zeros_in(piece: bytes | memoryview, dtype: str, zero_point: int) -> int:
    if dtype in _NIBBLES:
        packed, zero = np.frombuffer(piece, np.uint8), zero_point % 16
        return int(np.count_nonzero(packed & 0x0F == zero) + np.count_nonzero(packed >> 4 == zero))
    width = _WIDTHS[dtype]
    bits = np.frombuffer(piece, f"<u{width}", count=len(piece) // width)
    if zero_point:
        return int(np.count_nonzero(bits == zero_point % (1 << 8 * width)))
    if dtype in _FLOAT_MASKS:
        bits = bits & bits.dtype.type(_FLOAT_MASKS[dtype])
    return int(bits.size - np.count_nonzero(bits))


def _typed_zeros(weight: onnx.TensorProto, elements: int, zero_point: int) -> int:
    try:
        array = numpy_helper.to_array(weight)
    except (ValueError, TypeError, KeyError) as error:
        raise ModelError("weight_damaged", name=text(weight.name), text=str(error)[:500]) from None
    return elements - int(np.count_nonzero(array - zero_point if zero_point else array))


Interface = tuple[tuple[Port, ...], tuple[Port, ...]]
ReadInterface = Callable[[str, str], Interface]
"""Reads inputs and outputs with an engine, by path and format, for files that only the engine can parse."""

_NO_BUDGET_LIMIT = ZeroBudget()


def inspect(
    path: str | os.PathLike[str],
    read_interface: ReadInterface | None = None,
    budget: ZeroBudget = _NO_BUDGET_LIMIT,
    checksums: Checksums | None = None,
) -> ModelSummary:
    """Describe the model at `path` without running any of it; raise ModelError if it is invalid."""
    file = locate(path, foreign=True)
    hashes = checksums or Checksums()
    if file.format not in ("onnx", "ort"):
        return _describe_interface(file, None, read_interface, hashes)
    data = read_model(file)
    if file.format == "ort":
        return _describe_interface(file, data, read_interface, hashes)
    model = parse(data, file.path)
    external = check_external(model, file.path)
    return _describe(file, data, model, external, budget, hashes)


def load_graph(path: str | os.PathLike[str]) -> onnx.ModelProto | None:
    """Return the parsed model, for data that is not in a summary; None for an .ort file."""
    file = locate(path)
    return None if file.format == "ort" else parse(read_model(file), file.path)


def find_twin(summary: ModelSummary) -> str:
    """Return the ONNX file of the same network, for a model that only its engine reads; '' if there is none."""
    return "" if summary.format in ("onnx", "ort") else twin_of(summary.path)


def find_graph(summary: ModelSummary) -> onnx.ModelProto | None:
    """Return the parsed model, or its ONNX twin; None if there is no graph to read."""
    path = find_twin(summary) or (summary.path if summary.format == "onnx" else "")
    return load_graph(path) if path else None


def require_graph(path: str | os.PathLike[str]) -> onnx.ModelProto:
    """Return the parsed model; raise ModelError for an .ort file, whose graph only its engine can read."""
    model = load_graph(path)
    if model is None:
        raise ModelError("ort_without_graph", path=str(path))
    return model


def _describe(
    file: ModelFile,
    data: bytes,
    model: onnx.ModelProto,
    external: ExternalData,
    budget: ZeroBudget,
    hashes: Checksums,
) -> ModelSummary:
    operators = Counter(_operator(node) for node in walk_nodes(model))
    types = Counter[str]()
    for weight in walk_weights(model):
        elements = math.prod(weight.dims)
        if any(dim < 0 for dim in weight.dims):
            raise ModelError("weight_with_negative_dim", path=str(file.path), name=text(weight.name))
        types[dtype_name(weight.data_type)] += elements
    zeros = count_zeros(walk_weights(model), file.path, budget)
    files, sha256 = hashes.stamps((file.path, *external.files), data)
    return ModelSummary(
        path=str(file.path),
        sha256=sha256,
        file_bytes=len(data),
        external_bytes=external.total_bytes,
        inputs=input_ports(model.graph),
        outputs=output_ports(model.graph),
        ir_version=model.ir_version,
        opsets={text(o.domain) or "ai.onnx": o.version for o in model.opset_import},
        producer=f"{text(model.producer_name)} {text(model.producer_version)}".strip() or None,
        nodes=sum(operators.values()),
        parameters=sum(types.values()),
        zeros=zeros.total,
        operators=dict(operators.most_common()),
        weight_types=dict(types.most_common()),
        quantization=detect_quantization(model, operators),
        external_files=external.locations,
        reason=zeros.reason,
        zero_tensors=zeros.tensors,
        files=files,
    )


def _describe_interface(
    file: ModelFile, data: bytes | None, read_interface: ReadInterface | None, hashes: Checksums
) -> ModelSummary:
    """Describe a file that only an engine can read, by its inputs and outputs."""
    if read_interface is None:
        raise ModelError("ort_needs_engine", path=str(file.path))
    inputs, outputs = read_interface(str(file.path), file.format)
    twin = twin_of(str(file.path)) if file.format != "ort" else ""
    graph = load_graph(twin) if twin else None
    if graph is not None and file.format == SAFETENSORS:
        inputs, outputs = input_ports(graph.graph), output_ports(graph.graph)  # its network takes any input by name
    elif graph is not None:
        inputs = _with_dims(inputs, graph)
    files, sha256 = hashes.stamps((file.path, *file.others), data)
    return ModelSummary(
        path=str(file.path),
        sha256=sha256,
        file_bytes=file.file_bytes,
        external_bytes=0,
        inputs=inputs,
        outputs=outputs,
        format=file.format,
        reason=_why_interface(file.format),
        files=files,
    )


def _why_interface(file_format: str) -> Reason:
    """Return why a file shows only its inputs and outputs."""
    if file_format == "ort":
        return Reason("ort_file")
    return because(
        "script_carries_code" if file_format == TORCHSCRIPT else "file_of_engine", engine=reader_of(file_format)
    )


def _with_dims(inputs: tuple[Port, ...], twin: onnx.ModelProto) -> tuple[Port, ...]:
    """Return inputs with the types and dims of the ONNX twin where their own file names none."""
    known = {one.name: one for one in input_ports(twin.graph)}
    return tuple(known.get(one.name, one) if one.shape is None else one for one in inputs)


def _operator(node: onnx.NodeProto) -> str:
    domain, name = text(node.domain), text(node.op_type)
    return name if domain in ("", "ai.onnx") else f"{domain}::{name}"
