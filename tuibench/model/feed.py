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

from tuibench.core.dims import describe_shape
from tuibench.core.errors import ModelError, UsageError
from tuibench.core.model import FedInput, Port
from tuibench.core.roles import Layout, is_sequence, is_tensor
from tuibench.core.spec import LOSS, BenchmarkSpec
from tuibench.core.text import show
from tuibench.core.units import count_of, size
from tuibench.model.file import open_regular, regular_size
from tuibench.model.inputs import RAW_BYTES
from tuibench.worker.bundle import Array, Feed

Shape = tuple[int, ...]
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
            raise UsageError(f"--inputs: input '{show(port.name, 60)}' is a {port.kind}, which .npz cannot hold")
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
        raise UsageError(f"--inputs {show(path)}: the inputs have different counts of samples: {sorted(counts)}")
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
        regular_size(Path(path), f"--inputs {show(path)}")
        with open(open_regular(Path(path)), "rb") as file:
            return _members(file, path, available_bytes)
    except UsageError:
        raise
    except ModelError as error:
        raise UsageError(error.message, error.hint.replace("an .onnx file", "an .npz file")) from None
    except Exception as error:  # zipfile raises a dozen types on damaged bytes, some of them builtin
        what = f"--inputs {show(path)} is not a readable .npz: {show(error, 100)}"
        raise UsageError(what, "write it with numpy.savez") from None


def _members(file: IO[bytes], path: str, available_bytes: int) -> dict[str, Array]:
    found: dict[str, Array] = {}
    with zipfile.ZipFile(file) as archive:
        # The directory has the unpacked sizes, so that a zip bomb is refused before unpacking.
        total = sum(info.file_size for info in archive.infolist())
        if total > available_bytes:
            raise UsageError(f"--inputs {show(path)} unpacks to {size(total)}, {size(available_bytes)} are free")
        for info in archive.infolist():
            name = info.filename.removesuffix(".npy")
            try:
                found[name] = _read_array(archive, info)
            except _Unreadable as error:
                what = f"--inputs {show(path)}: array '{show(name, 60)}' cannot be read: {error}"
                raise UsageError(what, error.hint) from None
    return found


class _Unreadable(Exception):
    def __init__(self, message: str, hint: str = "write it again with numpy.savez") -> None:
        super().__init__(message)
        self.hint = hint


def _read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Array:
    if info.flag_bits & _ENCRYPTED:
        raise _Unreadable("it is encrypted", "write it without a password, with numpy.savez")
    try:
        with archive.open(info) as member:
            _check_header(member, info.file_size)
        with archive.open(info) as member:
            return np.asarray(npy.read_array(member, allow_pickle=False))
    except _Unreadable:
        raise
    except MemoryError:
        raise _Unreadable(f"{size(info.file_size)} are more than the free memory", "use fewer samples") from None
    except Exception as error:  # headers are parsed as Python and data by any zip codec: any error type
        raise _Unreadable(f"it is damaged ({show(error, 80) or type(error).__name__})") from None


def _check_header(member: IO[bytes], file_bytes: int) -> None:
    """Refuse a header that declares more data than the file contains, before an array of that size is created."""
    version = npy.read_magic(member)
    if version not in _HEADERS:
        raise _Unreadable(f"its format {version[0]}.{version[1]} is not one that holds plain arrays")
    shape, _, dtype = _HEADERS[version](member)
    if dtype.hasobject:
        raise _Unreadable("it holds Python objects", "save strings with dtype str")
    promised, held_bytes = math.prod(shape) * dtype.itemsize, file_bytes - member.tell()
    if promised > held_bytes or any(dim < 0 for dim in shape):
        dims = show("[" + ", ".join(map(str, shape)) + "]", 60)
        raise _Unreadable(f"its header says {dims} of {dtype.name}, the file contains {size(held_bytes)} of it")


def _require_names(members: Mapping[str, Array], ports: tuple[Port, ...], path: str) -> None:
    expected = "the model's inputs: " + ", ".join(f"'{show(p.name, 40)}' {p.dtype} {describe_shape(p)}" for p in ports)
    for port in ports:
        sequence = "sequence" in (port.kind, port.inner)
        if port.kind != "optional" and not (port.name in members or (sequence and _items(members, port.name))):
            named = f"{port.name}/0" if sequence else port.name
            raise UsageError(f"--inputs {show(path)} has no array '{show(named, 60)}'", expected)
    known = {port.name for port in ports}
    for name in members:
        if name not in known and not (re.search(r"/\d+$", name) and name.rpartition("/")[0] in known):
            raise UsageError(f"--inputs {show(path)}: array '{show(name, 60)}' is no input of the model", expected)


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
        what = f"input '{show(port.name, 60)}' is {array.dtype.name}, the model takes {port.dtype}"
        raise UsageError(f"--inputs {show(path)}: {what}", f"convert it with .astype('{port.dtype}')")
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
    got = "[" + ", ".join(str(d) for d in array.shape) + "]"
    raise UsageError(
        f"--inputs {show(path)}: input '{show(port.name, 60)}' is {got}, the model takes {describe_shape(port)}",
        f"{_several(port)} are as many samples",
    )


def _several(port: Port) -> str:
    axes = describe_shape(port)[1:-1].split(", ") if port.shape else []
    # A model that takes one item at a time also accepts several of them on that axis.
    return "[" + ", ".join(["samples", *(axes[1:] if axes[:1] == ["1"] else axes)]) + "]"


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
