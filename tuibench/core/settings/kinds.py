"""Kinds of settings: each reads a text and checks its range, and spells a value as text again."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from tuibench.core.engine import full_id, spell_id
from tuibench.core.errors import UsageError
from tuibench.core.schema import CORES, LENGTH, SIZE, Range, holds
from tuibench.core.settings.axis import Axis, parse_integers, parse_names
from tuibench.core.spec import LEVELS
from tuibench.core.text import MAX_NAME_CHARS, show
from tuibench.core.value import dataclass

Reader = Callable[[str, str], Any]
"""(flag as typed, text) to value; raises UsageError."""

_SIZES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?) ?([kmgt]i?)?b?", re.ASCII)
_SHAPE = re.compile(r"\[([0-9, ]*)\]", re.ASCII)
_NUMBER = re.compile(r"([0-9]{1,15}(\.[0-9]{0,25})?|\.[0-9]{1,25})(e[+-]?[0-9]{1,3})?", re.ASCII)


class Topology(Protocol):
    """The facts about the machine for `max` and `node`."""

    @property
    def default_cores(self) -> int:
        """Cores used by default: at most the whole cores of a quota."""

    @property
    def usable_cores(self) -> int:
        """Physical cores that affinity and quota allow to this process."""

    @property
    def node_cores(self) -> int:
        """Usable cores of one NUMA node."""


@dataclass(frozen=True, slots=True)
class Context:
    """Facts outside the request on which values depend, and the notes for the user."""

    topology: Topology
    find_file: Callable[[str], str]
    """Return the absolute path of an input file; raise UsageError if it does not exist."""
    notes: list[str]


class Kind:
    """A kind of value; its form in a request may differ from that in the specification."""

    is_free = False
    """True if any text is allowed, even with a leading dash."""
    is_switch = False
    bounds: Range | None = None
    """Lowest and highest number on any machine; None if it is not a number."""

    def __call__(self, flag: str, given: str) -> Any:
        """Return the value of a text; raise UsageError if it is not allowed."""
        return self._read(flag, given)

    def _read(self, flag: str, given: str) -> Any:
        if not given:
            raise UsageError("value_needed", subject=flag)
        return given

    def spell(self, value: Any) -> str:
        """Return the text that reads back to `value`."""
        return plain(value) if isinstance(value, float) else str(value)

    def check(self, flag: str, value: Any) -> None:
        """Raise UsageError for a value out of the range."""
        self(flag, self.spell(value))

    def settle(self, flag: str, value: Any, context: Context) -> Any:
        """Convert the value of a request to that of a specification."""
        return value

    def recall(self, value: Any) -> Any:
        """Convert the value of a specification to that of a request."""
        return value


class Text(Kind):
    """Any text except the empty one."""

    is_free = True


class FilePath(Text):
    """An input file, resolved when the request becomes a specification."""

    def settle(self, flag: str, value: Any, context: Context) -> Any:
        """See Kind."""
        return None if value is None else context.find_file(value)


class Label(Kind):
    """A name for lists: one line of visible characters, at most 200 of them."""

    is_free = True

    def _read(self, flag: str, given: str) -> str:
        if not given.strip():
            raise UsageError("value_needed", subject=flag)
        if len(given) > MAX_NAME_CHARS or show(given, MAX_NAME_CHARS) != given:
            raise UsageError("not_one_line", subject=flag, most=MAX_NAME_CHARS, given=given)
        return given


@dataclass(frozen=True)
class Switch(Kind):
    """A flag without a value; the specification has `given` if the flag is given, else `absent`."""

    given: bool | str = True
    absent: bool | str = False
    is_switch = True

    def settle(self, flag: str, value: Any, context: Context) -> Any:
        """See Kind."""
        return self.given if value else self.absent

    def check(self, flag: str, value: Any) -> None:
        """Allow both values."""

    def recall(self, value: Any) -> Any:
        """See Kind."""
        return value == self.given


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number from `low` to `high`."""

    low: int
    high: int

    @property
    def bounds(self) -> Range:  # type: ignore[override]
        """See Kind."""
        return self.low, self.high

    def _read(self, flag: str, given: str) -> int:
        is_plain = given.isascii() and given.isdigit() and len(given) <= 20
        if not is_plain or not self.low <= int(given) <= self.high:
            raise UsageError("not_in_integer_range", subject=flag, low=self.low, high=self.high, given=given)
        return int(given)


class Streams(Whole):
    """A number of streams, or `auto` for the default."""

    def __call__(self, flag: str, given: str) -> int | None:
        """See Kind."""
        if given.lower() == "auto":
            return None
        is_plain = given.isascii() and given.isdigit()
        if not is_plain or not self.low <= int(given[:20]) <= self.high:
            raise UsageError("not_streams", subject=flag, low=self.low, high=self.high, given=given)
        return int(given)


@dataclass(frozen=True)
class Decimal(Kind):
    """A number from `low` to `high`; `unit` names it in messages."""

    low: float
    high: float
    unit: str

    @property
    def bounds(self) -> Range:  # type: ignore[override]
        """See Kind."""
        return self.low, self.high

    def _read(self, flag: str, given: str) -> float:
        value = _float(given)
        if not self.low <= value <= self.high:
            raise UsageError("not_in_range", subject=flag, unit=self.unit, low=self.low, high=self.high, given=given)
        return value


class Percent(Kind):
    """A percentage, with or without its sign, as a fraction."""

    bounds = (0.0001, 1.0)

    def _read(self, flag: str, given: str) -> float:
        value = _float(given.rstrip("%").rstrip()) / 100
        if not holds(self.bounds, value):
            low, high = (end * 100 for end in self.bounds)
            raise UsageError("not_in_range", subject=flag, unit="percent", low=low, high=high, given=given)
        return value

    def spell(self, value: Any) -> str:
        """See Kind."""
        return plain(nearest(value * 100, value, lambda percent: percent / 100))


class OneOf(Kind):
    """One of several names."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def _read(self, flag: str, given: str) -> str:
        name = given.lower()
        if name not in self.names:
            raise UsageError("not_one_of", subject=flag, allowed=self.names, given=given)
        return name


class Size(Kind):
    """A number of bytes such as 8GB, 512MiB or 4000000000."""

    bounds = (2**20, 2**60)

    def _read(self, flag: str, given: str) -> int:
        match = _SIZE.fullmatch(given.strip().lower())
        count = math.floor(float(match[1]) * _SIZES[match[2] or ""]) if match and not given.isdigit() else 0
        count = int(given) if given.isascii() and given.isdigit() and len(given) <= 19 else count
        if not holds(self.bounds, count):
            raise UsageError("not_a_size", subject=flag, given=given)
        return count


class Shapes(Kind):
    """Shapes in the order of the model's inputs, such as [1,3,224,224] or [1,128],[1,128]."""

    bounds = SIZE

    def _read(self, flag: str, given: str) -> tuple[tuple[int, ...], ...]:
        found = _SHAPE.findall(given)
        # Joining the parts again and comparing detects any text between the brackets.
        if not found or "".join(f"[{inner}]," for inner in found).replace(" ", "") != given.replace(" ", "") + ",":
            raise _bad_shapes(flag, given)
        result = []
        for inner in found:
            parts = [part.strip() for part in inner.split(",")] if inner.strip() else []
            if not all(part.isdigit() and int(part[:12]) <= SIZE[1] for part in parts):
                raise _bad_shapes(flag, given)
            result.append(tuple(int(part) for part in parts))
        return tuple(result)

    def spell(self, value: Any) -> str:
        """See Kind."""
        return ",".join(f"[{joined(shape)}]" for shape in value)


text = Text()
label = Label()
percent = Percent()
size = Size()
shapes = Shapes()


def not_in_this_version(what: str, *, subject: str = "") -> UsageError:
    """Return the error for features that are planned but not implemented."""
    return UsageError("not_in_this_version", subject=subject, what=what)


def plain(value: float) -> str:
    """Return the shortest text that reads back to `value`."""
    return str(int(value)) if value == int(value) and value < 1e15 else repr(value)


def nearest(guess: float, wanted: float, read: Callable[[float], float]) -> float:
    """Return the shortest number near `guess` that `read` converts to `wanted`, because arithmetic rounds."""
    rounded = (float(f"{guess:.{digits}g}") for digits in range(1, 18))
    up, down = math.nextafter(guess, math.inf), math.nextafter(guess, 0)
    for candidate in (*rounded, up, down, math.nextafter(up, math.inf), math.nextafter(down, 0)):
        if read(candidate) == wanted:
            return candidate
    return guess


def joined(values: Any) -> str:
    """Return values separated by commas."""
    return ",".join(map(str, values))


def _bad_shapes(flag: str, given: str) -> UsageError:
    return UsageError("not_shapes", subject=flag, given=given)


def _float(given: str) -> float:
    # float() would accept 'inf', 'nan', '1_000' and digits of other scripts.
    return float(given) if _NUMBER.fullmatch(given) else math.nan


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
        value = self._spelled(value)
        asked = {token.strip().lower() for token in value.split(",")}
        for later in self._planned:
            if later in asked:
                raise not_in_this_version(later, subject=flag)
        names, said = parse_names(value, flag, self.allowed)
        if self._noun and len(names) > 1:
            raise UsageError("profile_takes_one_name", subject=flag, noun=self._noun, given=value)
        context.notes.extend(said)
        return names

    def _spelled(self, value: str) -> str:
        return value

    def recall(self, value: Any) -> Any:
        """See Kind."""
        return joined(value) or None


class EngineList(NameList):
    """Ids of engines; a release may be written as NAME==RELEASE, too."""

    def _spelled(self, value: str) -> str:
        return joined(map(spell_id, value.split(",")))

    def settle(self, flag: str, value: Any, context: Context) -> Any:
        """See Kind; an engine and its default release are the same."""
        names = super().settle(flag, value, context)
        same = {full_id(name): name for name in reversed(names)}
        kept = tuple(name for name in names if same[full_id(name)] == name)
        if left := [name for name in names if name not in kept]:
            context.notes.append(f"{flag}: {', '.join(left)} given more than once, measured once")
        return kept


@dataclass(frozen=True)
class IntegerList(Text):
    """Whole numbers as `1,2,4`, `1-8` or `pow2:64`: text in a request, a tuple in a specification."""

    low: int
    high: int | None
    noun: str = ""
    """Name of the one value of a profile; '' where lists are allowed."""
    is_free = False

    @property
    def bounds(self) -> Range:  # type: ignore[override]
        """See Kind."""
        return self.low, LENGTH[1] if self.high is None else self.high

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

    bounds = CORES

    def axis(self, flag: str, context: Context) -> Axis:
        """See IntegerList."""
        usable = context.topology.usable_cores
        return Axis(flag, self.low, usable, of_cores=True, node=min(context.topology.node_cores, usable))

    def settle(self, flag: str, value: Any, context: Context) -> Any:
        """See Kind."""
        return (context.topology.default_cores,) if value is None else super().settle(flag, value, context)


@dataclass(frozen=True)
class Dims(Text):
    """Sizes by the name of a dim: 'NAME=LIST' texts in a request, pairs in a specification."""

    noun: str = ""
    """See IntegerList."""
    bounds = SIZE

    def settle(self, flag: str, value: Any, context: Context) -> Any:
        """See Kind."""
        dims: dict[str, tuple[int, ...]] = {}
        for given in value:
            # Lists never contain '=', but names in models may.
            name, equals, sizes = given.rpartition("=")
            if not equals or not name:
                raise UsageError("not_a_dim" if self.noun else "not_a_dim_list", subject=flag, given=given)
            if name in dims:
                raise UsageError("dim_twice" if self.noun else "dim_list_twice", subject=flag, name=name)
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
            raise UsageError("not_one_of", subject=flag, allowed=LEVELS, given=given)
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
        raise UsageError("profile_takes_one_value", subject=axis.flag, noun=noun, given=given)
    return values, said
