"""Seeded inputs that a real model accepts, indexes within its vocabulary; the same request gives the same bytes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import onnx

from tuibench.core.dims import Candidate, shape_reason
from tuibench.core.errors import ModelError
from tuibench.core.model import ELEMENT_BITS, FedInput, Port
from tuibench.core.reason import Reason, because
from tuibench.core.roles import Layout, is_image, is_mask, is_rate, is_state
from tuibench.core.units import size
from tuibench.model.cost.expansion import inline
from tuibench.model.graph import text, walk_bodies
from tuibench.worker.bundle import Array, Feed

# Operators that pass on the values of their first input unchanged; those in _SPREADING do so for every input.
_SAME = frozenset(
    {"Cast", "Identity", "Reshape", "Unsqueeze", "Squeeze", "Clip", "Flatten", "Transpose", "Slice", "Expand", "Tile",
     "CastLike", "Dropout", "Split", "Gather", "GatherElements", "GatherND", "Pad"}
)  # fmt: skip
_SPREADING = frozenset({"Concat", "Max", "Min"})
_SHAPE_SAME = frozenset(
    {"Cast", "Identity", "Clip", "Dropout", "CastLike", "Relu", "DynamicQuantizeLinear", "QuantizeLinear"}
)
_TABLE_SAME = frozenset({"Cast", "Identity", "DequantizeLinear", "CastLike"})
_EMBED_TABLES = {0: 2, 1: 4}
"""com.microsoft EmbedLayerNormalization: the input with the table for each input of ids."""
_STRINGS = ("cats_strings", "keys_strings", "classlabels_strings", "string_vocabulary", "classes_strings")
_INTEGERS = ("cats_int64s", "keys_int64s", "int64_vocabulary", "cats_int64")


@dataclass(slots=True)
class Vocabulary:
    """Known values per input name: the smallest indexed table, and the categories it is looked up in."""

    limits: dict[str, int] = field(default_factory=dict)
    strings: dict[str, tuple[str, ...]] = field(default_factory=dict)
    integers: dict[str, tuple[int, ...]] = field(default_factory=dict)
    sizes: dict[tuple[str, int], int] = field(default_factory=dict)
    """Sizes that the first weights after an input require, by (input, axis); a negative axis counts from the end."""


_TABLES = {
    "input_ids": "vocab_size",
    "decoder_input_ids": "vocab_size",
    "token_type_ids": "type_vocab_size",
    "position_ids": "max_position_embeddings",
}


def configured_vocabulary(config: Mapping[str, Any]) -> Vocabulary:
    """Return the sizes of the tables that a configuration of transformers names."""
    sizes = {name: config.get(key) for name, key in _TABLES.items()}
    return Vocabulary({name: size for name, size in sizes.items() if isinstance(size, int) and size > 0})


def find_vocabulary(model: onnx.ModelProto | None, inputs: tuple[str, ...]) -> Vocabulary:
    """Follow each input through operators that keep its values, to the place where they are looked up."""
    found = Vocabulary()
    if model is None:
        return found
    tracer = _Tracer(model)
    for name in inputs:
        for node, position in tracer.uses(name, _SHAPE_SAME):
            size = tracer.expected_size(node, position)
            if size is not None:
                found.sizes.setdefault((name, size[0]), size[1])
        for node, position in tracer.uses(name, _SAME):
            rows = tracer.rows(node, position)
            if rows is not None:
                found.limits[name] = min(rows, found.limits.get(name, rows))
            for attribute in node.attribute:
                if text(attribute.name) in _STRINGS and attribute.strings:
                    found.strings[name] = tuple(text(s) for s in attribute.strings)
                if text(attribute.name) in _INTEGERS and attribute.ints:
                    found.integers[name] = tuple(attribute.ints)
    return found


class _Tracer:
    def __init__(self, model: onnx.ModelProto) -> None:
        self._users: dict[str, list[tuple[onnx.NodeProto, int]]] = {}
        self._makers: dict[str, onnx.NodeProto] = {}
        self._dims: dict[str, tuple[int, ...]] = {}
        for body in walk_bodies(model.graph):
            if isinstance(body, onnx.GraphProto):
                self._dims.update({text(i.name): tuple(i.dims) for i in body.initializer})
        inlined = inline(model) if model.functions else None
        for body in walk_bodies(inlined[1].graph if inlined is not None else model.graph):
            for node in body.node:
                for position, name in enumerate(node.input):
                    self._users.setdefault(text(name), []).append((node, position))
                self._makers.update((text(name), node) for name in node.output)

    def uses(self, name: str, through: frozenset[str]) -> Iterator[tuple[onnx.NodeProto, int]]:
        """Yield every node that `name` reaches through the operators in `through`, with its input position."""
        waiting, seen = [name], {name}
        while waiting:
            for node, position in self._users.get(waiting.pop(), []):
                yield node, position
                chooses = node.op_type == "Where" and position > 0
                spreading = through is _SAME and (node.op_type in _SPREADING or chooses)
                if (node.op_type in through and position == 0) or spreading:
                    fresh = [out for out in node.output if out not in seen]
                    seen.update(fresh)
                    waiting.extend(fresh)

    def rows(self, node: onnx.NodeProto, position: int) -> int | None:
        """Return the rows of the table in which `node` looks values up; None if it is no lookup."""
        if node.op_type in ("Gather", "GatherBlockQuantized") and position == 1:
            dims = self._table(node.input[0])
            axis = next((a.i for a in node.attribute if a.name in ("axis", "gather_axis")), 0)
            return dims[axis] if dims and -len(dims) <= axis < len(dims) else None
        if node.op_type in ("EmbedLayerNormalization", "SkipEmbedLayerNormalization"):
            table = _EMBED_TABLES.get(position)
            if table is not None and table < len(node.input):
                dims = self._table(node.input[table])
                return dims[0] if dims else None
        return None

    def expected_size(self, node: onnx.NodeProto, position: int) -> tuple[int, int] | None:
        """Return the (axis, size) that the weights of `node` require of its first input."""
        if position != 0:
            return None
        if node.op_type.startswith("TreeEnsemble"):
            used = [max(a.ints) for a in node.attribute if a.name == "nodes_featureids" and a.ints]
            return (-1, used[0] + 1) if used else None
        dims = self._table(node.input[1]) if len(node.input) > 1 else None
        if not dims or len(dims) < 2:
            return None
        number = {a.name: a.i for a in node.attribute}
        if node.op_type in ("MatMul", "MatMulInteger"):
            return -1, dims[-2]
        if node.op_type == "Gemm":
            return -1, dims[1] if number.get("transB", 0) else dims[0]
        if node.op_type in ("LSTM", "GRU", "RNN") and len(dims) == 3:
            return -1, dims[2]
        return (1, dims[1] * number.get("group", 1)) if node.op_type in ("Conv", "ConvInteger") else None

    def _table(self, name: str) -> tuple[int, ...] | None:
        for _ in range(8):
            if name in self._dims:
                return self._dims[name]
            maker = self._makers.get(name)
            if maker is None:
                return None
            if maker.op_type == "Constant":
                return next((tuple(a.t.dims) for a in maker.attribute if a.HasField("t")), None)
            if maker.op_type not in _TABLE_SAME or not maker.input:
                return None
            name = maker.input[0]
        return None


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


ALL_SAMPLES_BYTES = 256_000_000
_SEQUENCE_ITEMS = 2
_MAP_ENTRIES = 4
_WORDS_LENGTH = re.compile(r"len(gth)?s?($|_)|(^|_)(x|n)_?len")
_ROOM = 0.5
"""Usable share of the free memory: creating an input needs more, and workers keep it next to the model."""


@dataclass(frozen=True)
class Synthesis:
    """Synthetic inputs of one candidate."""

    layout: Layout
    vocabulary: Vocabulary
    candidate: Candidate
    seed: int

    def sample(self, number: int) -> Feed:
        """Return sample `number`; it does not depend on the count of samples."""
        return self.samples(number + 1)[number]

    def samples(self, count: int) -> list[Feed]:
        """Return `count` samples; a constant input is one shared array."""
        columns = {port.name: self._column(port, index, count) for index, port in enumerate(self.layout.ports)}
        return [{name: column[number] for name, column in columns.items()} for number in range(count)]

    def fed(self) -> tuple[FedInput, ...]:
        """Return the inputs with their origin, for the lines on stderr."""
        return tuple(
            FedInput(p.name, p.dtype, () if self._is_absent(p) else self.candidate.shapes[p.name], self._how(p))
            for p in self.layout.ports
        )

    def bytes_per_sample(self) -> int:
        """Return the memory of one sample."""
        return sum(self._bytes(port) for port in self.layout.ports)

    def require_room(self, available_bytes: int) -> None:
        """Raise ModelError for an input of an unsupported type, or one too large for the memory."""
        for port in self.layout.ports:
            if not self._is_known(port):
                raise ModelError("input_without_values", name=port.name, kind=port.kind, dtype=port.dtype)
        if self.bytes_per_sample() <= available_bytes * _ROOM:
            return
        port = max(self.layout.ports, key=self._bytes)
        free = [key for key in self.layout.keys(port) if isinstance(key, str)]
        raise ModelError(
            "input_too_large",
            name=port.name,
            dtype=port.dtype,
            shape=list(self.candidate.shapes[port.name]),
            bytes=self._bytes(port),
            free_bytes=max(available_bytes, 0),
            has_batch=any(key in self.layout.batch for key in free),
            dims=[key for key in free if key not in self.layout.batch],
        )

    def _is_known(self, port: Port) -> bool:
        if port.kind == "map":
            return True
        inner = "tensor" if port.kind == "tensor" else port.inner
        return inner in ("tensor", "sequence") and is_supported(port.dtype)

    def _bytes(self, port: Port) -> int:
        if port.kind == "map" or self._is_absent(port):
            return 0
        items = _SEQUENCE_ITEMS if "sequence" in (port.kind, port.inner) else 1
        return items * input_bytes(port.dtype, self.candidate.shapes[port.name])

    def _column(self, port: Port, index: int, count: int) -> list[Any]:
        """Return one input's values in all samples."""
        if port.kind == "tensor" and self._recipes[port.name].constant:
            return [self._value(port, index, 0)] * count
        keys, shape = self.layout.keys(port), self.candidate.shapes.get(port.name)
        if port.kind != "tensor" or not keys or keys[0] not in self.layout.batch or not shape:
            return [self._value(port, index, number) for number in range(count)]
        # Each sample starts one row later: all differ, and much less data is created, written and read.
        rows, *rest = shape
        generator = np.random.default_rng([self.seed, index])
        drawn = draw_array(self._recipes[port.name], port.dtype, (rows + count - 1, *rest), generator)
        return [drawn[number : number + rows] for number in range(count)]

    def _value(self, port: Port, index: int, number: int) -> Any:
        generator = np.random.default_rng([self.seed, number, index])
        if port.kind == "map":
            return _make_map(port, generator)
        if self._is_absent(port):
            return None
        shape, recipe = self.candidate.shapes[port.name], self._recipes[port.name]
        if "sequence" in (port.kind, port.inner):
            return [draw_array(recipe, port.dtype, shape, generator) for _ in range(_SEQUENCE_ITEMS)]
        return draw_array(recipe, port.dtype, shape, generator)

    def _is_absent(self, port: Port) -> bool:
        return port.kind == "optional" and not self.candidate.present

    def _how(self, port: Port) -> str:
        if port.kind == "map":
            return f"map of {_MAP_ENTRIES} entries"
        if self._is_absent(port):
            return "absent"
        words = self._recipes[port.name].how
        return f"{_SEQUENCE_ITEMS} items, {words}" if "sequence" in (port.kind, port.inner) else words

    @cached_property
    def _recipes(self) -> Mapping[str, Recipe]:
        dims = self.candidate.dims
        ports = [port for port in self.layout.ports if port.kind != "map"]
        return {p.name: choose_recipe(p, self.vocabulary, dims, self._length_for(p)) for p in ports} | {
            p.name: Recipe(lambda *_: np.empty(0), "") for p in self.layout.ports if p.kind == "map"
        }

    def _length_for(self, port: Port) -> int | None:
        """Return the value for an input of lengths: the size of a neighbouring input's axis of tokens or frames."""
        if not _WORDS_LENGTH.search(port.name.lower()) or len(port.shape or ()) > 1:
            return None
        stem = _WORDS_LENGTH.sub("", port.name.lower()).rstrip("_")
        neighbours = [p for p in self.layout.ports if p is not port and p.kind == "tensor" and len(p.shape or ()) > 1]
        neighbours.sort(key=lambda p: not (stem and stem in p.name.lower()))
        for other in neighbours:
            for place in (q for places in self.layout.places.values() for q in places if q.port is other and q.axis):
                return self.candidate.shapes[other.name][place.axis]
        for other in neighbours:
            return self.candidate.shapes[other.name][1]
        return None


def input_facts(port: Port) -> Reason:
    """Return an input of the model as a field of an error."""
    return because("input_with_type", name=port.name, dtype=port.dtype, shape=shape_reason(port))


def count_distinct(asked: int, bytes_per_sample: int) -> tuple[int, str | None]:
    """Return how many samples fit, and a note if fewer than requested."""
    fitting = max(1, ALL_SAMPLES_BYTES // max(bytes_per_sample, 1))
    if fitting >= asked:
        return max(asked, 1), None
    return fitting, f"{fitting} distinct inputs instead of {asked}: one sample takes {size(bytes_per_sample)}"


def _make_map(port: Port, generator: np.random.Generator) -> dict[Any, Any]:
    key, _, value = port.dtype.partition("->")
    values = generator.random(_MAP_ENTRIES, dtype=np.float32)
    named: Sequence[Any] = [f"key{n}" for n in range(_MAP_ENTRIES)] if key == "string" else range(_MAP_ENTRIES)
    if value == "string":
        return {k: f"value{n}" for n, k in enumerate(named)}
    whole = value.startswith(("int", "uint"))
    return {k: int(v * 8) if whole else float(v) for k, v in zip(named, values, strict=True)}
