"""Turn frozen dataclasses into plain JSON values and back, so that processes never exchange pickles.

A field that is added later needs a default, which `from_plain` gives to older files, and `metadata=ADDED_LATER`:
imports refuse an export without any other field.
Migrations (`store/envelope.py:STEPS`) change the layout of the store only.
"""

from __future__ import annotations

import base64
import dataclasses
import gc
import json
import math
import types
import typing
import zlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from operator import itemgetter
from typing import Any, TypeVar

from tuibench.core.reason import Reason


@contextmanager
def pause_collector() -> Iterator[None]:
    """Pause the garbage collector: each collection walks all objects and stops every thread."""
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()


LEAST = 256
"""Fewest rows that are packed; fewer stay readable in the file."""
_BLOCK = 2048
"""Rows per block."""
_MOST_BYTES = 1 << 26
"""Most bytes of one block; tuibench never writes more."""
MOST_NESTED = 8
"""Most levels of reasons within reasons; tuibench writes half of them."""


def pack(names: Sequence[str], columns: Sequence[Sequence[Any]]) -> dict[str, Any] | None:
    """Pack named columns of plain values; return None if a block would be too large to read back."""
    blocks = []
    for begin in range(0, len(columns[0]), _BLOCK):
        text = json.dumps([column[begin : begin + _BLOCK] for column in columns], separators=(",", ":")).encode("ascii")
        if len(text) > _MOST_BYTES:
            return None
        blocks.append(base64.b64encode(zlib.compress(text)).decode("ascii"))
    return {"columns": list(names), "rows": len(columns[0]), "blocks": blocks}


def unpack(found: Mapping[str, Any]) -> Iterator[dict[str, list[Any]]]:
    """Yield the named columns of each packed block; raise ValueError for anything that `pack` did not write."""
    count = 0
    for block in found["blocks"]:
        columns = json.loads(_inflate(block))
        lengths = {len(column) for column in columns}
        if len(lengths) != 1:
            raise ValueError("columns of several lengths")
        count += lengths.pop()
        yield dict(zip(found["columns"], columns, strict=True))
    if count != found["rows"]:
        raise ValueError(f"{count} rows of {found['rows']}")


def _inflate(block: str) -> bytes:
    engine = zlib.decompressobj()
    try:
        text = engine.decompress(base64.b64decode(block, validate=True), _MOST_BYTES)
    except zlib.error as error:
        raise ValueError(f"a block that cannot be unpacked: {error}") from error
    if not engine.eof:
        raise ValueError("a block that is cut short, or larger than any that is written")
    return text


_PLAIN = frozenset({bool, float, int, str, type(None)})
"""Types of the values that are plain already, nine tenths of a result."""

T = TypeVar("T")
Builder = Callable[[Any], Any]


def to_plain(value: Any, words: Callable[[Reason], str] | None = None) -> Any:
    """Return `value` with dataclasses as dicts and tuples as lists; the inverse of `from_plain`.

    `words` replaces each reason by its sentence, for exports.
    """
    if type(value) in _PLAIN:
        return value
    if words is not None and isinstance(value, Reason):
        return words(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: to_plain(one, words) for name, one in written(value)}
    if isinstance(value, dict):
        return {str(k): to_plain(v, words) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [v if type(v) in _PLAIN else to_plain(v, words) for v in value]
    return value


def written(value: Any) -> list[tuple[str, Any]]:
    """Return names and values of the fields of a dataclass, without empty fields marked `sparse`; 0.0 is a value."""
    pairs = ((f, getattr(value, f.name)) for f in dataclasses.fields(value))
    return [
        (f.name, "" if found is None and f.metadata.get("text") else found)
        for f, found in pairs
        if found or isinstance(found, float) or not f.metadata.get("sparse")
    ]


def to_compact(value: Any) -> Any:
    """Return the same with long tuples of one dataclass packed; `from_plain` reads both forms."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: to_compact(one) for name, one in written(value)}
    if isinstance(value, dict):
        return {str(k): to_compact(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        packed = _pack(value) if len(value) >= LEAST else None
        return packed if packed is not None else [to_compact(v) for v in value]
    return value


def _pack(rows: Sequence[Any]) -> dict[str, Any] | None:
    """Return the packed rows; None if they are not all of one dataclass."""
    kind = type(rows[0])
    if not dataclasses.is_dataclass(kind) or any(type(row) is not kind for row in rows):
        return None
    names = [f.name for f in dataclasses.fields(kind)]
    return pack(names, [[to_plain(getattr(row, name)) for row in rows] for name in names])


def from_plain(kind: type[T], data: Any) -> T:
    """Build a `kind` from the output of `to_plain`; ignore unknown keys so that newer writers can be read."""
    return typing.cast(T, _builder(typing.cast(Hashable, kind))(data))


@lru_cache(maxsize=512)
def _builder(kind: Any) -> Builder:
    # Builders are cached per type: a stored benchmark has thousands of values of a few dozen types.
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        options = [a for a in args if a is not type(None)]
        return _optional(_builder(options[0])) if len(options) == 1 else _same
    if origin is tuple:
        if len(args) == 2 and args[1] is Ellipsis:
            return _many(_builder(args[0]))
        return _row([_builder(a) for a in args])
    if origin is dict:
        return _mapping(_builder(args[1]))
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _reason if kind is Reason else _Maker(kind)
    return _float if kind is float else _same


def upgraded(kind: type, data: Any) -> Any:
    """Return the plain form of what an older version wrote for this dataclass."""
    upgrade = getattr(kind, "upgrade", None)
    return data if upgrade is None else upgrade(data)


class _Maker:
    """Builds one dataclass; reads its field types on first use, since a field may be of the same class.

    A class may have a static method `upgrade` that returns the present form of what older versions wrote.
    """

    __slots__ = ("_all", "_built", "_fields", "_kind", "_parts")

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._fields = dataclasses.fields(kind)
        self._parts: dict[str, Builder] | None = None
        self._built: list[tuple[int, Builder]] = []
        """The places of fields whose values are not taken as they are."""
        names = [f.name for f in self._fields]
        ordered = len(names) > 1 and not any(f.kw_only for f in self._fields)
        self._all: Callable[[Any], tuple[Any, ...]] | None = itemgetter(*names) if ordered else None

    def __call__(self, data: Any) -> Any:
        parts, plain = self._known(), upgraded(self._kind, data)
        if self._all is None or type(plain) is not dict:
            return self._by_name(parts, plain)
        try:
            values = list(self._all(plain))
        except KeyError:
            return self._by_name(parts, plain)
        for place, build in self._built:
            values[place] = build(values[place])
        return self._kind(*values)

    def _by_name(self, parts: dict[str, Builder], plain: Any) -> Any:
        """Build from a form without some fields, which get their defaults."""
        return self._kind(**{k: parts[k](v) for k, v in plain.items() if k in parts})

    def unpack(self, data: Any) -> tuple[Any, ...]:
        """Build all rows of a packed tuple."""
        parts = self._known()
        rows: list[Any] = []
        with pause_collector():
            for found in unpack(data):
                count = len(next(iter(found.values())))
                built = {name: map(parts[name], column) for name, column in found.items() if name in parts}
                columns = [built[f.name] if f.name in built else _defaults(f, count) for f in self._fields]
                rows.extend(map(self._kind, *columns))
        return tuple(rows)

    def _known(self) -> dict[str, Builder]:
        if self._parts is None:
            hints = typing.get_type_hints(self._kind)
            self._parts = {f.name: _builder(hints[f.name]) for f in self._fields}
            builders = enumerate(self._parts.values())
            self._built = [(place, build) for place, build in builders if build is not _same]
        return self._parts


def _defaults(field: dataclasses.Field[Any], count: int) -> list[Any]:
    """Return default values for a field that an older version did not write."""
    if field.default_factory is not dataclasses.MISSING:
        return [field.default_factory() for _ in range(count)]
    if field.default is dataclasses.MISSING:
        raise KeyError(field.name)
    return [field.default] * count


def _reason(data: Any, deepest: int = MOST_NESTED) -> Any:
    """Build a reason with the reasons in its fields; an empty sentence of an older version is none.

    Raise ValueError for a form that is never written: words are made of every level.
    """
    plain = Reason.upgrade(data)
    if plain is None:
        return None
    if not isinstance(plain, dict) or plain.keys() != {"code", "fields"} or deepest == 0:
        raise ValueError("no reason, or one within too many others")
    code, fields = plain["code"], plain["fields"]
    if type(code) is not str or not isinstance(fields, dict):
        raise ValueError("a reason without a code or fields")
    return Reason(code, {name: _field(one, deepest - 1) for name, one in fields.items()})


def _field(data: Any, deepest: int) -> Any:
    if isinstance(data, list):
        if any(isinstance(one, list) for one in data):
            raise ValueError("a list of lists in a reason")
        return [_field(one, deepest) for one in data]
    return _reason(data, deepest) if isinstance(data, dict) else data


def _same(data: Any) -> Any:
    return data


def _float(data: Any) -> Any:
    return float(data) if isinstance(data, int) else data


def _floats(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return values if _FLOATS.issuperset(map(type, values)) else tuple(map(_float, values))


_FLOATS = frozenset({float})


def _optional(build: Builder) -> Builder:
    return build if build is _same else lambda data: None if data is None else build(data)


def _many(build: Builder) -> Builder:
    if build is _same:
        return tuple
    if build is _float:
        return lambda data: _floats(tuple(data))
    if not isinstance(build, _Maker):
        return lambda data: tuple(map(build, data))
    return lambda data: build.unpack(data) if isinstance(data, dict) else tuple(map(build, data))


def _row(builders: list[Builder]) -> Builder:
    if set(builders) == {_float}:
        return lambda data: _floats(_counted(tuple(data), len(builders)))
    return lambda data: tuple(build(v) for build, v in zip(builders, data, strict=True))


def _counted(values: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    if len(values) != count:
        raise ValueError(f"{len(values)} values, not {count}")
    return values


def _mapping(build: Builder) -> Builder:
    # Copy even if nothing is converted, so that the caller never shares the parsed data.
    if build is _same:
        return lambda data: {**data}
    return lambda data: {k: build(v) for k, v in data.items()}


Test = Callable[[Any], bool]


def strictly(kind: type[T]) -> Callable[[Any], T]:
    """Return a `from_plain` for that kind that raises TypeError for a wrong type or a non-finite number."""

    def make(data: Any) -> T:
        made = from_plain(kind, data)
        if not fits(kind, made):
            raise TypeError(f"no {kind.__name__}")
        return made

    return make


def fits(kind: Any, value: Any) -> bool:
    """Return whether a value matches a type as our dataclass fields declare it, at every level."""
    return _test(typing.cast(Hashable, kind))(value)


@lru_cache(maxsize=512)
def _test(kind: Any) -> Test:
    # Tests are cached per type: a journal has thousands of values of a few dozen types.
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return lambda _: True
    if origin in (typing.Union, types.UnionType):
        return _one_of(args)
    if origin is tuple and args[-1] is Ellipsis:
        each = _test(args[0])
        return lambda value: isinstance(value, tuple) and all(map(each, value))
    if origin is tuple and len(set(args)) == 1:  # rows of numbers, the most common case
        each, count = _test(args[0]), len(args)
        return lambda value: isinstance(value, tuple) and len(value) == count and all(map(each, value))
    if origin is tuple:
        tests = [_test(one) for one in args]
        return lambda value: isinstance(value, tuple) and len(value) == len(tests) and _all(tests, value)
    if origin is dict:
        name, part = map(_test, args)
        return lambda value: isinstance(value, dict) and all(map(name, value)) and all(map(part, value.values()))
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _of_dataclass(kind)
    if kind is float:
        return lambda value: type(value) is float and math.isfinite(value)
    return lambda value: type(value) is kind


def _one_of(kinds: tuple[Any, ...]) -> Test:
    known = {type(None), bool, int, str}.intersection(kinds)
    options = [_test(one) for one in kinds if one not in known]
    if not options:
        return lambda value: type(value) in known
    if len(options) == 1:
        (only,) = options
        return lambda value: type(value) in known or only(value)
    return lambda value: type(value) in known or any(test(value) for test in options)


def _of_dataclass(kind: type) -> Test:
    names: list[str] = []
    tests: list[Test] = []

    def test(value: Any) -> bool:
        if not tests:  # built on first use: a field may be of the same class
            hints = typing.get_type_hints(kind)
            names.extend(hints)
            tests.extend(map(_test, hints.values()))
        return type(value) is kind and _all(tests, [getattr(value, name) for name in names])

    return test


def _all(tests: list[Test], values: Any) -> bool:
    for test, value in zip(tests, values, strict=True):  # noqa: SIM110 - twice as fast as `all` with a generator
        if not test(value):
            return False
    return True
