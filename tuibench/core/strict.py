"""Whether what was built from plain values is of the types it says: `from_plain` takes any value for any."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Callable
from typing import Any, TypeVar

from tuibench.core.record import from_plain

T = TypeVar("T")


def strictly(kind: type[T]) -> Callable[[Any], T]:
    """As `from_plain` of that kind; TypeError where a value is of another type, or no finite number."""

    def make(data: Any) -> T:
        made = from_plain(kind, data)
        if not fits(kind, made):
            raise TypeError(f"no {kind.__name__}")
        return made

    return make


def fits(kind: Any, value: Any) -> bool:
    """Whether a value is of a type as fields of our dataclasses state them, all the way down."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return True
    if origin in (typing.Union, types.UnionType):
        return any(fits(one, value) for one in args)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        kinds = (args[0],) * len(value) if args[-1] is Ellipsis else args
        return len(kinds) == len(value) and all(map(fits, kinds, value))
    if origin is dict:
        return isinstance(value, dict) and all(fits(args[0], k) and fits(args[1], v) for k, v in value.items())
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = typing.get_type_hints(kind)
        return type(value) is kind and all(fits(hints[name], getattr(value, name)) for name in hints)
    if kind is float:
        return type(value) is float and math.isfinite(value)
    return type(value) is kind
