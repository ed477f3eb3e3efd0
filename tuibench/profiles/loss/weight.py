"""Reads weights one at a time, as stored and as real values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from tuibench.arrays.bundle import Array
from tuibench.core.errors import ModelError
from tuibench.core.text import show
from tuibench.models.cost.tensor import size_of
from tuibench.models.external import extent, is_external, read_chunks
from tuibench.models.graph import dtype_name
from tuibench.profiles.loss.layer import Layer, constant_tensor, fill_tensor
from tuibench.profiles.loss.scope import Source


@dataclass(frozen=True, slots=True)
class Weight:
    """One weight: as stored, and its real values."""

    stored: Array
    real: Array
    """The real values as floats, in the same shape."""
    zero: Array
    """The stored value of zero: one element, or one per channel."""


class WeightReader:
    """Reads the weights of one model; caches the sizes of their files."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._sizes: dict[Path, int] = {}

    def stored(self, layer: Layer) -> Array:
        """Return the array stored in the file."""
        tensor = layer.root.tensor or constant_tensor(layer.root)
        if tensor is not None:
            return self.tensor(tensor)
        assert layer.root.node is not None
        filler = fill_tensor(layer.root.node)
        value = self.tensor(filler).reshape(-1) if filler is not None else np.zeros(1, np.float32)
        return np.full(layer.shape, value[0])

    def weight(self, layer: Layer, stored: Array | None = None) -> Weight:
        """Return a layer's weight; the layer must have no reason against it."""
        held = self.stored(layer) if stored is None else stored
        if held.dtype.kind == "f":
            return Weight(held, held if held.dtype != np.float16 else held.astype(np.float32), np.zeros(1, held.dtype))
        zero = self._along_channels(layer, layer.zero)
        zero = np.zeros(1, held.dtype) if zero is None else zero.astype(held.dtype)
        scale = self._along_channels(layer, layer.scale)
        real = held.astype(np.float32) - zero.astype(np.float32)
        # An overflowing scale gives infinite weights, which the layer then reports.
        with np.errstate(over="ignore", invalid="ignore"):
            return Weight(held, real if scale is None else real * scale.astype(np.float32), zero)

    def tensor(self, tensor: onnx.TensorProto) -> Array:
        """Read any tensor of the model; raise ModelError if it is damaged."""
        try:
            return np.asarray(numpy_helper.to_array(self._inside(tensor)))
        except (ValueError, TypeError, KeyError) as error:
            name = show(tensor.name, 60)
            raise ModelError(f"weight '{name}' is damaged: {show(error, 120)}", "export the model again") from None

    def raw(self, tensor: onnx.TensorProto) -> bytes:
        """Return exactly the bytes of an external weight."""
        place = extent(tensor, self._path, self._sizes)
        # Types of two or four bits share bytes; numpy uses one byte for each element.
        needed = size_of(dtype_name(tensor.data_type), tuple(tensor.dims))
        if needed is None:
            needed = math.prod(tensor.dims) * onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize
        return b"".join(read_chunks(place.path, place.offset, min(place.length, needed)))

    def _inside(self, tensor: onnx.TensorProto) -> onnx.TensorProto:
        if not is_external(tensor):
            return tensor
        return onnx.TensorProto(
            name=tensor.name, data_type=tensor.data_type, dims=tensor.dims, raw_data=self.raw(tensor)
        )

    def _along_channels(self, layer: Layer, source: Source | None) -> Array | None:
        tensor = (source.tensor or constant_tensor(source)) if source else None
        if tensor is None:
            return None
        values = self.tensor(tensor)
        if values.size == 1:
            return values.reshape(1)
        return values.reshape([-1 if at == layer.channel_axis else 1 for at in range(len(layer.shape))])
