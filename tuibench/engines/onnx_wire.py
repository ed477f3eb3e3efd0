"""Input and output names of an ONNX file, read from the wire format without parsing the rest.

For engines that rename ports when they read a model; a worker never imports onnx.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MODEL_GRAPH = 7
_GRAPH_INITIALIZER, _GRAPH_INPUT, _GRAPH_OUTPUT, _GRAPH_SPARSE = 5, 11, 12, 15
_TENSOR_NAME, _PORT_NAME, _SPARSE_VALUES = 8, 1, 1
_MOST_SHIFT = 63


def read_names(path: str) -> tuple[list[str], list[str]]:
    """Return the inputs that must be fed and the outputs, in file order; raise ValueError if the file is not ONNX.

    Only names are copied: the file is mapped and the weights are skipped.
    """
    with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        constants: set[bytes] = set()
        inputs: list[bytes] = []
        outputs: list[bytes] = []
        for field, begin, end in _walk(data, 0, len(data)):
            if field != _MODEL_GRAPH:
                continue
            for part, first, last in _walk(data, begin, end):
                if part == _GRAPH_INITIALIZER:
                    constants.add(_name(data, first, last, _TENSOR_NAME))
                elif part == _GRAPH_SPARSE:
                    constants.update(_sparse_names(data, first, last))
                elif part == _GRAPH_INPUT:
                    inputs.append(_name(data, first, last, _PORT_NAME))
                elif part == _GRAPH_OUTPUT:
                    outputs.append(_name(data, first, last, _PORT_NAME))
        return [name.decode() for name in inputs if name not in constants], [name.decode() for name in outputs]


def _sparse_names(data: mmap.mmap, begin: int, end: int) -> Iterator[bytes]:
    """Yield the name of a sparse weight, which is the name of its values tensor."""
    for field, first, last in _walk(data, begin, end):
        if field == _SPARSE_VALUES:
            yield _name(data, first, last, _TENSOR_NAME)


def _name(data: mmap.mmap, begin: int, end: int, wanted: int) -> bytes:
    for field, first, last in _walk(data, begin, end):
        if field == wanted:
            return data[first:last]
    return b""


def _walk(data: mmap.mmap, begin: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield number, start and end of each field of bytes; skip the other fields."""
    at = begin
    while at < end:
        tag, at = _varint(data, at, end)
        kind, last = tag & 7, at
        if kind == _VARINT:
            _, last = _varint(data, at, end)
        elif kind == _BYTES:
            length, at = _varint(data, at, end)
            last = at + length
        elif kind in (_FIXED64, _FIXED32):
            last = at + (8 if kind == _FIXED64 else 4)
        else:
            raise ValueError(f"wire type {kind} at byte {at}")
        if last > end:
            raise ValueError(f"field {tag >> 3} runs over the end of its message")
        if kind == _BYTES:
            yield tag >> 3, at, last
        at = last


def _varint(data: mmap.mmap, at: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while at < end and shift <= _MOST_SHIFT:
        byte = data[at]
        value |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return value, at
        shift += 7
    raise ValueError(f"no end of a number before byte {at}")
