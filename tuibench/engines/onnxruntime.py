"""ONNX Runtime on the CPU, the reference engine; binds inputs and outputs once, outside of the timed calls."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from tuibench.core.model import Port
from tuibench.engines.protocol import (
    Bound,
    Capabilities,
    EngineRefusal,
    Feed,
    IoUnavailable,
    LoadSettings,
    Queue,
    ReadBack,
)

_ERROR_LEVEL = 3
_DTYPES = {
    "float": "float32",
    "double": "float64",
    "float16": "float16",
    "bfloat16": "bfloat16",
    "string": "string",
    "bool": "bool",
}
# Types that numpy lacks are passed as raw bits; the number is TensorProto.DataType.
_RAW_TYPES = {
    "bfloat16": 16,
    "float8e4m3fn": 17,
    "float8e4m3fnuz": 18,
    "float8e5m2": 19,
    "float8e5m2fnuz": 20,
    "uint4": 21,
    "int4": 22,
}

_PRECISIONS = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64"}

CAPABILITIES = Capabilities(
    name="onnxruntime",
    precisions=("f32",),
    stream_kinds=("threads", "processes"),
    io_classes=("bound", "engine-allocated", "call"),
    pins_caller=True,
)


def make() -> OnnxRuntimeEngine:
    """Return the engine; `engines/factory.py` calls it."""
    return OnnxRuntimeEngine()


class OnnxRuntimeEngine:
    """Engine with explicit thread counts: with the default, the pool escapes the process's CPU mask."""

    capabilities = CAPABILITIES

    def environment(self, setting: LoadSettings) -> dict[str, str]:
        """Return the variable that limits OpenMP pools to the session's threads."""
        return {"OMP_NUM_THREADS": str(setting.threads)}

    def start(self) -> str:
        """Import ONNX Runtime; disable its telemetry first, because the import alone starts it."""
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import onnxruntime  # 100 ms

        onnxruntime.set_default_logger_severity(_ERROR_LEVEL)
        onnxruntime.disable_telemetry_events()
        return str(onnxruntime.__version__)

    def load(self, setting: LoadSettings) -> OnnxRuntimeSession:
        """Create the session; a refusal of the model is raised here or at the first run."""
        return OnnxRuntimeSession(*open_session(setting))


def open_session(
    setting: LoadSettings,
    model: str | bytes = "",
    *,
    profile: str = "",
    save: str = "",
    basic: bool = False,
    entries: Mapping[str, str] | None = None,
) -> tuple[Any, LoadSettings, str]:
    """Create a session of the setting's file, or of `model`; return it with the setting and the kind of pinning.

    `profile` is the prefix of profile files, `save` the path for the optimized model; `basic` keeps the operators.
    """
    import onnxruntime as ort

    options, pinned = _make_options(setting)
    if profile:
        options.enable_profiling = True
        options.profile_file_prefix = profile
    if save:
        options.optimized_model_filepath = save
    if basic:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    for name, value in (entries or {}).items():
        options.add_session_config_entry(name, value)
    session = ort.InferenceSession(model or setting.model_path, options, providers=["CPUExecutionProvider"])
    return session, setting, pinned


def _make_options(setting: LoadSettings) -> tuple[Any, str]:
    """Return the options of every session with this setting, profiled ones included, and the kind of pinning."""
    import onnxruntime as ort

    CAPABILITIES.require_precision(setting.precision)
    options = ort.SessionOptions()
    options.intra_op_num_threads = setting.threads
    options.inter_op_num_threads = 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = _ERROR_LEVEL
    if not setting.optimize:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    pinned = "none"
    if setting.pin == "core" and len(setting.cpus) >= setting.threads:
        pinned = "core"
        if setting.threads > 1:
            # One group per pool thread, 1-based logical CPUs; the worker pins the first, its calling thread.
            groups = ";".join(str(cpu + 1) for cpu in setting.cpus[1 : setting.threads])
            options.add_session_config_entry("session.intra_op_thread_affinities", groups)
    elif setting.pin == "numa" and setting.nodes:
        pinned = "numa"
        if setting.threads > 1:
            options.add_session_config_entry("session.intra_op_thread_affinities", node_groups(setting))
    return options, pinned


def node_groups(setting: LoadSettings) -> str:
    """Return the CPUs of each pool thread, 1-based: all CPUs of its NUMA node; the first thread is the caller."""
    cpus, threads = setting.cpus, setting.threads
    own = [cpus[index * len(cpus) // threads] for index in range(1, threads)]
    nodes = [next((node for node in setting.nodes if cpu in node), (cpu,)) for cpu in own]
    return ";".join(",".join(str(cpu + 1) for cpu in node) for node in nodes)


class OnnxRuntimeSession:
    """One loaded model."""

    def __init__(self, session: Any, setting: LoadSettings, pinned: str) -> None:
        self._session = session
        self._setting = setting
        self._pinned = pinned
        try:
            self._inputs = tuple(_port(arg) for arg in session.get_inputs())
            self._outputs = tuple(_port(arg) for arg in session.get_outputs())
        except UnicodeDecodeError as error:
            raise EngineRefusal("name_not_utf8", text=error.reason) from error
        self._names = [port.name for port in self._outputs]
        self._shapes: list[tuple[int, ...]] | None = None

    def inputs(self) -> tuple[Port, ...]:
        """Return the inputs that must be fed."""
        return self._inputs

    def outputs(self) -> tuple[Port, ...]:
        """Return the outputs in the model's order."""
        return self._outputs

    def bind(self, feeds: Sequence[Feed], io: str) -> Bound:
        """Bind the samples as the I/O class requires."""
        if io == "call":
            return self._bind_call(feeds)
        self._require_tensors(self._inputs, "input")
        bindings = [self._binding(feed) for feed in feeds]
        if io == "engine-allocated":
            for binding in bindings:
                for name in self._names:
                    binding.bind_output(name, "cpu")
        else:
            self._bind_outputs(feeds[0], bindings)
        run = self._session.run_with_iobinding
        calls = tuple(partial(run, binding) for binding in bindings)
        copied = all(_is_plain(port) for port in self._outputs)
        return Bound(io, calls, partial(self._fetch, bindings, feeds), (bindings,), copied)

    def queue(self, feeds: Sequence[Feed], io: str) -> Queue:
        """Refuse: ONNX Runtime has no queue; streams are threads or processes."""
        raise EngineRefusal("engine_without_queue", engine="onnxruntime")

    def read_back(self) -> ReadBack:
        """Return the settings of the session; its pool has no query, so the worker counts the threads."""
        options = self._session.get_session_options()
        return ReadBack(
            precision=self._precision(),
            threads=int(options.intra_op_num_threads),
            streams=1,
            pinned=self._pinned,
            details={
                "providers": ",".join(self._session.get_providers()),
                "types": ", ".join(sorted(self._float_types())) or "no floats",
            },
        )

    def _float_types(self) -> set[str]:
        """Return the floating types of ports and weights; ONNX Runtime converts none of them on the CPU."""
        types = {port.dtype for port in (*self._inputs, *self._outputs)} | set(self._setting.weight_types)
        return {name for name in types if name in _PRECISIONS}

    def _precision(self) -> str | None:
        names = {_PRECISIONS[name] for name in self._float_types()} or {"f32"}
        return names.pop() if len(names) == 1 else None

    def close(self) -> None:
        """Free the session and its pool."""
        self._session = None

    def _require_tensors(self, ports: Sequence[Port], role: str) -> None:
        for port in ports:
            if not _is_plain(port):
                raise IoUnavailable("port_no_plain_tensor", role=role, name=port.name, kind=port.kind, dtype=port.dtype)

    def _bind_call(self, feeds: Sequence[Feed]) -> Bound:
        if any(port.dtype in _RAW_TYPES for port in self._inputs):
            raise IoUnavailable("inputs_without_numpy_type")
        run = self._session.run
        calls = tuple(partial(run, self._names, _native(feed)) for feed in feeds)
        return Bound("call", calls, partial(self._call_outputs, calls))

    def _call_outputs(self, calls: Sequence[Any], sample: int) -> dict[str, Any]:
        values = calls[sample]()
        if all(hasattr(v, "shape") for v in values):
            self._shapes = [tuple(v.shape) for v in values]
        return dict(zip(self._names, values, strict=True))

    def _binding(self, feed: Feed) -> Any:
        import onnxruntime as ort

        binding = self._session.io_binding()
        for port in self._inputs:
            array = feed[port.name]
            if port.dtype in _RAW_TYPES:
                value = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(array, _RAW_TYPES[port.dtype])
            else:
                # Let the engine allocate, so that alignment is the same in every class and run.
                value = ort.OrtValue.ortvalue_from_shape_and_type(list(array.shape), array.dtype.type)
                value.update_inplace(array)
            binding.bind_ortvalue_input(port.name, value)
        return binding

    def _bind_outputs(self, feed: Feed, bindings: Sequence[Any]) -> None:
        import numpy as np
        import onnxruntime as ort

        self._require_tensors(self._outputs, "output")
        if any(port.dtype in _RAW_TYPES for port in self._outputs):
            raise IoUnavailable("output_without_numpy_type")
        if self._shapes is None:
            self._bind_call([feed]).outputs(0)
        shapes = self._shapes or []
        for port, shape in zip(self._outputs, shapes, strict=True):
            value = ort.OrtValue.ortvalue_from_shape_and_type(list(shape), np.dtype(port.dtype).type)
            for binding in bindings:
                binding.bind_ortvalue_output(port.name, value)

    def _fetch(self, bindings: Sequence[Any], feeds: Sequence[Feed], sample: int) -> dict[str, Any]:
        if not all(_is_plain(port) for port in self._outputs):
            # A binding returns sequences and maps only as handles; a plain call returns the same values as objects.
            return dict(zip(self._names, self._session.run(self._names, _native(feeds[sample])), strict=True))
        binding = bindings[sample]
        self._session.run_with_iobinding(binding)
        values = binding.get_outputs()
        return {name: value.numpy().copy() for name, value in zip(self._names, values, strict=True)}


def _native(feed: Feed) -> Feed:
    """Return the feed with strings as objects, as the engine requires."""
    return {name: value.astype(object) if _is_text(value) else value for name, value in feed.items()}


def _is_plain(port: Port) -> bool:
    """Return whether a value of this port fits into a buffer."""
    return port.kind == "tensor" and port.dtype != "string"


def _is_text(value: Any) -> bool:
    return getattr(getattr(value, "dtype", None), "kind", "") == "U"


def _port(arg: Any) -> Port:
    kind, dtype, inner = _parse(arg.type)
    shape = None if kind != "tensor" else tuple(_dim(d) for d in arg.shape)
    return Port(arg.name, kind, dtype, shape, inner)


def _dim(value: Any) -> int | str | None:
    if isinstance(value, int):
        return value if value >= 0 else None
    return str(value) if value else None


def _parse(text: str) -> tuple[str, str, str | None]:
    """Parse a type such as 'tensor(float)', 'seq(map(int64,tensor(float)))' or 'optional(seq(tensor(float)))'."""
    match = re.fullmatch(r"(\w+)\((.*)\)", text)
    if match is None:
        return "tensor", text, None
    outer, body = match.groups()
    if outer in ("tensor", "sparse_tensor"):
        return "tensor", _DTYPES.get(body, body), None
    if outer == "seq":
        inner = _parse(body)
        return "sequence", inner[1], inner[0]
    if outer == "map":
        key, _, value = body.partition(",")
        return "map", f"{_DTYPES.get(key, key)}->{_parse(value)[1]}", None
    if outer == "optional":
        inner = _parse(body)
        return "optional", inner[1], inner[0]
    return outer, body, None
