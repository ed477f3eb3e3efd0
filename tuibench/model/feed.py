"""Inputs from the user's .npz file, checked against the model, as the samples of a run."""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from tuibench.core.errors import ModelError, UsageError
from tuibench.core.model import FedInput, Port
from tuibench.core.reason import because
from tuibench.core.roles import Layout, is_sequence, is_tensor
from tuibench.core.spec import LOSS, BenchmarkSpec
from tuibench.core.text import show
from tuibench.core.units import count_of
from tuibench.model.file import open_regular, regular_size
from tuibench.model.inputs import RAW_BYTES, input_facts
from tuibench.worker.bundle import Array, Feed

Shape = tuple[int, ...]
_EXTENSION = "npz"
_ENCRYPTED = 1
"""Flag bit of an encrypted zip member."""
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
"""Later formats exist for field names of structured arrays, which no model uses."""


@dataclass(frozen=True)
class FileInputs:
    """The samples of a file and their input shapes."""

    samples: tuple[Feed, ...]
    shapes: Mapping[str, Shape]
    notes: tuple[str, ...] = ()
    """Oddities that are no errors: some models use NaN for a missing value."""

    def fed(self, ports: tuple[Port, ...], path: str) -> tuple[FedInput, ...]:
        """Return the inputs, for the lines on stderr."""
        return tuple(FedInput(p.name, p.dtype, self.shapes[p.name], f"from {show(path, 80)}") for p in ports)


def read_feeds(path: str, ports: tuple[Port, ...], available_bytes: int) -> FileInputs:
    """Return the samples in `path`: keys are input names, `name/0` … for sequences; an extra first axis is samples."""
    members = _load(path, available_bytes)
    _require_names(members, ports, path)
    values: dict[str, list[Any]] = {}
    shapes: dict[str, Shape] = {}
    for port in ports:
        if port.kind == "map" or (port.kind == "optional" and port.inner is None):
            raise UsageError("input_not_for_npz", name=port.name, kind=port.kind)
        if "sequence" in (port.kind, port.inner):
            items = _items(members, port.name)
            values[port.name] = [[_checked(port, item, path) for item in items]]
            shapes[port.name] = items[0].shape if items else ()
        elif port.name in members:
            values[port.name] = _split(port, _checked(port, members[port.name], path), path)
            shapes[port.name] = values[port.name][0].shape
        else:
            values[port.name], shapes[port.name] = [None], ()
    counts = {len(v) for v in values.values()} - {1}
    if len(counts) > 1:
        raise UsageError("sample_counts_differ", path=path, counts=sorted(counts))
    count = counts.pop() if counts else 1
    samples = tuple({name: v[n % len(v)] for name, v in values.items()} for n in range(count))
    return FileInputs(samples, shapes)


def odd_notes(ports: tuple[Port, ...], samples: tuple[Feed, ...]) -> Iterator[str]:
    """Yield notes about NaN and infinite values; an array that several samples share counts once."""
    for port in ports:
        values = {id(sample[port.name]): sample[port.name] for sample in samples}.values()
        parts = [item for value in values for item in (value if isinstance(value, list) else [value])]
        odd = sum(int(np.count_nonzero(~np.isfinite(p))) for p in parts if p is not None and p.dtype.kind == "f")
        if odd:
            held = "1 value that is" if odd == 1 else f"{odd} values that are"
            yield f"input '{show(port.name, 60)}' has {held} NaN or infinite"


def _load(path: str, available_bytes: int) -> dict[str, Array]:
    try:
        regular_size(Path(path), because("inputs_file", path=path), _EXTENSION)
        with open(open_regular(Path(path), _EXTENSION), "rb") as file:
            if not zipfile.is_zipfile(file):
                raise UsageError("not_npz", path=path)
            return _members(file, path, available_bytes)
    except UsageError:
        raise
    except ModelError as error:
        raise UsageError.from_reason(error.reason) from None
    except Exception as error:  # zipfile raises a dozen types on damaged bytes, some of them builtin
        raise UsageError("npz_unreadable", path=path, text=str(error)[:500]) from None


def _members(file: IO[bytes], path: str, available_bytes: int) -> dict[str, Array]:
    found: dict[str, Array] = {}
    with zipfile.ZipFile(file) as archive:
        # The directory has the unpacked sizes, so that a zip bomb is refused before unpacking.
        total = sum(info.file_size for info in archive.infolist())
        if total > available_bytes:
            raise UsageError("npz_over_memory", path=path, bytes=total, free_bytes=available_bytes)
        for info in archive.infolist():
            name = info.filename.removesuffix(".npy")
            found[name] = _read_array(archive, info, {"path": path, "name": name})
    return found


def _read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, place: dict[str, str]) -> Array:
    if info.flag_bits & _ENCRYPTED:
        raise UsageError("array_encrypted", **place)
    try:
        with archive.open(info) as member:
            _check_header(member, info.file_size, place)
        with archive.open(info) as member:
            return np.asarray(npy.read_array(member, allow_pickle=False))
    except UsageError:
        raise
    except MemoryError:
        raise UsageError("array_over_memory", **place, bytes=info.file_size) from None
    except Exception as error:  # headers are parsed as Python and data by any zip codec: any error type
        raise UsageError("array_damaged", **place, text=str(error)[:500] or type(error).__name__) from None


def _check_header(member: IO[bytes], file_bytes: int, place: dict[str, str]) -> None:
    """Refuse a header that declares more data than the file contains, before an array of that size is created."""
    version = npy.read_magic(member)
    if version not in _HEADERS:
        raise UsageError("array_of_other_format", **place, version=f"{version[0]}.{version[1]}")
    shape, _, dtype = _HEADERS[version](member)
    if dtype.hasobject:
        raise UsageError("array_of_objects", **place)
    promised, held_bytes = math.prod(shape) * dtype.itemsize, file_bytes - member.tell()
    if promised > held_bytes or any(dim < 0 for dim in shape):
        raise UsageError("array_incomplete", **place, shape=list(shape), dtype=dtype.name, bytes=held_bytes)


def _require_names(members: Mapping[str, Array], ports: tuple[Port, ...], path: str) -> None:
    inputs = [input_facts(port) for port in ports]
    for port in ports:
        sequence = "sequence" in (port.kind, port.inner)
        if port.kind != "optional" and not (port.name in members or (sequence and _items(members, port.name))):
            named = f"{port.name}/0" if sequence else port.name
            raise UsageError("array_missing", path=path, name=named, inputs=inputs)
    known = {port.name for port in ports}
    for name in members:
        if name not in known and not (re.search(r"/\d+$", name) and name.rpartition("/")[0] in known):
            raise UsageError("array_unknown", path=path, name=name, inputs=inputs)


def _items(members: Mapping[str, Array], name: str) -> list[Array]:
    found: list[Array] = []
    while f"{name}/{len(found)}" in members:
        found.append(members[f"{name}/{len(found)}"])
    return found


def _checked(port: Port, array: Array, path: str) -> Array:
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if port.dtype == "string":
        fits = array.dtype.kind in "US"
    elif port.dtype in RAW_BYTES:
        fits = array.dtype.kind in "uV" and array.dtype.itemsize == RAW_BYTES[port.dtype]
        array = array.view(f"u{array.dtype.itemsize}") if fits else array
    else:
        fits = array.dtype == np.dtype(port.dtype)
    if not fits:
        given = array.dtype.name
        raise UsageError("array_of_other_type", path=path, name=port.name, given=given, dtype=port.dtype)
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    return array


def _split(port: Port, array: Array, path: str) -> list[Array]:
    """Return the samples in an array: one, or one per entry of an extra leading axis.

    If the model takes one item at a time, each item of the array is a sample.
    """
    if port.shape is None or _fits(port.shape, array.shape):
        return [array]
    if port.shape and port.shape[0] == 1 and array.shape[:1] > (0,) and _fits((None, *port.shape[1:]), array.shape):
        return [np.ascontiguousarray(array[n : n + 1]) for n in range(array.shape[0])]
    if len(array.shape) == len(port.shape) + 1 and array.shape[0] > 0 and _fits(port.shape, array.shape[1:]):
        return [np.asarray(sample, order="C") for sample in array]
    raise UsageError("array_of_other_shape", path=path, name=port.name, given=list(array.shape), shape=list(port.shape))


def _fits(shape: tuple[int | str | None, ...], found: Shape) -> bool:
    pairs = zip(shape, found, strict=False)
    return len(shape) == len(found) and all(not isinstance(dim, int) or dim == n for dim, n in pairs)


def read_inputs(spec: BenchmarkSpec, path: str, layout: Layout, available_bytes: int) -> FileInputs:
    """Return the samples of a file as a run of `spec` uses them, with notes about them."""
    found = read_feeds(path, layout.ports, available_bytes)
    whole, notes = found, []
    loss = spec.profile if spec.profile is not None and spec.profile.kind == LOSS else None
    batch = _asked_batch(spec, layout)
    if batch is None and loss is not None and not spec.batches and _holds_items(layout):
        # A loss profile counts single samples, so a thousand items are a thousand samples and not one batch.
        batch = 1
    if batch is not None:
        found = _cut(found, layout, batch)
    if found is not whole:
        notes.append(f"the data are {count_of(len(found.samples), 'sample')} of batch {batch}")
    if loss is not None:
        # The run does not use the other samples: they need no memory, and their oddities do not matter.
        found = replace(found, samples=found.samples[: max(1, loss.samples)])
    return replace(found, notes=(*odd_notes(layout.ports, found.samples), *notes))


def _asked_batch(spec: BenchmarkSpec, layout: Layout) -> int | None:
    """Return the one batch that is requested, with -b or as a dim; None if there are several or none."""
    by_dim = (
        value
        for address, values in spec.dims
        for value in values
        if address in layout.batch or layout.find_axis(address) in layout.batch
    )
    asked = set(spec.batches or by_dim)
    return asked.pop() if len(asked) == 1 else None


def _holds_items(layout: Layout) -> bool:
    """Return whether the batch axis counts independent items, not time steps or nodes that others refer to."""
    if layout.batch_dim is not None:
        return True
    places = [(place, key) for key in layout.batch for place in layout.places[key]]
    if any(is_sequence(place, "" if key == place.address else key) for place, key in places):
        return False
    return layout.batch == frozenset(layout.axis_zero) and not _leaves_whole(layout)


def _leaves_whole(layout: Layout) -> bool:
    """Return whether an input has free dims but no batch dim: its values may refer to items that a cut removes."""
    keys = (set(layout.keys(port)) for port in layout.ports if is_tensor(port))
    return any(any(isinstance(key, str) for key in found) and not found & layout.batch for found in keys)


def _cut(found: FileInputs, layout: Layout, batch: int) -> FileInputs:
    """Return samples of `batch` items each; unchanged if the items do not divide evenly."""
    axes = dict(_batch_axes(layout))
    items = {found.shapes[name][axis] for name, axis in axes.items() if len(found.shapes[name]) > axis}
    if len(items) != 1 or batch < 1:
        return found
    (count,) = items
    if count <= batch or count % batch:
        return found
    samples = tuple(
        {name: _part(value, axes.get(name), begin, batch) for name, value in whole.items()}
        for whole in found.samples
        for begin in range(0, count, batch)
    )
    shapes = {name: np.shape(samples[0][name]) if name in axes else shape for name, shape in found.shapes.items()}
    return replace(found, samples=samples, shapes=shapes)


def _batch_axes(layout: Layout) -> Iterator[tuple[str, int]]:
    """Yield each tensor that has the batch, and its axis."""
    for port in layout.ports:
        axis = next((n for n, key in enumerate(layout.keys(port)) if key in layout.batch), None)
        if axis is not None and is_tensor(port):
            yield port.name, axis


def _part(value: Any, axis: int | None, begin: int, count: int) -> Any:
    if axis is None or value is None:
        return value
    where = (slice(None),) * axis + (slice(begin, begin + count),)
    return np.ascontiguousarray(value[where])
