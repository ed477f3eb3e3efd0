"""A model compiled by OpenVINO, with its bound samples, runs and read-back settings."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from tuibench.core.model import Port
from tuibench.core.reason import error_text
from tuibench.engines.protocol import (
    BadSetting,
    Bound,
    EngineRefusal,
    Feed,
    IoUnavailable,
    LoadSettings,
    Queue,
    ReadBack,
)

_LOOK_S = 0.001
_CALM_LOOKS = 2
_MOST_LOOKS = 1000


class OpenVinoQueue:
    """Queue that passes the samples in turn to one request per stream."""

    def __init__(self, queue: Any, submit: Callable[[Any, int], object], inputs: Sequence[Any], copies: bool) -> None:
        self._queue: Any = queue
        self._submit: Any = submit
        self._inputs = inputs
        self._copies = copies
        self._position = 0

    def run(self, until_ns: int, starts: Any, ends: Any) -> int:
        """Run every stream until `until_ns` or until the arrays are full, then drain; return the number of requests."""
        errors: list[BaseException] = []
        self._queue.set_callback(_make_stamp(ends, errors, self._copies))
        wait_for_idle, submit, clock = self._queue.get_idle_request_id, self._submit, perf_counter_ns
        inputs, samples, position = self._inputs, len(self._inputs), self._position
        most, count = min(len(starts), len(ends)), 0
        try:
            while count < most and not errors:
                # Raises the error of an earlier inference.
                wait_for_idle()
                now = clock()
                if now >= until_ns:
                    break
                starts[count] = now
                submit(inputs[position % samples], count)
                position += 1
                count += 1
        finally:
            self._position = position % samples
            # Also after an error: a request still running would write into arrays that the caller reuses.
            self._queue.wait_all()
        if errors:
            raise errors[0]
        return count

    def close(self) -> None:
        """Release the requests, once no engine thread uses one."""
        if self._queue is not None:
            _wait_for_quiet()
        self._queue = self._submit = None
        self._inputs = ()


def _wait_for_quiet() -> None:
    """Wait until all other threads of the process sleep.

    This avoids a deadlock: the last stream with a request needs the interpreter's lock to free its callback, while
    freeing the model joins that stream with the lock held. A thread that sleeps at two checks, with the lock free in
    between, no longer needs the lock.
    """
    own = threading.get_native_id()
    calm = 0
    for _ in range(_MOST_LOOKS):
        time.sleep(_LOOK_S)
        states = [_state(task) for task in Path("/proc/self/task").iterdir() if task.name != str(own)]
        calm = calm + 1 if all(state in ("S", "") for state in states) else 0
        if calm == _CALM_LOOKS:
            return


def _state(task: Path) -> str:
    """Return the kernel's state letter, or '' if the thread has just ended."""
    try:
        return (task / "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def _make_stamp(ends: Any, errors: list[BaseException], copies: bool) -> Callable[[Any, int], None]:
    """Return the callback of one run: copies outputs if the I/O class requires it, then takes the stamp."""
    clock = perf_counter_ns

    def stamp(request: Any, index: int) -> None:
        try:
            if copies:
                for tensor in request.output_tensors:
                    tensor.data.copy()
            ends[index] = clock()
        except BaseException as error:  # an error that leaves a callback ends the process; `run` raises it instead
            errors.append(error)

    return stamp


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
_MOST_CHARS = 2000


def read_ports(nodes: Sequence[Any], role: str, names: Sequence[str]) -> tuple[Port, ...]:
    """Return the ports under their names in the file; raise EngineRefusal for a port that cannot be fed or fetched.

    OpenVINO's own names do not work: removing an Identity or Dropout renames the values on both sides.
    """
    if len(names) != len(nodes):
        raise EngineRefusal("other_port_count", engine="openvino", role=role, count=len(nodes), expected=len(names))
    return tuple(_read_port(node, role, name) for node, name in zip(nodes, names, strict=True))


def make_tensor(ov: Any, port: Port, element_type: Any, value: Any) -> Any:
    """Return a tensor in the engine's own memory, so that alignment is the same for every sample and run."""
    shape = getattr(value, "shape", None)
    expected = _RAW.get(port.dtype, port.dtype)
    if shape is None:
        raise EngineRefusal("no_tensor_given", engine="openvino", name=port.name, type=type(value).__name__)
    if value.dtype.name not in (expected, port.dtype):
        raise EngineRefusal("other_type_given", name=port.name, dtype=port.dtype, given=value.dtype.name)
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
    """Return MemoryError or EngineRefusal for a RuntimeError, the only type that OpenVINO raises."""
    reason = explain(error)
    if "bad_alloc" in reason:
        return MemoryError(reason)
    return EngineRefusal.from_reason(error_text(reason[:_MOST_CHARS]))


def _read_port(node: Any, role: str, name: str) -> Port:
    kind = str(node.get_element_type().get_type_name())
    if kind == "string":
        # Seen with 2026.4.1: both sides of an Identity own the same characters, and freeing them crashes the process.
        raise EngineRefusal("strings_corrupt_memory", engine="openvino", role=role, name=name)
    if kind not in _DTYPES:
        raise EngineRefusal("unsupported_port_type", engine="openvino", role=role, name=name, type=kind)
    return Port(name, "tensor", _DTYPES[kind], _read_shape(node.get_partial_shape()))


def _read_shape(shape: Any) -> tuple[int | str | None, ...] | None:
    if shape.rank.is_dynamic:
        return None
    return tuple(dim.get_length() if dim.is_static else None for dim in shape)


_HALVES = ("bf16", "f16")
_NO_KERNELS = ("Const", "Input", "Output")


class OpenVinoSession:
    """Session that addresses ports by position, because one tensor name can denote an input and an output."""

    def __init__(
        self, ov: Any, compiled: Any, inputs: tuple[Port, ...], outputs: tuple[Port, ...], setting: LoadSettings
    ) -> None:
        self._ov = ov
        self._compiled = compiled
        self._inputs = inputs
        self._outputs = outputs
        self._setting = setting
        self._shapes: list[tuple[int, ...]] | None = None
        self._read: ReadBack | None = None
        used = self._precision()
        if setting.precision not in (used, "engine-default"):
            raise BadSetting("other_precision_used", engine="openvino", used=used, precision=setting.precision)

    @property
    def dynamic(self) -> bool:
        """True if a shape is still dynamic after compiling, which costs time in every call."""
        return any(node.get_partial_shape().is_dynamic for node in self._compiled.inputs)

    def inputs(self) -> tuple[Port, ...]:
        """Return the inputs in the model's order."""
        return self._inputs

    def outputs(self) -> tuple[Port, ...]:
        """Return the outputs in the model's order."""
        return self._outputs

    def bind(self, feeds: Sequence[Feed], io: str) -> Bound:
        """Bind one request per sample with its tensors set once; for 'call', one request that receives arrays."""
        if io == "call":
            calls = tuple(partial(self._compiled, self._arrays(feed)) for feed in feeds)
            return Bound(io, calls, partial(self._call_outputs, calls))
        requests = [self._request(feed) for feed in feeds]
        runs = tuple(self._runner(request) for request in requests)
        if io == "bound":
            self._bind_outputs(requests, requests[0])
        return Bound(io, runs, partial(self._fetch, requests), (requests,))

    def queue(self, feeds: Sequence[Feed], io: str) -> Queue:
        """Return a queue with one request per stream; each submission sets the tensors of the next sample."""
        queue = self._ov.AsyncInferQueue(self._compiled, int(self._compiled.get_property("NUM_STREAMS")))
        if io == "call":
            return OpenVinoQueue(queue, partial(_submit_arrays, queue), [self._arrays(f) for f in feeds], copies=True)
        if io == "bound":
            example = self._request(feeds[0])
            for request in queue:
                self._bind_outputs([request], example)
        submit = _without_conversion(self._ov.AsyncInferQueue, queue, "start_async")
        return OpenVinoQueue(queue, submit, [dict(enumerate(self._tensors(f))) for f in feeds], copies=False)

    def read_back(self) -> ReadBack:
        """Return the compiled model's settings and the precisions of its kernels; also works after `close`."""
        if self._compiled is not None:
            self._read = self._read_properties()
        if self._read is None:
            raise RuntimeError("the model was closed before the request")
        return self._read

    def close(self) -> None:
        """Free the compiled model; bound calls keep their own part of it until they are dropped."""
        if self._compiled is not None:
            self._read = self._read_properties()
        self._compiled = None

    def _read_properties(self) -> ReadBack:
        read = self._compiled.get_property
        kernels: Counter[str] = Counter()
        for node in self._compiled.get_runtime_model().get_ordered_ops():
            facts = node.get_rt_info()
            if facts["layerType"].value not in _NO_KERNELS:
                kernels[facts["runtimePrecision"].value] += 1
        asked = self._precision()
        details = {
            "kernels": ", ".join(f"{count} {name}" for name, count in kernels.most_common()),
            "shape": self._setting.options.get("shape", "model"),
            "dynamic_quantization_group": str(read("DYNAMIC_QUANTIZATION_GROUP_SIZE")),
        }
        if asked in _HALVES and asked not in kernels:
            # The property is only a hint: small and quantized models have no kernel in that precision.
            details["precision"] = f"asked {asked}, but no kernel computes in it"
        return ReadBack(
            precision=asked,
            threads=int(read("INFERENCE_NUM_THREADS")),
            streams=int(read("NUM_STREAMS")),
            pinned="core" if read("ENABLE_CPU_PINNING") else self._free_pinning(),
            details=details,
        )

    def _free_pinning(self) -> str:
        """Return numa if the CPUs of the process are those of one node, which its threads then share."""
        return "numa" if self._setting.pin == "numa" and len(self._setting.nodes) == 1 else "none"

    def _precision(self) -> str:
        return str(self._compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name())

    def _tensors(self, feed: Feed) -> list[Any]:
        missing = [port.name for port in self._inputs if port.name not in feed]
        if missing:
            raise EngineRefusal("input_not_given", name=missing[0])
        pairs = zip(self._inputs, self._compiled.inputs, strict=True)
        return [make_tensor(self._ov, port, node.get_element_type(), feed[port.name]) for port, node in pairs]

    def _arrays(self, feed: Feed) -> dict[int, Any]:
        """Return the arrays unchanged, and tensors for types that numpy lacks."""
        tensors = self._tensors(feed)
        return {i: tensors[i] if is_raw(port) else feed[port.name] for i, port in enumerate(self._inputs)}

    def _request(self, feed: Feed) -> Any:
        request = self._compiled.create_infer_request()
        for index, tensor in enumerate(self._tensors(feed)):
            request.set_input_tensor(index, tensor)
        return request

    def _runner(self, request: Any) -> Callable[[], object]:
        # Use views of the outputs instead of copies, and no decoding.
        return partial(_without_conversion(self._ov.InferRequest, request, "infer"), {}, True, False)

    def _bind_outputs(self, requests: Sequence[Any], example: Any) -> None:
        """Give all `requests` the same output buffers, with the output shapes of `example`."""
        both = {name for node in self._compiled.inputs for name in node.get_names()}
        for port, node in zip(self._outputs, self._compiled.outputs, strict=True):
            if both & set(node.get_names()):
                # LoadSettings the output would silently set the input instead.
                raise IoUnavailable("output_is_input", name=port.name)
        for index, (node, shape) in enumerate(zip(self._compiled.outputs, self._output_shapes(example), strict=True)):
            buffer = self._ov.Tensor(node.get_element_type(), list(shape))
            for request in requests:
                request.set_output_tensor(index, buffer)

    def _output_shapes(self, example: Any) -> list[tuple[int, ...]]:
        shapes = [node.get_partial_shape() for node in self._compiled.outputs]
        if all(shape.is_static for shape in shapes):
            return [tuple(shape.to_shape()) for shape in shapes]
        if self._shapes is None:
            _prove(example)
            self._shapes = [tuple(example.get_output_tensor(i).shape) for i in range(len(shapes))]
        return self._shapes

    def _fetch(self, requests: Sequence[Any], sample: int) -> dict[str, Any]:
        request = requests[sample]
        _prove(request)
        self._shapes = [tuple(request.get_output_tensor(i).shape) for i in range(len(self._outputs))]
        return {port.name: copy_array(port, request.get_output_tensor(i)) for i, port in enumerate(self._outputs)}

    def _call_outputs(self, calls: Sequence[Callable[[], object]], sample: int) -> dict[str, Any]:
        try:
            result: Any = calls[sample]()
        except RuntimeError as error:
            raise translate(error) from error
        self._shapes = [result[i].shape for i in range(len(self._outputs))]
        return {port.name: copy_raw(port, result[i]) for i, port in enumerate(self._outputs)}


def _without_conversion(kind: Any, instance: Any, method: str) -> Any:
    """Return the binding's own method; the Python method around it takes 0.8 µs to find nothing to convert."""
    return getattr(super(kind, instance), method)


def _submit_arrays(queue: Any, arrays: dict[int, Any], index: int) -> None:
    queue.start_async(arrays, index, share_inputs=True)


def _prove(request: Any) -> None:
    """Run once on the engine's thread: on the caller's thread, with one thread, shape errors stay hidden."""
    try:
        request.start_async()
        request.wait()
    except RuntimeError as error:
        raise translate(error) from error
