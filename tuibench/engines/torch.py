"""PyTorch on the CPU, in an interpreter of its own: exported programs (.pt2), TorchScript, directories of safetensors.

A TorchScript file carries code, so nothing reads it but a worker or a child that may die. Streams are processes: an
exported program runs its operators from Python.
"""

from __future__ import annotations

import importlib
import os
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

from tuibench.core.engine import CHECKPOINT, PT2, SAFETENSORS, TORCHSCRIPT
from tuibench.core.errors import ModelError
from tuibench.core.model import Port
from tuibench.engines.apart import require_call
from tuibench.engines.checkpoint import checkpoint_files, hash_checkpoint
from tuibench.engines.error_words import engine_reason
from tuibench.engines.openmp import pool_pinning, pool_variables
from tuibench.engines.protocol import Bound, Capabilities, EngineRefusal, Feed, LoadSettings, Queue, ReadBack

CAPABILITIES = Capabilities(
    name="torch",
    precisions=("f32",),
    stream_kinds=("processes",),
    io_classes=("call",),
)
PICKLE = "pickle"
_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY", "DO_NOT_TRACK")
"""Variables that keep transformers from the network."""
_PRECISIONS = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16"}
_TOKENS = ("ids", "mask", "positions", "labels", "length", "lengths")
"""Ends of names of inputs that take integers; TorchScript does not keep the types of its inputs."""


def make() -> TorchEngine:
    """Return the engine; `engines/factory.py` calls it."""
    return TorchEngine()


class TorchEngine:
    """Engine that runs files as they are; nothing is compiled by Inductor."""

    capabilities = CAPABILITIES

    def __init__(self) -> None:
        self._needs_transformers = False

    def environment(self, setting: LoadSettings) -> dict[str, str]:
        """Return variables for its OpenMP pool, which pins its threads by itself, and against downloads."""
        self._needs_transformers = _kind_of(setting.model_path) == SAFETENSORS
        offline = dict.fromkeys(_OFFLINE, "1") | {"HF_HOME": os.path.join(setting.work_dir, "hub")}
        return {**pool_variables(setting), **offline}

    def start(self) -> str:
        """Import PyTorch, and for a directory transformers, whose import is no part of loading; return the version."""
        import torch

        if self._needs_transformers:
            with suppress(ImportError):  # loading says so
                importlib.import_module("transformers")
        return str(torch.__version__)

    def load(self, setting: LoadSettings) -> TorchSession:
        """Load a file by its kind; raise EngineRefusal for any other file."""
        import torch

        CAPABILITIES.require_precision(setting.precision)
        torch.set_num_threads(setting.threads)
        opener = _OPENERS.get(_kind_of(setting.model_path))
        if opener is None:
            raise EngineRefusal("not_a_torch_file", engine="torch")
        try:
            return opener(torch, setting)
        except ModelError as error:
            raise EngineRefusal.from_reason(error.reason) from error
        except EngineRefusal:
            raise
        except Exception as error:  # its loaders raise any type for a file that they cannot read
            raise EngineRefusal.from_reason(engine_reason(error)) from error


def read_kind(path: str) -> str:
    """Return PT2, TORCHSCRIPT or PICKLE by the names in a zip archive; '' for any other file.

    It reads no member, because pickles can run code.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile):
        return ""
    if any(name.endswith("/archive_format") for name in names):
        return PT2
    if any("/code/" in name for name in names):
        return TORCHSCRIPT
    return PICKLE if any(name.endswith("data.pkl") for name in names) else ""


def _kind_of(path: str) -> str:
    return SAFETENSORS if os.path.basename(path) == CHECKPOINT else read_kind(path)


def _open_exported(torch: Any, setting: LoadSettings) -> TorchSession:
    program = torch.export.load(setting.model_path)
    signature = program.graph_signature
    fed = {spec.arg.name for spec in signature.input_specs if spec.kind.name == "USER_INPUT"}
    values = [node for node in program.graph.nodes if node.op == "placeholder" and node.name in fed]
    inputs = tuple(Port(one.name, "tensor", *_facts(one.meta["val"]), None) for one in values)
    named = [spec.arg.name for spec in signature.output_specs if spec.kind.name == "USER_OUTPUT"]
    module = program.module()
    return TorchSession(torch, module, inputs, named, _types(module), setting)


def _open_script(torch: Any, setting: LoadSettings) -> TorchSession:
    module = torch.jit.load(setting.model_path, map_location="cpu").eval()
    inputs, types = tuple(_argument(one) for one in module.forward.schema.arguments[1:]), _types(module)
    if setting.optimize:
        module = torch.jit.freeze(module)
    return TorchSession(torch, module, inputs, [], types, setting)


def _open_checkpoint(torch: Any, setting: LoadSettings) -> TorchSession:
    config_path, *_ = checkpoint_files(Path(setting.model_path))
    try:
        transformers = importlib.import_module("transformers")
    except ImportError as error:
        raise EngineRefusal("transformers_missing", text=str(error)) from error
    folder = str(config_path.parent)
    config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    config.use_cache = False
    named = str((config.architectures or ["AutoModel"])[0])
    kind = getattr(transformers, named, None)
    if kind is None:
        raise EngineRefusal("architecture_unknown", name=named, version=transformers.__version__)
    # Its name changed with release 5.
    name = "dtype" if int(transformers.__version__.partition(".")[0]) >= 5 else "torch_dtype"
    dtype = {name: torch.float32 if setting.precision == "f32" else "auto"}
    module = kind.from_pretrained(folder, config=config, local_files_only=True, use_safetensors=True, **dtype).eval()
    return TorchSession(torch, module, _checkpoint_inputs(module, config), [], _types(module), setting)


def _checkpoint_inputs(module: Any, config: Any) -> tuple[Port, ...]:
    """Return the inputs of a model of transformers: tokens, or a picture."""
    taken = signature(module.forward).parameters
    if module.main_input_name == "pixel_values":
        size = getattr(config, "image_size", None) or 224
        sides = size if isinstance(size, (list, tuple)) else (size, size)
        dims = ("batch", getattr(config, "num_channels", 3), *sides)
        return (Port("pixel_values", "tensor", "float32", dims, None),)
    if module.main_input_name != "input_ids":
        raise EngineRefusal("input_unknown", name=str(module.main_input_name))
    names = ["input_ids", "attention_mask"]
    names += ["token_type_ids"] if getattr(config, "type_vocab_size", 0) > 1 else []
    names += ["decoder_input_ids"] if getattr(config, "is_encoder_decoder", False) else []
    return tuple(Port(name, "tensor", "int64", ("batch", "sequence"), None) for name in names if name in taken)


_OPENERS: dict[str, Callable[[Any, LoadSettings], TorchSession]] = {
    PT2: _open_exported,
    TORCHSCRIPT: _open_script,
    SAFETENSORS: _open_checkpoint,
}


def _facts(value: Any) -> tuple[str, tuple[int | str | None, ...] | None]:
    """Return the element type and the dims of an example value."""
    return _type_name(value.dtype), tuple(dim if isinstance(dim, int) else str(dim) for dim in value.shape)


def _argument(argument: Any) -> Port:
    kind = "tensor" if str(argument.type) == "Tensor" else str(argument.type)
    integers = argument.name.rpartition("_")[2] in _TOKENS
    return Port(argument.name, kind, "int64" if integers else "float32", None, None)


def _type_name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


class TorchSession:
    """One loaded module."""

    def __init__(
        self,
        torch: Any,
        module: Any,
        inputs: tuple[Port, ...],
        named: Sequence[str],
        types: Sequence[str],
        setting: LoadSettings,
    ) -> None:
        self._torch, self._module, self._inputs = torch, module, inputs
        self._ordered = [port.name for port in inputs]
        self._named, self._types, self._setting = list(named), list(types), setting
        # Clients of elastic requests are threads, for which the mode below is off.
        for parameter in module.parameters():
            parameter.requires_grad_(False)
        # It lasts as long as the object. Streams are processes, so this thread is the one that calls.
        self._mode = torch.inference_mode()
        self._mode.__enter__()
        if setting.precision == "f32" and set(self._types) & {"float16", "bfloat16"}:
            raise EngineRefusal("other_precision_used", engine="torch", used=", ".join(self._types), precision="f32")

    def inputs(self) -> tuple[Port, ...]:
        """Return the inputs in the order of the call."""
        return self._inputs

    def outputs(self) -> tuple[Port, ...]:
        """Return the outputs that the file names; a TorchScript file names none."""
        return tuple(Port(name, "tensor", "float32", None, None) for name in self._named)

    def bind(self, feeds: Sequence[Feed], io: str) -> Bound:
        """Wrap the samples as tensors once; each call allocates its outputs."""
        require_call(io)
        # The programs of a file take their inputs in order; a network of transformers takes any by name.
        by_name = _kind_of(self._setting.model_path) == SAFETENSORS
        samples = [
            {name: self._torch.from_numpy(feed[name]) for name in (feed if by_name else self._ordered)}
            for feed in feeds
        ]
        calls = tuple(
            partial(self._module, **sample) if by_name else partial(self._module, *sample.values())
            for sample in samples
        )
        return Bound(io, calls, partial(self._fetch, calls), (samples,))

    def queue(self, feeds: Sequence[Feed], io: str) -> Queue:
        """Refuse: PyTorch has no queue; streams are processes."""
        raise EngineRefusal("engine_without_queue", engine="torch")

    def read_back(self) -> ReadBack:
        """Return the type of the weights and the threads of the pool."""
        found = {_PRECISIONS[name] for name in self._types if name in _PRECISIONS}
        details = {"types": ", ".join(self._types) or "no weights"}
        path = Path(self._setting.model_path)
        if _kind_of(str(path)) == SAFETENSORS and path.with_name("model.onnx").exists():
            # In a run with other engines the model is known by the ONNX file.
            details["weights_sha256"] = hash_checkpoint(path)
        return ReadBack(
            precision=found.pop() if len(found) == 1 else None,
            threads=int(self._torch.get_num_threads()),
            streams=1,
            pinned=pool_pinning(self._setting),
            details=details,
        )

    def close(self) -> None:
        """Free the module."""
        self._module = None

    def _fetch(self, calls: Sequence[Callable[[], Any]], sample: int) -> dict[str, Any]:
        values = _named_tensors(calls[sample](), "")
        names = self._named if len(self._named) == len(values) else list(values)
        return {name: value.numpy().copy() for name, value in zip(names, values.values(), strict=True)}


def _types(module: Any) -> list[str]:
    """Return the element types of parameters and buffers."""
    found = [*module.parameters(), *module.buffers()]
    return sorted({_type_name(value.dtype) for value in found})


def _named_tensors(value: Any, name: str) -> dict[str, Any]:
    """Return the tensors in the nested result of a call: by their keys, or numbered."""
    if isinstance(value, dict):
        parts = [(f"{name}.{key}" if name else str(key), one) for key, one in value.items()]
    elif isinstance(value, (list, tuple)):
        parts = [(f"{name}.{at}" if name else f"output{at}", one) for at, one in enumerate(value)]
    else:
        return {name or "output0": value} if hasattr(value, "numpy") else {}
    return {own: tensor for part, one in parts for own, tensor in _named_tensors(one, part).items()}
