"""A model in figures, as the inspecting child reports it; no code here reads a model's bytes."""

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
    """Element type by its numpy-like name (float32, int64, string, bfloat16 …); 'key->value' for a map."""
    shape: tuple[int | str | None, ...] | None
    """Each dimension: int if fixed, str if symbolic, None if unknown.

    The whole value is None if the rank is unknown.
    """
    inner: str | None = None
    """Kind inside an optional: tensor or sequence."""


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """A model in figures; unreadable fields are None, and `reason` says why."""

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
    """The model file, then its weight files, as they were when `sha256` was computed over them in this order."""


@dataclass(frozen=True, slots=True)
class FedInput:
    """One generated or loaded input, with the reason for its shape."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    how: str


@dataclass(frozen=True, slots=True)
class Reference:
    """The file of the reference outputs and its precision, or the reason why there is none."""

    file: str | None
    difference: float | None
    """Difference between optimized and unoptimized ONNX Runtime on the same input."""
    tolerance: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """Inputs made once for one model x batch x dims; the workers only read them."""

    id: str
    model: int
    batch: int | None
    """Size of axis 0; None if the model has no batch axis."""
    items: int
    dims: dict[str, int]
    chosen: dict[str, int]
    """The part of `dims` that tuibench chose; reports print the option that changes them."""
    inputs: tuple[FedInput, ...]
    bundle: str | None
    distinct: int
    reference: Reference
    notes: tuple[str, ...] = ()
    failure: tuple[str, str, str] | None = None
    """(kind, phase, message) if no inputs could be made that the model accepts."""
