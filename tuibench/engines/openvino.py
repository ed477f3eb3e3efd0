"""OpenVINO on the CPU: f32 by default, without telemetry, with its own queue for streams."""

from __future__ import annotations

import importlib
import mmap
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tuibench.core.reason import Reason, because, error_text
from tuibench.engines.openvino_session import OpenVinoSession, read_ports, translate
from tuibench.engines.protocol import BadSetting, Capabilities, EngineRefusal, LoadSettings

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MODEL_GRAPH = 7
_GRAPH_INITIALIZER, _GRAPH_INPUT, _GRAPH_OUTPUT, _GRAPH_SPARSE = 5, 11, 12, 15
_TENSOR_NAME, _PORT_NAME, _SPARSE_VALUES = 8, 1, 1
_MOST_SHIFT = 63


class NotOnnx(ValueError):
    """The bytes are no ONNX model, for a reason."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.code)
        self.reason = reason


def read_names(path: str) -> tuple[list[str], list[str]]:
    """Return the inputs that must be fed and the outputs, in file order; raise ValueError if the file is not ONNX.

    Only names are copied: the file is mapped and the weights are skipped.
    """
    with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        constants: set[bytes] = set()
        inputs: list[bytes] = []
        outputs: list[bytes] = []
        for field, begin, end in _walk(data, 0, len(data)):
            if field != _MODEL_GRAPH:
                continue
            for part, first, last in _walk(data, begin, end):
                if part == _GRAPH_INITIALIZER:
                    constants.add(_name(data, first, last, _TENSOR_NAME))
                elif part == _GRAPH_SPARSE:
                    constants.update(_sparse_names(data, first, last))
                elif part == _GRAPH_INPUT:
                    inputs.append(_name(data, first, last, _PORT_NAME))
                elif part == _GRAPH_OUTPUT:
                    outputs.append(_name(data, first, last, _PORT_NAME))
        return [name.decode() for name in inputs if name not in constants], [name.decode() for name in outputs]


def _sparse_names(data: mmap.mmap, begin: int, end: int) -> Iterator[bytes]:
    """Yield the name of a sparse weight, which is the name of its values tensor."""
    for field, first, last in _walk(data, begin, end):
        if field == _SPARSE_VALUES:
            yield _name(data, first, last, _TENSOR_NAME)


def _name(data: mmap.mmap, begin: int, end: int, wanted: int) -> bytes:
    for field, first, last in _walk(data, begin, end):
        if field == wanted:
            return data[first:last]
    return b""


def _walk(data: mmap.mmap, begin: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield number, start and end of each field of bytes; skip the other fields."""
    at = begin
    while at < end:
        tag, at = _varint(data, at, end)
        kind, last = tag & 7, at
        if kind == _VARINT:
            _, last = _varint(data, at, end)
        elif kind == _BYTES:
            length, at = _varint(data, at, end)
            last = at + length
        elif kind in (_FIXED64, _FIXED32):
            last = at + (8 if kind == _FIXED64 else 4)
        else:
            raise NotOnnx(because("unknown_wire_type", type=kind, byte=at))
        if last > end:
            raise NotOnnx(because("field_too_long", number=tag >> 3))
        if kind == _BYTES:
            yield tag >> 3, at, last
        at = last


def _varint(data: mmap.mmap, at: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while at < end and shift <= _MOST_SHIFT:
        byte = data[at]
        value |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return value, at
        shift += 7
    raise NotOnnx(because("number_without_end", byte=at))


CAPABILITIES = Capabilities(
    name="openvino",
    precisions=("f32", "bf16", "f16"),
    stream_kinds=("queue", "threads", "processes"),
    io_classes=("bound", "engine-allocated", "call"),
)
_SHAPES = ("model", "static")
_ORT_MARK = b"ORTM"


def make() -> OpenVinoEngine:
    """Return the engine; `engines/factory.py` calls it."""
    return OpenVinoEngine()


def import_openvino() -> Any:
    """Import OpenVINO without its telemetry, which on import looks up a host and writes to the home directory."""
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
    return importlib.import_module("openvino")  # 230 ms


class OpenVinoEngine:
    """Engine that sets explicitly each property that changes the work."""

    capabilities = CAPABILITIES

    def environment(self, setting: LoadSettings) -> dict[str, str]:
        """Return no variables: threads are properties, and the import blocks the telemetry."""
        return {}

    def start(self) -> str:
        """Import OpenVINO and return its version."""
        return str(import_openvino().__version__).partition("-")[0]

    def load(self, setting: LoadSettings) -> OpenVinoSession:
        """Read and compile the model; raise EngineRefusal if OpenVINO rejects it."""
        properties = choose_properties(setting)
        shape = setting.options.get("shape", "model")
        if shape not in _SHAPES:
            raise BadSetting("unsupported_shape_mode", engine="openvino", given=shape, names=list(_SHAPES))
        path = setting.model_path
        _refuse_ort(path)
        ov = import_openvino()
        core = ov.Core()
        try:
            model = core.read_model(path)
            fed, fetched = _read_names(path)
            inputs, outputs = read_ports(model.inputs, "input", fed), read_ports(model.outputs, "output", fetched)
            if shape == "static":
                known = setting.shapes
                model.reshape({i: list(known[p.name]) for i, p in enumerate(inputs) if p.name in known})
            compiled = core.compile_model(model, "CPU", properties)
        except RuntimeError as error:
            raise translate(error) from error
        if not outputs:
            raise EngineRefusal("model_without_outputs")
        return OpenVinoSession(ov, compiled, inputs, outputs, setting)


def choose_properties(setting: LoadSettings) -> dict[str, Any]:
    """Return the properties to compile with; raise EngineRefusal if they are unsupported."""
    if not setting.optimize:
        raise EngineRefusal("engine_always_optimizes", engine="openvino")
    CAPABILITIES.require_precision(setting.precision)
    alone = setting.one_at_a_time
    properties: dict[str, Any] = {
        "PERFORMANCE_HINT": "LATENCY" if alone else "THROUGHPUT",
        "NUM_STREAMS": 1 if alone else setting.streams,
        "INFERENCE_NUM_THREADS": setting.threads,
        "ENABLE_CPU_PINNING": setting.pin == "core",
        # The process's affinity already decides which of two sibling threads stays idle.
        "ENABLE_HYPER_THREADING": True,
    }
    if setting.precision != "engine-default":
        properties["INFERENCE_PRECISION_HINT"] = setting.precision
        # Otherwise activations are rounded to 8 bits next to compressed weights, at any precision.
        # As text: releases of 2024 refuse Python's own integers here.
        properties["DYNAMIC_QUANTIZATION_GROUP_SIZE"] = "0"
    return properties


def _read_names(path: str) -> tuple[list[str], list[str]]:
    try:
        return read_names(path)
    except UnicodeDecodeError as error:
        raise EngineRefusal("name_not_utf8", text=error.reason) from error
    except ValueError as error:
        why = error.reason if isinstance(error, NotOnnx) else error_text(str(error))
        raise EngineRefusal("not_plain_onnx", why=why) from error


def _refuse_ort(path: str) -> None:
    """Refuse with one line, before all of OpenVINO's readers try the file and write to stderr."""
    with Path(path).open("rb") as file:
        if file.read(8)[4:] == _ORT_MARK:
            raise EngineRefusal("ort_file_unreadable", engine="openvino")
