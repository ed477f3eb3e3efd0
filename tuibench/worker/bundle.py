"""Arrays exchanged between processes as npz without pickle, and the difference of two sets of outputs."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tuibench.core.reason import Reason, because

Feed = dict[str, Any]
"""Name to ndarray, list (sequence), dict (map) or None (absent optional), as engines expect it."""
Array = np.ndarray[Any, Any]

_SCHEMA = 2
SUBSET_ELEMENTS = 1_000_000
"""Number of elements of a large output that are kept and compared."""


@dataclass(frozen=True)
class Subset:
    """Seeded elements of an array too large to keep whole; `pick` selects the same ones from another array."""

    values: Array
    shape: tuple[int, ...]


def pick(array: Array, count: int = SUBSET_ELEMENTS) -> Array:
    """Return at most `count` elements spread over the array: one at a scrambled place in each of `count` equal parts.

    Uses plain integer arithmetic, because the random streams of two numpy versions may differ.
    """
    flat = array.reshape(-1)
    if flat.size <= count:
        return flat
    stretch = np.arange(count, dtype=np.uint64)
    low = stretch * np.uint64(flat.size) // np.uint64(count)
    width = (stretch + np.uint64(1)) * np.uint64(flat.size) // np.uint64(count) - low
    scrambled = (stretch + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(33)
    chosen: Array = flat[(low + scrambled % width).astype(np.int64)]
    return chosen


def write_bundle(path: str | os.PathLike[str], feeds: Sequence[Feed], dtypes: Mapping[str, str] | None = None) -> None:
    """Write `feeds` to `path` (.npz) and its sidecar (.json), each atomically.

    `dtypes` names the logical type of values stored as raw bits (bfloat16, float8, int4).
    """
    target = Path(path)
    writer = _Writer(dtypes or {}, len(feeds))
    samples = [[writer.entry(name, value, f"s{s}.i{i}") for i, (name, value) in enumerate(feed.items())]
               for s, feed in enumerate(feeds)]  # fmt: skip
    sidecar = {"schema": _SCHEMA, "samples": samples}
    partial = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with partial.open("wb") as file:
            np.savez(file, **writer.members)
        os.replace(partial, target)
        partial.write_text(json.dumps(sidecar), encoding="ascii")
        # Replace the sidecar last, so that a reader that finds it also finds the arrays.
        os.replace(partial, sidecar_path(target))
    finally:
        partial.unlink(missing_ok=True)


def read_bundle(path: str | os.PathLike[str]) -> list[Feed]:
    """Return the feeds as written; types that numpy lacks are raw unsigned bits, see `read_dtypes`."""
    sidecar = _read_sidecar(path)
    with np.load(path, allow_pickle=False) as members:
        loaded: dict[str, Array] = {}
        return [{entry["name"]: _value(entry, members, loaded) for entry in sample} for sample in sidecar["samples"]]


def read_dtypes(path: str | os.PathLike[str]) -> dict[str, str]:
    """Return the logical types of the first sample's tensors by name."""
    samples = _read_sidecar(path)["samples"]
    return {entry["name"]: entry["dtype"] for entry in (samples[0] if samples else []) if "dtype" in entry}


def sidecar_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of the JSON file that describes the bundle at `path`."""
    return Path(path).with_suffix(".json")


def logical_dtype(array: Array) -> str:
    """Return the name of an element type; 'string' for text of any width and for objects."""
    return "string" if array.dtype.kind in "USO" else array.dtype.name


def to_storable(array: Array) -> Array:
    """Return the same elements in a type that needs no pickle and no extension to numpy."""
    if array.dtype.kind == "O":
        return _fixed_width(array)
    if array.dtype.kind == "V" and array.dtype.itemsize in (1, 2, 4):
        return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").reshape(array.shape)
    return array


def _fixed_width(array: Array) -> Array:
    texts = [item.decode("utf-8", "surrogateescape") if isinstance(item, bytes) else str(item) for item in array.flat]
    return np.array(texts, dtype=np.str_).reshape(array.shape) if texts else np.empty(array.shape, "U1")


def _first_row(array: Array, samples: int) -> int | None:
    """Return the row of its base where `array` begins; None if it is not a run of rows or its base is too large."""
    base = array.base
    if not isinstance(base, np.ndarray) or 0 in (array.ndim, base.ndim) or base.shape[1:] != array.shape[1:]:
        return None
    whole = base.dtype == array.dtype and base.flags.c_contiguous and array.flags.c_contiguous
    if not whole or not 0 < base.size <= array.size * samples:
        return None
    start = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return int(start) // (base.nbytes // len(base))


def _read_sidecar(path: str | os.PathLike[str]) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(sidecar_path(path).read_text(encoding="ascii"))
    if data.get("schema") != _SCHEMA:
        raise ValueError(f"bundle of schema {data.get('schema')!r}, this version reads {_SCHEMA}")
    return data


class _Writer:
    """Collects the members of a bundle; stores an array once if several samples share it or are rows of it."""

    def __init__(self, dtypes: Mapping[str, str], samples: int) -> None:
        self.members: dict[str, Any] = {}
        self._dtypes = dtypes
        self._samples = samples
        self._seen: dict[int, tuple[str, object]] = {}

    def entry(self, name: str, value: object, member: str) -> dict[str, Any]:
        """Describe `value`; the name is a field of its own, since it may contain any characters."""
        described = self._describe(value, member)
        if name in self._dtypes and "dtype" in described:
            described["dtype"] = self._dtypes[name]
        return {"name": name, **described}

    def _describe(self, value: object, member: str) -> dict[str, Any]:
        if value is None:
            return {"kind": "absent"}
        if isinstance(value, Mapping):
            return self._describe_map(value, member)
        if isinstance(value, (list, tuple)):
            items = [self._describe(item, f"{member}.{n}") for n, item in enumerate(value)]
            return {"kind": "sequence", "items": items}
        if isinstance(value, Subset):
            tensor = self._describe(value.values, member)
            return {**tensor, "kind": "subset", "shape": list(value.shape)}
        array = np.asarray(value)
        first = _first_row(array, self._samples)
        held = value if first is None else array.base
        if id(held) not in self._seen:
            self.members[member] = to_storable(np.asarray(held))
            self._seen[id(held)] = (member, held)
        described = {"kind": "tensor", "member": self._seen[id(held)][0], "dtype": logical_dtype(array)}
        return described if first is None else {**described, "rows": [first, len(array)]}

    def _describe_map(self, value: Mapping[Any, Any], member: str) -> dict[str, Any]:
        keys, values = list(value), list(value.values())
        scalar = all(np.ndim(item) == 0 and not isinstance(item, (Mapping, list, type(None))) for item in values)
        return {
            "kind": "map",
            "keys": self._describe(np.array(keys) if keys else np.empty(0, np.int64), f"{member}.k"),
            "values": self._describe(np.array(values) if scalar else values, f"{member}.v"),
        }


def _value(entry: Mapping[str, Any], members: Mapping[str, Array], loaded: dict[str, Array]) -> Any:
    kind = entry["kind"]
    if kind == "absent":
        return None
    if kind == "sequence":
        return [_value(item, members, loaded) for item in entry["items"]]
    if kind == "map":
        keys = _value(entry["keys"], members, loaded)
        values = _value(entry["values"], members, loaded)
        items = values if isinstance(values, list) else values.tolist()
        return dict(zip(keys.tolist(), items, strict=True))
    member = entry["member"]
    if member not in loaded:
        loaded[member] = members[member]
    array = loaded[member]
    if "rows" in entry:
        first, count = entry["rows"]
        # Copy, because overlapping samples would find their input in the CPU cache, unlike a user's samples.
        array = array[first : first + count].copy()
    return Subset(array, tuple(entry["shape"])) if kind == "subset" else array


_REORDERING = 4
"""Multiple of the difference between optimized and unoptimized ONNX Runtime that still counts as rounding."""
_SMALLEST_SCALE = 1e-12


@dataclass(frozen=True)
class Difference:
    """Largest scaled difference: 0 if equal; infinite, with a reason, if values cannot be compared."""

    value: float
    reason: Reason | None = None


def is_nothing_finite(arrays: Mapping[str, Any]) -> bool:
    """Return whether there are floating-point arrays and every value of them is NaN or infinite."""
    floats = [one for one in arrays.values() if isinstance(one, np.ndarray) and one.dtype.kind == "f" and one.size]
    return bool(floats) and not any(np.isfinite(one).any() for one in floats)


def differs(difference: float, tolerance: float, reference_difference: float) -> bool:
    """Return whether outputs differ by more than the precision, or the reference itself, allows."""
    return not difference <= max(tolerance, _REORDERING * reference_difference)


def compare(
    reference: Mapping[str, Any], actual: Mapping[str, Any], dtypes: Mapping[str, str] | None = None
) -> Difference:
    """Return the largest difference over all outputs; `dtypes` names the logical type of raw bits."""
    logical = dtypes or {}
    worst = Difference(0.0)
    for name, expected in reference.items():
        if name not in actual:
            return Difference(math.inf, because("output_missing", name=name))
        found = _compare_value(expected, actual[name], logical.get(name))
        if found.value > worst.value:
            why = found.reason
            worst = Difference(found.value, why and because("output_not_comparable", name=name, why=why))
    extra = [name for name in actual if name not in reference]
    return Difference(math.inf, because("output_not_in_reference", name=extra[0])) if extra else worst


def _compare_value(reference: Any, actual: Any, dtype: str | None) -> Difference:
    if reference is None or actual is None:
        return Difference(0.0) if reference is actual else Difference(math.inf, Reason("value_missing"))
    if isinstance(reference, Mapping) or isinstance(actual, Mapping):
        return _compare_maps(reference, actual, dtype)
    if isinstance(reference, (list, tuple)) or isinstance(actual, (list, tuple)):
        return _compare_sequences(reference, actual, dtype)
    if isinstance(reference, Subset):
        return _compare_arrays(reference.values, reference.shape, np.asarray(actual), dtype)
    array = np.asarray(reference)
    return _compare_arrays(pick(array), array.shape, np.asarray(actual), dtype)


def _compare_maps(reference: Any, actual: Any, dtype: str | None) -> Difference:
    if not (isinstance(reference, Mapping) and isinstance(actual, Mapping)):
        return Difference(math.inf, Reason("map_missing"))
    if reference.keys() != actual.keys():
        return Difference(math.inf, Reason("other_keys"))
    keys = list(reference)
    left, right = [reference[key] for key in keys], [actual[key] for key in keys]
    if all(isinstance(v, (int, float, str, np.generic)) for v in (*left, *right)):
        # Scalars of one map form one tensor and share its scale.
        return _compare_value(np.array(left), np.array(right), dtype)
    return _compare_sequences(left, right, dtype)


def _compare_sequences(reference: Any, actual: Any, dtype: str | None) -> Difference:
    if not (isinstance(reference, Sequence) and isinstance(actual, Sequence)):
        return Difference(math.inf, Reason("sequence_missing"))
    if len(reference) != len(actual):
        return Difference(math.inf, because("other_count", items=len(actual), expected=len(reference)))
    found = [_compare_value(left, right, dtype) for left, right in zip(reference, actual, strict=True)]
    return max(found, key=lambda d: d.value, default=Difference(0.0))


def _compare_arrays(chosen: Array, shape: tuple[int, ...], actual: Array, dtype: str | None) -> Difference:
    if shape != actual.shape:
        return Difference(math.inf, because("other_shape", shape=actual.shape, expected=shape))
    left_type, right_type = logical_dtype(chosen), logical_dtype(actual)
    raw = dtype if chosen.dtype.kind == "u" and dtype is not None else None
    if left_type != right_type and not (raw and right_type in (raw, raw.replace("float8e", "float8_e"))):
        return Difference(math.inf, because("other_type", type=right_type, expected=left_type))
    left, right = _comparable(chosen, raw), _comparable(pick(actual), raw)
    if left.size == 0:
        return Difference(0.0)
    if left.dtype.kind in "fc":
        return _compare_floats(left, right)
    unequal = np.asarray(left != right)
    return Difference(float(np.count_nonzero(unequal)) / left.size)


def _comparable(array: Array, raw: str | None) -> Array:
    if array.dtype.kind in "USO":
        return array.astype(np.str_) if array.dtype.kind != "S" else np.char.decode(array, "utf-8", "replace")
    if array.dtype.kind == "u" and raw == "bfloat16":
        return (array.astype(np.uint32) << np.uint32(16)).view(np.float32)
    if array.dtype.kind == "u" and raw == "float8e5m2":
        return (array.astype(np.uint16) << np.uint16(8)).view(np.float16)
    if array.dtype.kind == "V":
        # An extension type of ml_dtypes, with its own conversion.
        return array.astype(np.float32)
    return array


def _compare_floats(left: Array, right: Array) -> Difference:
    wide = np.complex128 if left.dtype.kind == "c" else np.float64
    a, b = left.astype(wide), right.astype(wide)
    finite = np.isfinite(a)
    if not np.array_equal(finite, np.isfinite(b)) or not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return Difference(math.inf, Reason("nan_on_one_side"))
    a, b = a[finite], b[finite]
    if a.size == 0:
        return Difference(0.0)
    parts = (a.real, a.imag) if wide is np.complex128 else (a,)
    span = max(float(p.max() - p.min()) for p in parts)
    scale = max(span, float(np.abs(a).max()), _SMALLEST_SCALE)
    return Difference(float(np.abs(a - b).max()) / scale)
