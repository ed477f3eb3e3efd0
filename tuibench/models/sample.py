"""Input values that a real model accepts: ids within tables, masks of ones, matching lengths, words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from tuibench.arrays.bundle import Array
from tuibench.core.dtype import ELEMENT_BITS
from tuibench.core.model import Port
from tuibench.models.role import is_image, is_mask, is_rate, is_state
from tuibench.models.vocabulary import Vocabulary

Draw = Callable[[np.random.Generator, tuple[int, ...]], Array]

_NOT_IN_NUMPY = (
    *("bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "float8e8m0"),
    *("int4", "uint4", "int2", "uint2", "float4e2m1"),
)
RAW_BYTES = {name: max(1, ELEMENT_BITS[name] // 8) for name in _NOT_IN_NUMPY}
"""Types that numpy lacks are passed as unsigned integers of this many bytes."""
_RATE = 16000
_SMALL = 2
_LARGEST_POSITION = 512
_WORDS = np.array(["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel"])


@dataclass(frozen=True)
class Recipe:
    """Generator of one input and its description; a constant recipe gives every sample the same array."""

    draw: Draw
    how: str
    constant: bool = False


def choose_recipe(port: Port, vocabulary: Vocabulary, dims: Mapping[str, int], length: int | None) -> Recipe:
    """Return the recipe for an input; `length` is the value of a lengths input, `dims` has the other dims."""
    name, dtype = port.name.lower(), port.dtype
    if dtype == "string":
        return _choose_string(port, vocabulary)
    if dtype == "bool":
        return Recipe(_ones, "true", True) if is_mask(port) or port.shape in ((), (1,)) else Recipe(_booleans, "random")
    if is_mask(port):
        return Recipe(_ones, "ones", True)
    if port.name in vocabulary.limits:
        return _choose_indices(name, vocabulary.limits[port.name], dims)
    if is_rate(port):
        return Recipe(partial(_constant, _RATE), f"{_RATE} Hz", True)
    if _is_integer(dtype):
        return _choose_integer(port, vocabulary, dims, length)
    if is_image(port) and not is_state(port):
        return Recipe(_pixels, "uniform [0, 1) in steps of 1/256")
    if port.shape == ():
        return Recipe(_uniform, "uniform [0, 1)")
    return Recipe(_normal, "normal")


def draw_array(recipe: Recipe, dtype: str, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
    """Return one array in the input's element type; raw bits for types that numpy lacks."""
    values = recipe.draw(generator, shape)
    if dtype == "string":
        return values
    if dtype == "bfloat16":
        return (values.astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    if dtype in RAW_BYTES:
        # Small positive bit patterns are finite, ordinary numbers in each of these types.
        return np.asarray(np.abs(values) * 4 % 8 + (40 if dtype.startswith("float8") else 0)).astype(np.uint8)
    return values if values.dtype == np.dtype(dtype) else values.astype(dtype)


def is_supported(dtype: str) -> bool:
    """Return whether values of this element type can be generated."""
    if dtype == "string" or dtype in RAW_BYTES:
        return True
    try:
        return np.dtype(dtype).kind in "fiubc"
    except TypeError:
        return False


def element_bytes(dtype: str) -> int:
    """Return the bytes per element of an input; an estimate for strings."""
    if dtype == "string":
        return 4 * max(len(word) for word in _WORDS.tolist())
    return RAW_BYTES[dtype] if dtype in RAW_BYTES else np.dtype(dtype).itemsize


def _choose_string(port: Port, vocabulary: Vocabulary) -> Recipe:
    known = vocabulary.strings.get(port.name)
    if known:
        return Recipe(partial(_choice, np.array(known)), f"of the {len(known)} categories in the model")
    return Recipe(partial(_choice, _WORDS), "words")


def _choose_indices(name: str, rows: int, dims: Mapping[str, int]) -> Recipe:
    if "position" in name:
        past = next((value for key, value in dims.items() if "past" in key.lower() and "+" not in key), 0)
        return Recipe(partial(_positions, rows, past), f"0, 1, 2 … below {rows}", True)
    return Recipe(partial(_integers, rows), f"ids in [0, {rows}), the model's table")


def _choose_integer(port: Port, vocabulary: Vocabulary, dims: Mapping[str, int], length: int | None) -> Recipe:
    name, known = port.name.lower(), vocabulary.integers.get(port.name)
    if known:
        return Recipe(partial(_choice, np.array(known)), f"of the {len(known)} categories in the model")
    if length is not None:
        return Recipe(partial(_constant, length), f"{length}, the length of the sequence", True)
    if "position" in name:
        return _choose_indices(name, _LARGEST_POSITION, dims)
    if "byte" in name or (port.dtype == "uint8" and len(port.shape or (1, 1)) != 0):
        return Recipe(partial(_integers, 256), "0 … 255")
    if port.dtype == "int8":
        return Recipe(partial(_integers, 128), "0 … 127")
    if port.shape in ((), (1,)):
        return Recipe(partial(_constant, 1), "1", True)
    return Recipe(partial(_integers, _SMALL), f"integers in [0, {_SMALL})")


def _is_integer(dtype: str) -> bool:
    return dtype not in RAW_BYTES and np.dtype(dtype).kind in "iu"


def _uniform(generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return np.asarray(generator.random(shape, dtype=np.float32))


def _pixels(generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Draw scaled bytes, as in images; takes a third of the time of drawing each float."""
    drawn = generator.integers(0, 256, shape, dtype=np.uint8)
    return np.asarray(np.multiply(drawn, np.float32(1 / 256), dtype=np.float32))


def _normal(generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return np.asarray(generator.standard_normal(shape, dtype=np.float32))


def _integers(limit: int, generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
    kind = np.uint8 if limit <= 256 else np.int32 if limit <= 2**31 else np.int64
    return np.asarray(generator.integers(0, max(limit, 1), shape, dtype=kind))


def _booleans(generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return np.asarray(generator.integers(0, 2, shape, dtype=np.uint8)).astype(np.bool_)


def _choice(values: Array, generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return np.asarray(values[generator.integers(0, len(values), shape)])


def _ones(_generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return np.ones(shape, np.float32)


def _constant(value: int, _generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return np.full(shape, value, np.int64)


def _positions(rows: int, past: int, _generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
    last = shape[-1] if shape else 1
    return np.broadcast_to((np.arange(last) + past) % max(rows, 1), shape).astype(np.int64) if shape else np.array(past)


def input_bytes(dtype: str, shape: tuple[int, ...]) -> int:
    """Return the bytes of one sample of an input; a dim of 0 counts as 1, as numpy refuses a huge dim beside it too."""
    return math.prod(max(dim, 1) for dim in shape) * element_bytes(dtype)
