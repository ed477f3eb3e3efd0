"""A model in figures, as the inspecting child reports it; no code here reads a model's bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tuibench.core.reason import Failure, Reason
from tuibench.core.stored import FileStamp, ModelReference
from tuibench.core.value import dataclass

if TYPE_CHECKING:
    from tuibench.core.spec import ModelSource


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
    """onnx, ort, pt2, torchscript or safetensors."""
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
    reason: Reason | None = None
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
    reason: Reason | None = None


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
    failure: Failure | None = None
    """Set if no inputs could be made that the model accepts."""

    @staticmethod
    def upgrade(data: Any) -> Any:
        """Return the plain form of what an older version wrote: the failure as kind, phase and message."""
        if not isinstance(data, dict) or not isinstance(data.get("failure"), list):
            return data
        return data | {"failure": dict(zip(("kind", "phase", "message"), data["failure"], strict=True))}


ELEMENT_BITS = {
    **dict.fromkeys(("float64", "int64", "uint64", "complex64"), 64),
    **dict.fromkeys(("float32", "int32", "uint32"), 32),
    **dict.fromkeys(("float16", "bfloat16", "int16", "uint16"), 16),
    **dict.fromkeys(("int8", "uint8", "bool"), 8),
    **dict.fromkeys(("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "float8e8m0"), 8),
    **dict.fromkeys(("int4", "uint4", "float4e2m1"), 4),
    **dict.fromkeys(("int2", "uint2"), 2),
    "complex128": 128,
}
"""Every type except text, which has no fixed element size."""


def unpacked_bytes(dtype: str) -> int | None:
    """Return the bytes of one unpacked element, as inputs are fed; None for text and unknown types."""
    bits = ELEMENT_BITS.get(dtype)
    return None if bits is None else max(1, bits // 8)


UNCHANGED, CHANGED, GONE = "unchanged", "changed", "gone"


@dataclass(frozen=True, slots=True)
class ModelState:
    """The state of a model's files, compared with its reference."""

    state: str
    """unchanged, changed or gone."""
    file: str = ""
    """The first file that differs from the reference."""


def refer(asked: str, summary: ModelSummary) -> ModelReference | None:
    """Return the reference to an inspected model; None if the model could not be read."""
    if not summary.files:
        return None
    file, *external = summary.files
    return ModelReference(asked, file, summary.sha256, tuple(external))


FETCHED = ("hf", "https")


@dataclass(frozen=True, slots=True)
class FetchProgress:
    """Progress of a download."""

    fetched: int
    total: int | None
    """None if the server does not report it."""


@dataclass(frozen=True, slots=True)
class FetchedModel:
    """A remote model that is now in the cache."""

    source: ModelSource
    name: str
    sha256: str
    """Checksum of the model file alone."""
    bytes: int
    """Bytes including the weight files."""
    fetched: int
    """Bytes that were downloaded; 0 if the cache had them."""


def is_remote(token: str) -> bool:
    """Return whether a model of this name must be fetched before it can be measured."""
    return remote_scheme(token) in FETCHED


def remote_scheme(token: str) -> str:
    """Return the text before the first colon, in lower case; '' if there is none."""
    scheme, colon, _ = token.partition(":")
    return scheme.lower() if colon else ""


def public_name(token: str) -> str:
    """Return the name without user, password and query: signed addresses contain their key there."""
    if remote_scheme(token) != "https":
        return token
    try:
        parts = urlsplit(token)
    except ValueError:
        return "https:…"
    host = parts.netloc.rpartition("@")[2]
    return f"https://{host}{parts.path}" + ("?…" if parts.query else "")
