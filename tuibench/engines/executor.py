"""The Executor of Intel's extension for transformers: BERT-like graphs only, in an interpreter of its own.

It aborts the process on graphs that it does not know, so operators are checked before it starts. Its inference holds
the interpreter's lock: streams are processes.
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterable, Sequence, Set
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from tuibench.core.model import Port
from tuibench.core.reason import because
from tuibench.engines.apart import import_without_init, require_call, require_numpy_1, require_strides
from tuibench.engines.error_words import engine_words
from tuibench.engines.openmp import pool_pinning, pool_variables
from tuibench.engines.protocol import Bound, Capabilities, EngineRefusal, Feed, LoadSettings, Queue, ReadBack

CAPABILITIES = Capabilities(
    name="executor",
    precisions=("f32", "bf16"),
    stream_kinds=("processes",),
    io_classes=("call",),
)
_DISTRIBUTION = "intel-extension-for-transformers"
_PACKAGE = "intel_extension_for_transformers"
_OWN_VARIABLES = ("ENGINE_", "NE_")
"""Prefixes of its variables, which change what is computed or write files."""
_CASTS = {"f32": "native", "engine-default": "native", "bf16": "bf16"}
_BF16_FLAGS = frozenset({"avx512_bf16", "amx_bf16"})
_DTYPES = {1: "float32", 2: "uint8", 3: "int8", 6: "int32", 7: "int64", 9: "bool", 10: "float16", 11: "float64"}
"""Element types by their number in an ONNX file."""
_PARTS = ("ops", "sub_graph")
"""Directories of its compiler with one module for each operator and for each pattern."""
_SHARED_PARTS = ("op", "pattern", "subgraph_matcher", "tensor")
_OTHER_DTYPES = {8: "string", 16: "bfloat16"}
"""Types that its compiler does not know, or that end the process."""
_WEIGHTS = {"fp32": "float32", "bf16": "bfloat16", "s8": "int8", "u8": "uint8"}

_OPERATORS = frozenset(
    {
        *("Add", "Cast", "Concat", "Constant", "ConstantOfShape", "Conv", "CumSum", "DequantizeLinear", "Div"),
        *("Equal", "Erf", "Expand", "Flatten", "Gather", "GatherElements", "Gemm", "Greater", "Identity", "Less"),
        *("LogSoftmax", "MatMul", "Mul", "Neg", "Not", "Pow", "QLinearMatMul", "QuantizeLinear", "Range"),
        *("ReduceMean", "ReduceSum", "Relu", "Reshape", "Resize", "Shape", "Sigmoid", "Slice", "Softmax", "Split"),
        *("Sqrt", "Squeeze", "Sub", "Tanh", "TopK", "Transpose", "Unsqueeze", "Where"),
    }
)
"""Operators of ONNX that its compiler can turn into kernels, at least in the patterns that it knows."""
_JOINED = 2
_KERNELS = frozenset(
    {
        *("BinaryAdd", "BinaryOp", "Concat", "ConstantOfShape", "Convolution", "CosSin", "DequantizeLinear"),
        *("EmbeddingBag", "Erf", "Exp", "ExpandIndices", "Gather", "GatherElements", "Gelu", "GroupNorm"),
        *("InnerProduct", "InnerProductGraph", "Input", "LatRange", "LayerNorm", "LogSoftmax", "Matmul"),
        *("MergedEmbeddingbag", "MultiHeadAttention", "Onehot", "Output", "PaddingSequence", "PositionIds", "Pow"),
        *("Quantize", "Range", "ReduceMean", "ReduceSum", "Reorder", "Resampling", "Reshape", "RmsNorm"),
        *("ScatterElements", "SequenceLength", "Shape", "Sigmoid", "Slice", "SliceMask", "Softmax"),
        *("SoftmaxGraph", "Split", "Squeeze", "StridedSlice", "TokenTypeIds", "TopK", "Unsqueeze"),
    }
)
"""Its kernels, as release 1.4.2 lists them; it ends the process at any other."""


def make() -> ExecutorEngine:
    """Return the engine; `engines/factory.py` calls it."""
    return ExecutorEngine()


class ExecutorEngine:
    """Engine that compiles in Python first, where a refusal is an exception, and starts its kernels only then."""

    capabilities = CAPABILITIES

    def environment(self, setting: LoadSettings) -> dict[str, str]:
        """Return variables for its OpenMP pool, which pins its threads by itself, and for fewer messages."""
        quiet = {"LOGLEVEL": "ERROR", "GLOG_minloglevel": "2", "GLOG_logtostderr": "1"}
        return {**pool_variables(setting), **quiet}

    def start(self) -> str:
        """Import the compiler and return its release."""
        require_numpy_1("executor")
        try:
            version = metadata.version(_DISTRIBUTION)
        except metadata.PackageNotFoundError as error:
            raise ImportError(f"No package metadata was found for {_DISTRIBUTION}") from error
        for name in [name for name in os.environ if name.startswith(_OWN_VARIABLES)]:
            del os.environ[name]
        import_compiler()
        return version

    def load(self, setting: LoadSettings) -> ExecutorSession:
        """Compile the graph, then start its kernels; raise EngineRefusal for a graph that they lack."""
        cast = choose_cast(setting)
        path = os.path.abspath(setting.model_path)
        # It may write files, and does so in the current directory.
        place = tempfile.mkdtemp(prefix="executor-", dir=os.path.abspath(setting.work_dir))
        os.chdir(place)
        compiler = import_compiler()
        try:
            model, _ = compiler.Loader()(path)
            inputs, outputs = read_ports(model.graph)
            require_known((node.op_type for node in model.graph.node), _OPERATORS)
            require_taken(inputs, outputs)
            with compiler.autocast(cast):
                graph = compiler.compile(model)
            require_kernels([node.op_type for node in graph.nodes])
            graph.engine_init()
        except EngineRefusal:
            raise
        except KeyError as error:
            # It looks up the number of heads by the hidden size.
            size = error.args[0] if error.args and isinstance(error.args[0], int) else 0
            code = because("hidden_size_unknown", size=size) if size else because("executor_refused", text=repr(error))
            raise EngineRefusal.from_reason(code) from error
        except Exception as error:  # its compiler raises any type for a graph that it does not know
            raise EngineRefusal("executor_refused", text=locate_error(error)) from error
        return ExecutorSession(graph, inputs, outputs, setting, place)


def choose_cast(setting: LoadSettings) -> str:
    """Return the compiler's name of a precision; raise EngineRefusal for settings that it does not take."""
    if not setting.optimize:
        raise EngineRefusal("engine_always_optimizes", engine="executor")
    CAPABILITIES.require_precision(setting.precision)
    return _CASTS[setting.precision]


def import_compiler() -> Any:
    """Import the compiler below empty parents: the package's own import would need torch and transformers."""
    return import_without_init(f"{_PACKAGE}.transformers", "runtime.compile.compile")


def require_known(operators: Iterable[str], known: Set[str]) -> None:
    """Raise EngineRefusal with the operators that are not known."""
    missing = sorted(set(operators) - known)
    if missing:
        raise EngineRefusal("operators_missing", engine="executor", ops=missing)


def require_kernels(kernels: Sequence[str]) -> None:
    """Raise EngineRefusal unless it has all kernels, and at least one is left to run."""
    require_known(kernels, _KERNELS)
    if not set(kernels) - {"Input", "Output"}:
        raise EngineRefusal("nothing_to_run", engine="executor")


def require_taken(inputs: Iterable[Port], outputs: Iterable[Port]) -> None:
    """Raise EngineRefusal for the first input or output that it does not take."""
    for role, ports in (("input", inputs), ("output", outputs)):
        for port in ports:
            if port.dtype not in _DTYPES.values():
                about = {"role": role, "name": port.name, "type": port.dtype}
                raise EngineRefusal("unsupported_port_type", engine="executor", **about)


def locate_error(error: BaseException) -> str:
    """Return an error's type and text, and the operator or the pattern that its compiler was at."""
    places = [Path(frame.filename) for frame in traceback.extract_tb(error.__traceback__)]
    found = [place.stem for place in places if place.parent.name in _PARTS and place.stem not in _SHARED_PARTS]
    part = f" in {found[-1]}" if found else ""
    return f"{type(error).__name__}{part}: {engine_words(error)}"


def read_ports(graph: Any) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
    """Return the inputs that must be fed and the outputs of an ONNX graph."""
    held = {tensor.name for tensor in graph.initializer}
    fed = [value for value in graph.input if value.name not in held]
    return tuple(map(_port, fed)), tuple(map(_port, graph.output))


def _port(value: Any) -> Port:
    tensor = value.type.tensor_type
    dims = tuple(dim.dim_param or (dim.dim_value if dim.HasField("dim_value") else None) for dim in tensor.shape.dim)
    names = _DTYPES | _OTHER_DTYPES
    return Port(value.name, "tensor", names.get(tensor.elem_type, f"number {tensor.elem_type}"), dims, None)


class ExecutorSession:
    """One compiled graph; it returns views of its own buffers, which the next call overwrites."""

    def __init__(
        self, graph: Any, inputs: tuple[Port, ...], outputs: tuple[Port, ...], setting: LoadSettings, place: str
    ) -> None:
        self._inputs, self._outputs = inputs, outputs
        self._setting, self._place = setting, place
        self._run, found = graph._engine[0].forward, [_bare(name) for name in graph._engine[1]]
        self._weights = {tensor.dtype for node in graph.nodes for tensor in node.input_tensors if tensor.dtype}
        self._keep = graph
        names = {port.name for port in inputs}
        fed = [_bare(tensor.name) for node in graph.nodes if node.op_type == "Input" for tensor in node.output_tensors]
        # Its compiler sorts the inputs of a BERT, and lists weights behind them.
        self._order = [name for name in fed if name in names]
        if len(self._order) != len(inputs):
            _refuse_count(len(self._order), "input", len(inputs))
        declared = [port.name for port in outputs]
        self._is_joined = len(found) == 1 and len(outputs) == _JOINED
        if len(found) != len(outputs) and not self._is_joined:
            _refuse_count(len(found), "output", len(outputs))
        self._names = found if set(found) == set(declared) else declared

    def inputs(self) -> tuple[Port, ...]:
        """Return the inputs of the file."""
        return self._inputs

    def outputs(self) -> tuple[Port, ...]:
        """Return the outputs of the file."""
        return self._outputs

    def bind(self, feeds: Sequence[Feed], io: str) -> Bound:
        """Convert the samples once; each call passes their arrays."""
        require_call(io)
        samples = [[_taken(feed[name]) for name in self._order] for feed in feeds]
        calls = tuple(partial(self._run, sample) for sample in samples)
        return Bound(io, calls, partial(self._fetch, calls, samples), (samples,))

    def queue(self, feeds: Sequence[Feed], io: str) -> Queue:
        """Refuse: the Executor has no queue; streams are processes."""
        raise EngineRefusal("engine_without_queue", engine="executor")

    def read_back(self) -> ReadBack:
        """Return the precision of the compiled weights; the threads of its pool must be counted."""
        types = sorted({_WEIGHTS[name] for name in self._weights if name in _WEIGHTS})
        reduced = "bfloat16" in types
        details = {"types": ", ".join(types) or "no floats"}
        if reduced and not _cpu_flags() & _BF16_FLAGS:
            details["bf16"] = "emulated"
        return ReadBack("bf16" if reduced else "f32", None, 1, pool_pinning(self._setting), details)

    def release(self) -> None:
        """Free the graph, which then writes its trace if it was profiled; calls that are bound keep it alive."""
        self._keep = self._run = None

    def close(self) -> None:
        """Free the graph and remove the directory of its files."""
        self.release()
        if os.path.isdir(self._place):
            os.chdir(self._setting.work_dir)
            shutil.rmtree(self._place, ignore_errors=True)

    def _fetch(
        self, calls: Sequence[Callable[[], Sequence[Any]]], samples: Sequence[Sequence[Any]], sample: int
    ) -> dict[str, Any]:
        found = calls[sample]()
        values = dict(zip(self._names, self._divided(found) if self._is_joined else found, strict=True))
        for name, value in values.items():
            require_strides("executor", name, value)
        tokens = next((array.shape for array in samples[sample] if array.ndim > 1), ())
        return {port.name: _given(_unfolded(values[port.name], port, tokens), port.dtype) for port in self._outputs}

    def _divided(self, found: Sequence[Any]) -> list[Any]:
        """Return the two outputs that its compiler joined along the last axis, those of question answering."""
        if len(found) != 1 or found[0].shape[-1] != _JOINED:
            _refuse_count(len(found), "output", len(self._outputs))
        return [found[0][..., at] for at in range(_JOINED)]


def _unfolded(array: Any, port: Port, tokens: tuple[int, ...]) -> Any:
    """Return an array with the rank of the file: its compiler folds batch and sequence into one axis."""
    folded = port.shape is not None and len(port.shape) == array.ndim + len(tokens) - 1
    if folded and len(tokens) > 1 and array.shape[0] == math.prod(tokens):
        return array.reshape(*tokens, *array.shape[1:])
    return array


def _refuse_count(count: int, role: str, expected: int) -> None:
    raise EngineRefusal("other_port_count", engine="executor", count=count, role=role, expected=expected)


def _bare(name: str) -> str:
    """Return the name in the file of a tensor that the compiler calls `name:0`."""
    return name.removesuffix(":0")


def _taken(array: Any) -> Any:
    """Return an array as its kernels read it: integers have 32 bits."""
    import numpy as np

    return np.ascontiguousarray(array, dtype=np.int32 if array.dtype.kind in "iub" else None)


def _given(array: Any, dtype: str) -> Any:
    """Return a copy in the type of the file."""
    return array.astype(dtype) if dtype in _DTYPES.values() else array.copy()


def _cpu_flags() -> set[str]:
    """Return the instruction sets of the first CPU; empty if the kernel does not list them."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            return next((set(line.split()) for line in file if line.startswith("flags")), set())
    except OSError:
        return set()
