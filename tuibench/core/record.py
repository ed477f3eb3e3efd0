"""Turn frozen dataclasses into plain JSON values and back, so that processes never exchange pickles."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from tuibench.core.collector import pause_collector
from tuibench.core.packed import LEAST, pack, unpack

T = TypeVar("T")
Builder = Callable[[Any], Any]


def to_plain(value: Any) -> Any:
    """Return `value` with dataclasses as dicts and tuples as lists; the inverse of `from_plain`."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: to_plain(one) for name, one in written(value)}
    if isinstance(value, dict):
        return {str(k): to_plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(v) for v in value]
    return value


def written(value: Any) -> list[tuple[str, Any]]:
    """Return names and values of the fields of a dataclass, without empty fields marked `sparse`."""
    pairs = ((f, getattr(value, f.name)) for f in dataclasses.fields(value))
    return [(f.name, found) for f, found in pairs if not f.metadata.get("sparse") or found]


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
        return _Maker(kind)
    return _float if kind is float else _same


class _Maker:
    """Builds one dataclass; reads its field types on first use, since a field may be of the same class."""

    __slots__ = ("_fields", "_kind", "_parts")

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._fields = dataclasses.fields(kind)
        self._parts: dict[str, Builder] | None = None

    def __call__(self, data: Any) -> Any:
        parts = self._known()
        return self._kind(**{k: parts[k](v) for k, v in data.items() if k in parts})

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
        return self._parts


def _defaults(field: dataclasses.Field[Any], count: int) -> list[Any]:
    """Return default values for a field that an older version did not write."""
    if field.default_factory is not dataclasses.MISSING:
        return [field.default_factory() for _ in range(count)]
    if field.default is dataclasses.MISSING:
        raise KeyError(field.name)
    return [field.default] * count


def _same(data: Any) -> Any:
    return data


def _float(data: Any) -> Any:
    return float(data) if isinstance(data, int) else data


def _optional(build: Builder) -> Builder:
    return build if build is _same else lambda data: None if data is None else build(data)


def _many(build: Builder) -> Builder:
    if build is _same:
        return tuple
    if not isinstance(build, _Maker):
        return lambda data: tuple(map(build, data))
    return lambda data: build.unpack(data) if isinstance(data, dict) else tuple(map(build, data))


def _row(builders: list[Builder]) -> Builder:
    return lambda data: tuple(build(v) for build, v in zip(builders, data, strict=True))


def _mapping(build: Builder) -> Builder:
    # Copy even if nothing is converted, so that the caller never shares the parsed data.
    return lambda data: {k: build(v) for k, v in data.items()}
