"""Lists on the command line: `1,2,max`, `1-8`, `pow2`, `node`; the product of all lists is the sweep."""

from __future__ import annotations

from typing import TypeVar

from tuibench.core.errors import UsageError
from tuibench.core.schema import SIZE
from tuibench.core.value import dataclass

T = TypeVar("T")

MOST_VALUES = 1000
"""Longer lists are typing errors: that many cells would take too long."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The allowed values of one list: the flag for messages, the range, and the meaning of its ends."""

    flag: str
    low: int
    high: int | None
    """None: limited by the engine only, so that `max` and a bare `pow2` have no meaning."""
    of_cores: bool = False
    """True if the range is that of the physical cores usable here."""
    node: int | None = None
    """The value of `node`."""
    has_max: bool = True
    """True if `max` means the upper end; False if the upper end only catches typing errors."""
    is_list: bool = True
    """True if several values are allowed; if not, messages suggest no lists."""

    @property
    def end(self) -> int | None:
        """Value of `max` and upper end of a bare `pow2`; None if they have no meaning."""
        return self.high if self.has_max else None


def parse_integers(text: str, axis: Axis) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the values of a list in the order given, and a note where one was given twice."""
    values: list[int] = []
    for token in text.split(","):
        values += _expand(token.strip().lower(), axis)
        if len(values) > MOST_VALUES:
            raise UsageError("list_too_long", subject=axis.flag, given=text, most=MOST_VALUES)
    return _drop_repeats(tuple(values), axis.flag)


def parse_names(text: str, flag: str, allowed: tuple[str, ...] = ()) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of a list in the order given, and a note where one was given twice."""
    names = tuple(token.strip().lower() for token in text.split(","))
    for name in names:
        if allowed and name not in allowed:
            raise UsageError("not_one_of", subject=flag, allowed=allowed, given=name, is_list=True)
        if not name or not all(c.isascii() and (c.isalnum() or c in "-_.@+") for c in name):
            raise UsageError("not_names", subject=flag, given=text)
    return _drop_repeats(names, flag)


def _expand(token: str, axis: Axis) -> list[int]:
    if token == "node" and axis.node is not None:
        return [axis.node]
    if token == "max" and axis.end is not None:
        return [axis.end]
    if token == "pow2" and axis.end is not None:
        return _powers(max(axis.low, 1), axis.end, axis.end)
    if token.startswith("pow2:"):
        end = _within(token[5:], token, axis)
        return _powers(max(axis.low, 1), end, end)
    first, dash, last = token.partition("-")
    if not dash or not first:
        return [_within(token, token, axis)]
    start, end = _within(first, token, axis), _within(last, token, axis)
    if end < start:
        raise UsageError("range_backwards", subject=axis.flag, given=token, first=end, last=start)
    # Longer ranges than a list may have are cut, so that 1-2000000000 does not fill the memory.
    return list(range(start, min(end, start + MOST_VALUES + 1) + 1))


def _powers(low: int, high: int, last: int) -> list[int]:
    powers = [1 << n for n in range(high.bit_length()) if low <= 1 << n <= high]
    return powers if last in powers else [*powers, last]


def _within(digits: str, token: str, axis: Axis) -> int:
    # str.isdigit accepts digits of other scripts, and int() accepts spaces and underscores.
    plain = digits.isascii() and digits.isdigit() and len(digits) <= 10
    value = int(digits) if plain else -1
    high = SIZE[1] if axis.high is None else axis.high
    if not axis.low <= value <= high:
        raise UsageError(
            "not_in_list_range",
            subject=axis.flag,
            low=axis.low,
            high=high,
            of_cores=axis.of_cores,
            given=token,
            forms=_forms(axis),
        )
    return value


def _forms(axis: Axis) -> list[str]:
    """Return the ways to write a list; none where lists are not allowed."""
    if not axis.is_list:
        return []
    ends = ["max", "pow2"] if axis.end is not None else []
    return ["1,2,4", "1-4", *ends, *(["node"] if axis.node is not None else []), "pow2:64"]


def _drop_repeats(values: tuple[T, ...], flag: str) -> tuple[tuple[T, ...], tuple[str, ...]]:
    unique = tuple(dict.fromkeys(values))
    if len(unique) == len(values):
        return unique, ()
    repeated = [str(v) for v in unique if values.count(v) > 1]
    return unique, (f"{flag}: {', '.join(repeated)} given more than once, measured once",)
