"""Turn the frozen dataclasses into plain JSON values and back, so that no pickle ever crosses a process border."""

from __future__ import annotations

import dataclasses
import types
import typing
from functools import lru_cache
from typing import Any, TypeVar

T = TypeVar("T")


def to_plain(value: Any) -> Any:
    """Return `value` with dataclasses as dicts and tuples as lists; the inverse of `from_plain`."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(k): to_plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(v) for v in value]
    return value


def from_plain(kind: type[T], data: Any) -> T:
    """Build a `kind` from what `to_plain` gave; unknown keys are ignored so that newer writers can be read."""
    return typing.cast(T, _build(kind, data))


@lru_cache(maxsize=64)
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _build(kind: Any, data: Any) -> Any:
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        if data is None:
            return None
        options = [a for a in typing.get_args(kind) if a is not type(None)]
        return _build(options[0], data) if len(options) == 1 else data
    if origin is tuple:
        args = typing.get_args(kind)
        if len(args) == 2 and args[1] is Ellipsis:
            return tuple(_build(args[0], v) for v in data)
        return tuple(_build(a, v) for a, v in zip(args, data, strict=True))
    if origin is dict:
        value_kind = typing.get_args(kind)[1]
        return {k: _build(value_kind, v) for k, v in data.items()}
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = _hints(kind)
        known = {f.name for f in dataclasses.fields(kind)}
        return kind(**{k: _build(hints[k], v) for k, v in data.items() if k in known})
    return float(data) if kind is float and isinstance(data, int) else data
