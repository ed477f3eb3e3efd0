"""Single values on the command line, each read in one place with the allowed range in its message."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from tuibench.core import ranges
from tuibench.core.errors import UsageError
from tuibench.core.text import LONGEST_NAME, show

Reader = Callable[[str, str], Any]
"""(flag as typed, text) to value; raises UsageError."""

_SIZES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?) ?([kmgt]i?)?b?", re.ASCII)
_SHAPE = re.compile(r"\[([0-9, ]*)\]", re.ASCII)
_NUMBER = re.compile(r"([0-9]{1,15}(\.[0-9]{0,25})?|\.[0-9]{1,25})(e[+-]?[0-9]{1,3})?", re.ASCII)


def text(flag: str, given: str) -> str:
    """Any text but none at all."""
    if not given:
        raise UsageError(f"{flag} needs a value")
    return given


def label(flag: str, given: str) -> str:
    """A name for lists: one line of visible characters, at most 200 of them."""
    if not given.strip():
        raise UsageError(f"{flag} needs a value")
    if len(given) > LONGEST_NAME or show(given, LONGEST_NAME) != given:
        raise UsageError(f"{flag} takes one line of at most {LONGEST_NAME} visible characters, not '{show(given, 40)}'")
    return given


def whole(low: int, high: int) -> Reader:
    """A reader of whole numbers from `low` to `high`."""

    def read(flag: str, given: str) -> int:
        plain = given.isascii() and given.isdigit() and len(given) <= 20
        if not plain or not low <= int(given) <= high:
            raise UsageError(f"{flag} takes a whole number from {low} to {high}, not '{show(given, 40)}'")
        return int(given)

    return read


def decimal(low: float, high: float, unit: str) -> Reader:
    """A reader of numbers from `low` to `high`; `unit` names them in the message."""

    def read(flag: str, given: str) -> float:
        value = _float(given)
        if not low <= value <= high:
            raise UsageError(f"{flag} takes {unit} from {low:g} to {high:g}, not '{show(given, 40)}'")
        return value

    return read


def percent(flag: str, given: str) -> float:
    """A percentage, with or without its sign, as a fraction."""
    value = _float(given.rstrip("%").rstrip()) / 100
    if not ranges.holds(ranges.TARGET, value):
        raise UsageError(f"{flag} takes percent from 0.01 to 100, not '{show(given, 40)}'")
    return value


def one_of(*names: str, later: tuple[str, ...] = ()) -> Reader:
    """A reader of one of some names; those in `later` are known but not built."""

    def read(flag: str, given: str) -> str:
        name = given.lower()
        if name in later:
            raise not_in_this_version(f"{flag} {name}")
        if name not in names:
            raise UsageError(f"{flag} takes {', '.join(names[:-1])} or {names[-1]}, not '{show(given, 40)}'")
        return name

    return read


def streams(flag: str, given: str) -> int:
    """A number of streams; tuning it by itself comes later."""
    if given.lower() == "auto":
        raise not_in_this_version(f"{flag} auto")
    count: int = whole(*ranges.STREAMS)(flag, given)
    return count


def size(flag: str, given: str) -> int:
    """A number of bytes such as 8GB, 512MiB or 4000000000."""
    match = _SIZE.fullmatch(given.strip().lower())
    count = math.floor(float(match[1]) * _SIZES[match[2] or ""]) if match and not given.isdigit() else 0
    count = int(given) if given.isascii() and given.isdigit() and len(given) <= 19 else count
    if not ranges.holds(ranges.MEMORY_BYTES, count):
        raise UsageError(f"{flag} takes a size from 1MiB to 1048576TiB such as 8GB or 512MiB, not '{show(given, 40)}'")
    return count


def shapes(flag: str, given: str) -> tuple[tuple[int, ...], ...]:
    """Shapes in the order of the model's inputs, such as [1,3,224,224] or [1,128],[1,128]."""
    found = _SHAPE.findall(given)
    # Rebuilding what was understood and comparing it refuses all that lies between the brackets.
    if not found or "".join(f"[{inner}]," for inner in found).replace(" ", "") != given.replace(" ", "") + ",":
        raise _bad_shapes(flag, given)
    result = []
    for inner in found:
        parts = [part.strip() for part in inner.split(",")] if inner.strip() else []
        if not all(part.isdigit() and int(part[:12]) <= ranges.SIZE[1] for part in parts):
            raise _bad_shapes(flag, given)
        result.append(tuple(int(part) for part in parts))
    return tuple(result)


def not_in_this_version(what: str) -> UsageError:
    """The one answer to everything that is planned but not built."""
    return UsageError(f"{what} is not in this version")


def _bad_shapes(flag: str, given: str) -> UsageError:
    return UsageError(
        f"{flag} takes one shape per input such as [1,3,224,224],[1,128], not '{show(given, 60)}'",
        "quote it, or the shell takes the brackets",
    )


def _float(given: str) -> float:
    # float() alone would take 'inf', 'nan', '1_000' and digits of other scripts.
    return float(given) if _NUMBER.fullmatch(given) else math.nan
