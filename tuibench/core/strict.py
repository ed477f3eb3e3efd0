"""Type checks for the output of `from_plain`, which accepts any value for any field."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any, TypeVar

from tuibench.core.record import from_plain

T = TypeVar("T")
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
        options = [_test(one) for one in args]
        return lambda value: any(test(value) for test in options)
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
    return all(test(value) for test, value in zip(tests, values, strict=True))
