"""Seeded samples for one point: the same request always gives the same bytes, and every sample differs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tuibench.arrays.bundle import Feed
from tuibench.core.errors import ModelError
from tuibench.core.model import FedInput, Port
from tuibench.core.text import show
from tuibench.core.units import size
from tuibench.models.candidate import Candidate
from tuibench.models.dim import describe_shape
from tuibench.models.layout import Layout
from tuibench.models.sample import Recipe, choose_recipe, draw_array, input_bytes, is_supported
from tuibench.models.vocabulary import Vocabulary

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
                what = f"input '{show(port.name, 60)}' is a {port.kind} of {show(port.dtype, 40)}"
                raise ModelError(f"{what}, for which no values can be made")
        if self.bytes_per_sample() <= available_bytes * _ROOM:
            return
        port = max(self.layout.ports, key=self._bytes)
        shape = "x".join(str(d) for d in self.candidate.shapes[port.name])
        raise ModelError(
            f"input '{show(port.name, 60)}' of {port.dtype} {shape} needs {size(self._bytes(port))}, "
            f"{size(max(available_bytes, 0))} are free; {self._advice(port)}"
        )

    def _is_known(self, port: Port) -> bool:
        if port.kind == "map":
            return True
        inner = "tensor" if port.kind == "tensor" else port.inner
        return inner in ("tensor", "sequence") and is_supported(port.dtype)

    def _advice(self, port: Port) -> str:
        free = [key for key in self.layout.keys(port) if isinstance(key, str)]
        if not free:
            return f"the model fixes it to {describe_shape(port)}"
        flags = ["-b …" if key in self.layout.batch else f"--dim {show(key, 40)}=…" for key in free]
        return "choose less with " + " ".join(flags)

    def _bytes(self, port: Port) -> int:
        if port.kind == "map" or self._is_absent(port):
            return 0
        items = _SEQUENCE_ITEMS if "sequence" in (port.kind, port.inner) else 1
        return items * input_bytes(port.dtype, self.candidate.shapes[port.name])

    def _column(self, port: Port, index: int, count: int) -> list[Any]:
        """Return one input's values in all samples."""
        if port.kind == "tensor" and self._recipes[port.name].constant:
            return [self._value(port, index, 0)] * count
        keys = self.layout.keys(port)
        if port.kind != "tensor" or not keys or keys[0] not in self.layout.batch:
            return [self._value(port, index, number) for number in range(count)]
        # Each sample starts one row later: all differ, and much less data is created, written and read.
        rows, *rest = self.candidate.shapes[port.name]
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
