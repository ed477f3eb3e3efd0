"""OpenVINO on the CPU: f32 by default, without telemetry, with its own queue for streams."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from tuibench.engines.onnx_wire import read_names
from tuibench.engines.openvino_session import OpenVinoSession
from tuibench.engines.openvino_tensor import read_ports, translate
from tuibench.engines.protocol import BadSetting, Capabilities, Refusal, Setting

CAPABILITIES = Capabilities(
    name="openvino",
    distribution="openvino",
    precisions=("f32", "bf16", "f16"),
    stream_kinds=("queue", "threads", "processes"),
    io_classes=("bound", "engine-allocated", "call"),
    extra="openvino",
)
_SHAPES = ("model", "static")
_ORT_MARK = b"ORTM"


def make() -> OpenVinoEngine:
    """Return the engine, for the registry."""
    return OpenVinoEngine()


def import_openvino() -> Any:
    """Import OpenVINO without its telemetry, which on import looks up a host and writes to the home directory."""
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
    return importlib.import_module("openvino")  # 230 ms


class OpenVinoEngine:
    """Engine that sets explicitly each property that changes the work."""

    capabilities = CAPABILITIES

    def environment(self, setting: Setting) -> dict[str, str]:
        """Return no variables: threads are properties, and the import blocks the telemetry."""
        return {}

    def start(self) -> str:
        """Import OpenVINO and return its version."""
        return str(import_openvino().__version__).partition("-")[0]

    def prepare(self, setting: Setting) -> str:
        """Return the user's own file, which is only read."""
        return setting.model_path

    def load(self, setting: Setting) -> OpenVinoSession:
        """Read and compile the model; raise Refusal if OpenVINO rejects it."""
        properties = choose_properties(setting)
        shape = setting.options.get("shape", "model")
        if shape not in _SHAPES:
            raise BadSetting(f"openvino has no shape '{shape}'; it takes {' or '.join(_SHAPES)}")
        path = self.prepare(setting)
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
            raise Refusal("the model has no outputs")
        return OpenVinoSession(ov, compiled, inputs, outputs, setting)


def choose_properties(setting: Setting) -> dict[str, Any]:
    """Return the properties to compile with; raise Refusal if they are unsupported."""
    if not setting.optimize:
        raise Refusal("openvino cannot run a model unoptimized")
    if setting.precision not in (*CAPABILITIES.precisions, "engine-default"):
        takes = ", ".join(CAPABILITIES.precisions)
        raise BadSetting(f"openvino has no precision '{setting.precision}'; it takes {takes} or engine-default")
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
        properties["DYNAMIC_QUANTIZATION_GROUP_SIZE"] = 0
    return properties


def _read_names(path: str) -> tuple[list[str], list[str]]:
    try:
        return read_names(path)
    except UnicodeDecodeError as error:
        raise Refusal(f"a name in the model is not valid UTF-8: {error.reason}") from error
    except ValueError as error:
        raise Refusal(f"the file is not plain ONNX: {error}") from error


def _refuse_ort(path: str) -> None:
    """Refuse with one line, before all of OpenVINO's readers try the file and write to stderr."""
    with Path(path).open("rb") as file:
        if file.read(8)[4:] == _ORT_MARK:
            raise Refusal("openvino reads ONNX files and not the .ort format of ONNX Runtime")
