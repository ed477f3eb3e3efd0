"""What a model is, as the inspecting child reports it; nothing here has seen the bytes of a model."""

from __future__ import annotations

from dataclasses import dataclass

from tuibench.core.project import FileStamp


@dataclass(frozen=True, slots=True)
class Port:
    """One input or output of a model."""

    name: str
    kind: str
    """tensor, sequence, map or optional."""
    dtype: str
    """numpy-like name of the element (float32, int64, string, bfloat16 …); for a map 'key->value'."""
    shape: tuple[int | str | None, ...] | None
    """int: fixed; str: symbol; None: unknown; the whole None where the rank is unknown."""
    inner: str | None = None
    """Kind inside an optional: tensor or sequence."""


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """A model in figures; fields are None where `reason` says why they could not be read."""

    path: str
    sha256: str
    file_bytes: int
    external_bytes: int
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    format: str = "onnx"
    """onnx or ort."""
    ir_version: int | None = None
    opsets: dict[str, int] | None = None
    producer: str | None = None
    nodes: int | None = None
    parameters: int | None = None
    zeros: int | None = None
    operators: dict[str, int] | None = None
    weight_types: dict[str, int] | None = None
    """Parameters per element type: the precision mix."""
    quantization: str | None = None
    external_files: tuple[str, ...] = ()
    reason: str | None = None
    zero_tensors: tuple[tuple[str, int, int], ...] = ()
    """(name, elements, zeros) of the weights, largest first, at most 200."""
    files: tuple[FileStamp, ...] = ()
    """The model and then what its weights lie in, as they were when `sha256` was taken over them in this order."""


@dataclass(frozen=True, slots=True)
class FedInput:
    """One generated or loaded input, for the line that says what was fed and why."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    how: str


@dataclass(frozen=True, slots=True)
class Reference:
    """Where the reference outputs lie and how exact they are, or why there are none."""

    file: str | None
    difference: float | None
    """Between ONNX Runtime optimized and unoptimized on the same input."""
    tolerance: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """Inputs made once for one model x batch x dims; the workers only read them."""

    id: str
    model: int
    batch: int | None
    """What axis 0 was set to or is; None where the model has no batch."""
    items: int
    dims: dict[str, int]
    chosen: dict[str, int]
    """Those of `dims` that we chose, with the flag that changes them printed."""
    inputs: tuple[FedInput, ...]
    bundle: str | None
    distinct: int
    reference: Reference
    notes: tuple[str, ...] = ()
    failure: tuple[str, str, str] | None = None
    """(kind, phase, message) where no inputs could be made that the model accepts."""
