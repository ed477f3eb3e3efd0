"""A model compiled by OpenVINO, with its bound samples, runs and read-back settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tuibench.core.model import Port
from tuibench.engines.openvino_queue import OpenVinoQueue
from tuibench.engines.openvino_tensor import copy_array, copy_raw, is_raw, make_tensor, translate
from tuibench.engines.protocol import BadSetting, Bound, Feed, IoUnavailable, Queue, ReadBack, Refusal, Setting

_HALVES = ("bf16", "f16")
_NO_KERNELS = ("Const", "Input", "Output")


class OpenVinoSession:
    """Session that addresses ports by position, because one tensor name can denote an input and an output."""

    def __init__(
        self, ov: Any, compiled: Any, inputs: tuple[Port, ...], outputs: tuple[Port, ...], setting: Setting
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
            raise BadSetting(f"openvino would compute {used} on this CPU where {setting.precision} was asked")

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
            raise RuntimeError("the model was closed before it was asked")
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
            pinned="core" if read("ENABLE_CPU_PINNING") else "none",
            details=details,
        )

    def _precision(self) -> str:
        return str(self._compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name())

    def _tensors(self, feed: Feed) -> list[Any]:
        missing = [port.name for port in self._inputs if port.name not in feed]
        if missing:
            raise Refusal(f"input '{missing[0]}' was not given")
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
                # Setting the output would silently set the input instead.
                raise IoUnavailable(f"output '{port.name}' is an input passed through")
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
