"""Which samples of a file a run is fed with: items of a batch count as samples where a smaller batch is asked for."""

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
    """The samples of a file as a run of `spec` is fed with them, and what is to be said of them."""
    found = read_feeds(path, layout.ports, available_bytes)
    whole, notes = found, []
    loss = spec.profile if spec.profile is not None and spec.profile.kind == LOSS else None
    batch = _asked_batch(spec, layout)
    if batch is None and loss is not None and not spec.batches and _holds_items(layout):
        # What a layer costs in accuracy is a matter of samples, and a thousand of them are no batch.
        batch = 1
    if batch is not None:
        found = _cut(found, layout, batch)
    if found is not whole:
        notes.append(f"the data are {count_of(len(found.samples), 'sample')} of batch {batch}")
    if loss is not None:
        # The others are not run: they need no room, and what is odd about them does not matter.
        found = replace(found, samples=found.samples[: max(1, loss.samples)])
    return replace(found, notes=(*odd_notes(layout.ports, found.samples), *notes))


def _asked_batch(spec: BenchmarkSpec, layout: Layout) -> int | None:
    """The one batch that is asked for, by itself or as the dim that it is."""
    by_dim = (
        value
        for address, values in spec.dims
        for value in values
        if address in layout.batch or layout.find_axis(address) in layout.batch
    )
    asked = set(spec.batches or by_dim)
    return asked.pop() if len(asked) == 1 else None


def _holds_items(layout: Layout) -> bool:
    """Whether what stands on the axis of the batch are items: not steps of time, or nodes that others point at."""
    if layout.batch_dim is not None:
        return True
    places = [(place, key) for key in layout.batch for place in layout.places[key]]
    if any(is_sequence(place, "" if key == place.address else key) for place, key in places):
        return False
    return layout.batch == frozenset(layout.axis_zero) and not _leaves_whole(layout)


def _leaves_whole(layout: Layout) -> bool:
    """Whether an input has free dims and none of them is the batch: what it holds may point at what is cut."""
    keys = (set(layout.keys(port)) for port in layout.ports if is_tensor(port))
    return any(any(isinstance(key, str) for key in found) and not found & layout.batch for found in keys)


def _cut(found: FileInputs, layout: Layout, batch: int) -> FileInputs:
    """Samples of `batch` items each; the same where that does not come out even."""
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
    """Each tensor that has the batch, and on which axis."""
    for port in layout.ports:
        axis = next((n for n, key in enumerate(layout.keys(port)) if key in layout.batch), None)
        if axis is not None and is_tensor(port):
            yield port.name, axis


def _part(value: Any, axis: int | None, begin: int, count: int) -> Any:
    if axis is None or value is None:
        return value
    where = (slice(None),) * axis + (slice(begin, begin + count),)
    return np.ascontiguousarray(value[where])
