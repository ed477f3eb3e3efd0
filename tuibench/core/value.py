"""Faster `dataclass` for frozen, slotted classes: creates a class in a third of the standard library's time.

A start imports two hundred of these classes, and the standard library compiles six methods for each. Here all classes
share their methods, and `__init__` is compiled when the first value is made.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

ADDED_LATER = {"later": True}
"""Metadata of a field that older exports lack, for `dataclasses.field`; imports give it its default."""
TEXT = {"text": True}
"""Metadata of an optional reason: None is written as '' instead of null in JSON."""

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414 - a name to import from here
else:

    def dataclass(cls=None, /, **options):
        """Return the decorator; other options than frozen and slots are left to the standard library."""
        if cls is None and options == {"frozen": True, "slots": True}:
            return _make_value
        return dataclasses.dataclass(cls, **options)


def _make_value(cls: type) -> type:
    own = set(vars(cls))
    if own & {"__init__", "__post_init__"}:
        raise TypeError(f"{cls.__name__}: a value has only the __init__ that is made here")
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    fields = dataclasses.fields(made)
    if not all(field.init and field.repr and not field.kw_only for field in fields):
        raise TypeError(f"{cls.__name__}: no init=False, repr=False or kw_only in a value")
    compared = [field for field in fields if field.compare]
    made.__compared__ = _getter(compared)
    made.__hashed__ = _getter([field for field in compared if field.hash is not False])
    for name, method in _METHODS.items():
        if name not in own:
            setattr(made, name, method)

    def init(self: Any, *args: Any, **named: Any) -> None:
        made.__init__ = _compile_init(fields)
        made.__init__(self, *args, **named)

    made.__init__ = init
    return made  # type: ignore[no-any-return]


def _getter(fields: list[dataclasses.Field[Any]]) -> Any:
    return staticmethod(attrgetter(*(field.name for field in fields)) if fields else lambda _: ())


def _compile_init(fields: tuple[dataclasses.Field[Any], ...]) -> Callable[..., None]:
    names: dict[str, Any] = {"set_": object.__setattr__, "MISSING": dataclasses.MISSING}
    parameters, lines = ["self"], []
    for field in fields:
        name = value = field.name
        parameter = name
        if field.default is not dataclasses.MISSING:
            names[f"default_{name}"] = field.default
            parameter = f"{name}=default_{name}"
        elif field.default_factory is not dataclasses.MISSING:
            names[f"make_{name}"] = field.default_factory
            parameter, value = f"{name}=MISSING", f"make_{name}() if {name} is MISSING else {name}"
        parameters.append(parameter)
        lines.append(f"    set_(self, {name!r}, {value})\n")
    exec(f"def __init__({', '.join(parameters)}):\n{''.join(lines) or '    pass'}", names)  # noqa: S102 - field names
    init: Callable[..., None] = names["__init__"]
    return init


def _equal(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self.__compared__(self) == self.__compared__(other)


def _hash(self: Any) -> int:
    return hash(self.__hashed__(self))


def _represent(self: Any) -> str:
    parts = (f"{name}={getattr(self, name)!r}" for name in self.__dataclass_fields__)
    return f"{type(self).__qualname__}({', '.join(parts)})"


def _refuse_set(_self: Any, name: str, _value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(_self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _restore(self: Any, state: tuple[None, dict[str, Any]]) -> None:
    for name, value in state[1].items():
        object.__setattr__(self, name, value)


_METHODS: dict[str, Callable[..., Any]] = {
    "__eq__": _equal,
    "__hash__": _hash,
    "__repr__": _represent,
    "__setattr__": _refuse_set,
    "__delattr__": _refuse_delete,
    "__setstate__": _restore,
}
