"""Kinds of settings with several values: names, numbers, sizes by name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tuibench.core.axis import Axis, parse_integers, parse_names
from tuibench.core.errors import UsageError
from tuibench.core.profile_spec import LEVELS
from tuibench.core.text import show
from tuibench.core.value import Context, Kind, Text, joined, not_in_this_version


class NameList(Text):
    """Names separated by commas: text in a request, a tuple in a specification."""

    is_free = False

    def __init__(
        self,
        default: tuple[str, ...],
        allowed: tuple[str, ...] = (),
        planned: tuple[str, ...] = (),
        noun: str = "",
    ) -> None:
        self.default = default
        self.allowed = allowed
        self._planned = planned
        self._noun = noun

    def settle(self, flag: str, value: Any, context: Context) -> Any:
        """See Kind."""
        if value is None:
            return self.default
        asked = {token.strip().lower() for token in value.split(",")}
        for later in self._planned:
            if later in asked:
                raise not_in_this_version(f"{flag} {later}")
        names, said = parse_names(value, flag, self.allowed)
        if self._noun and len(names) > 1:
            what = f"{flag} takes one {self._noun} here, not '{show(value, 40)}'"
            raise UsageError(what, f"a profile is of one {self._noun}")
        context.notes.extend(said)
        return names

    def recall(self, value: Any) -> Any:
        """See Kind."""
        return joined(value) or None


@dataclass(frozen=True)
class IntegerList(Text):
    """Whole numbers as `1,2,4`, `1-8` or `pow2:64`: text in a request, a tuple in a specification."""

    low: int
    high: int | None
    noun: str = ""
    """Name of the one value of a profile; '' where lists are allowed."""
    is_free = False

    def axis(self, flag: str, context: Context) -> Axis:
        """Return the allowed range."""
        return Axis(flag, self.low, self.high, has_max=False)

    def settle(self, flag: str, value: Any, context: Context) -> Any:
        """See Kind."""
        if value is None:
            return ()
        values, said = _integers(value, self.axis(flag, context), self.noun)
        context.notes.extend(said)
        return values

    def recall(self, value: Any) -> Any:
        """See Kind."""
        return joined(value) or None


class CoreList(IntegerList):
    """Numbers of cores; the maximum is the number of usable cores."""

    def axis(self, flag: str, context: Context) -> Axis:
        """See IntegerList."""
        usable = context.topology.usable_cores
        return Axis(flag, self.low, usable, "physical cores usable here", min(context.topology.node_cores, usable))

    def settle(self, flag: str, value: Any, context: Context) -> Any:
        """See Kind."""
        return (context.topology.default_cores,) if value is None else super().settle(flag, value, context)


@dataclass(frozen=True)
class Dims(Text):
    """Sizes by the name of a dim: 'NAME=LIST' texts in a request, pairs in a specification."""

    noun: str = ""
    """See IntegerList."""

    def settle(self, flag: str, value: Any, context: Context) -> Any:
        """See Kind."""
        dims: dict[str, tuple[int, ...]] = {}
        for given in value:
            # Lists never contain '=', but names in models may.
            name, equals, sizes = given.rpartition("=")
            if not equals or not name:
                form, hint = ("NAME=N", "") if self.noun else ("NAME=LIST", "such as --dim height=224,320")
                raise UsageError(f"{flag} takes {form}, not '{show(given, 60)}'", hint)
            if name in dims:
                hint = "a profile has one of each" if self.noun else "one list holds all its values: NAME=32,64"
                raise UsageError(f"{flag} {show(name, 60)} is given twice", hint)
            # Zero is a valid length: the past of a decoder at its first token.
            dims[name], said = _integers(sizes, Axis(f"{flag} {show(name, 60)}", 0, None), self.noun)
            context.notes.extend(said)
        return tuple(dims.items())

    def recall(self, value: Any) -> Any:
        """See Kind."""
        return tuple(f"{name}={joined(sizes)}" for name, sizes in value)


class Levels(Kind):
    """Changes of layers: 'int8', 'pruned 0.9' or the share alone; no value means all."""

    def _read(self, flag: str, given: str) -> str:
        known = {level: level for level in LEVELS} | {level.removeprefix("pruned "): level for level in LEVELS}
        name = given.strip().lower()
        if name not in known:
            raise UsageError(f"{flag} takes {', '.join(LEVELS[:-1])} or {LEVELS[-1]}, not '{show(given, 40)}'")
        return known[name]

    def settle(self, flag: str, value: Any, context: Context) -> Any:
        """See Kind."""
        asked = [self(flag, one) for one in value]
        return tuple(level for level in LEVELS if level in asked) if asked else LEVELS

    def recall(self, value: Any) -> Any:
        """See Kind."""
        return () if value == LEVELS else value


def _integers(given: str, axis: Axis, noun: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the values of a list and a note about repeated values; with `noun` only one value is allowed."""
    values, said = parse_integers(given, replace(axis, is_list=False) if noun else axis)
    if noun and len(values) > 1:
        what = f"{axis.flag} takes one value here, not '{show(given, 40)}'"
        raise UsageError(what, f"a profile has one {noun}; tuibench benchmark takes lists")
    return values, said
