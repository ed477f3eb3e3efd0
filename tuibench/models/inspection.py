"""Static inspection of a model, without running it."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable

import onnx

from tuibench.core.errors import ModelError
from tuibench.core.model import ModelSummary, Port
from tuibench.core.text import show
from tuibench.models.checksum import Checksums
from tuibench.models.external import ExternalData, check_external
from tuibench.models.file import ModelFile, locate, read_model
from tuibench.models.graph import dtype_name, parse, text, walk_nodes, walk_weights
from tuibench.models.port import input_ports, output_ports
from tuibench.models.quantization import detect_quantization
from tuibench.models.zero import ZeroBudget, count_zeros

Interface = tuple[tuple[Port, ...], tuple[Port, ...]]
ReadInterface = Callable[[str], Interface]
"""Reads inputs and outputs with an engine, for files that only the engine can parse."""

_NO_BUDGET_LIMIT = ZeroBudget()
_ORT_REASON = "an .ort file: only ONNX Runtime can read it, and it tells no more than the interface"


def inspect(
    path: str | os.PathLike[str],
    read_interface: ReadInterface | None = None,
    budget: ZeroBudget = _NO_BUDGET_LIMIT,
    checksums: Checksums | None = None,
) -> ModelSummary:
    """Describe the model at `path` without running any of it; raise ModelError if it is invalid."""
    file = locate(path)
    data = read_model(file)
    hashes = checksums or Checksums()
    if file.format == "ort":
        return _describe_ort(file, data, read_interface, hashes)
    model = parse(data, file.path)
    external = check_external(model, file.path)
    return _describe(file, data, model, external, budget, hashes)


def load_graph(path: str | os.PathLike[str]) -> onnx.ModelProto | None:
    """Return the parsed model, for data that is not in a summary; None for an .ort file."""
    file = locate(path)
    return None if file.format == "ort" else parse(read_model(file), file.path)


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
            what = f"weight '{show(text(weight.name), 60)}' has a negative dim"
            raise ModelError(f"{show(file.path)}: {what}", "export the model again")
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


def _describe_ort(
    file: ModelFile, data: bytes, read_interface: ReadInterface | None, hashes: Checksums
) -> ModelSummary:
    if read_interface is None:
        raise ModelError(f"{show(file.path)} is an .ort file, which needs ONNX Runtime", "install onnxruntime")
    inputs, outputs = read_interface(str(file.path))
    files, sha256 = hashes.stamps((file.path,), data)
    return ModelSummary(
        path=str(file.path),
        sha256=sha256,
        file_bytes=len(data),
        external_bytes=0,
        inputs=inputs,
        outputs=outputs,
        format="ort",
        reason=_ORT_REASON,
        files=files,
    )


def _operator(node: onnx.NodeProto) -> str:
    domain, name = text(node.domain), text(node.op_type)
    return name if domain in ("", "ai.onnx") else f"{domain}::{name}"
