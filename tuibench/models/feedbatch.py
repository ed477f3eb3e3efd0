"""Samples of a data file for a run; splits a large batch into samples if a smaller batch is requested."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tuibench.core.profile_spec import LOSS
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.units import count_of
from tuibench.models.feedfile import FileInputs, odd_notes, read_feeds
from tuibench.models.layout import Layout, is_tensor
from tuibench.models.role import is_sequence


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
