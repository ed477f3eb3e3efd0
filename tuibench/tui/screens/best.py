"""The one number that a list shows of a benchmark, read from its headline: no record has to be opened for it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from tuibench.core.card import DAMAGED, BenchmarkRow
from tuibench.core.engine import short_names
from tuibench.core.trash import NEWER
from tuibench.report.listing import headline_words

_PART = re.compile(r"([\d.]+) (µs|ms|s|items/s)(?:/batch)?(?: ±([\d.]+) %)?(?: \((.*)\))?")
_FACTOR = {"µs": 1e-3, "ms": 1.0, "s": 1e3}
_VERDICT = re.compile(r"(.+?) is (faster|slower) than (.+?): (.+?) \(")
_EQUIVALENT = re.compile(r"(.+?) and (.+?) are equivalent within (.+?) in")
_DIFFERS = "outputs differ"
_NUMBER = re.compile(r"(\d+) (core|stream)s?\b")
_BATCH = re.compile(r"batch (\d+)")
_MISSING = re.compile(r"\d+ of \d+ cells? (?:failed|partial|skipped)")
_DIM = re.compile(r"(?:^|, )([^,=]+=\d+)(?=,|$)")
"""Named in a headline where it varied."""


@dataclass(frozen=True, slots=True)
class Best:
    """What stands under BEST and ±, and by what it is sorted."""

    text: str
    plus_minus: str = ""
    """Percent, without its sign."""
    differs: bool = False


def engine_word(engines: str) -> str:
    """Engines as a narrow column has them: ort|ov."""
    return short_names(engines.split(","))


def best_of(row: BenchmarkRow, times: str = "×") -> Best:
    """The best time, with its cell where there were several; else the best throughput, the verdict, or the reason."""
    if row.status == DAMAGED:
        return Best("damaged: its record cannot be read")
    if row.status == NEWER:
        return Best("written by a newer tuibench")
    parts = row.headline.split(" · ")
    found = _PART.match(parts[0])
    if found is None:
        return Best(headline_words(row))
    amount, unit, half, cell = found.groups()
    differs = _DIFFERS in parts
    words = [f"{row.status} {row.measured}/{row.cells}"] if row.status != "finished" else []
    words += [_DIFFERS] if differs else []
    verdict = next(filter(None, map(_verdict, parts[1:])), "")
    words.append(verdict or _number(row, amount, unit, cell or "", times))
    if not verdict and (other := _PART.match(parts[1]) if len(parts) > 1 else None) is not None:
        words.append(f"{other[1]} /s" if other[2] == "items/s" else f"{other[1]} {other[2]}")
    if row.status == "finished":
        words += filter(_MISSING.fullmatch, parts[1:])
    return Best(" · ".join(words), half or "", differs)


def order_of(row: BenchmarkRow) -> tuple[int, float]:
    """What its number is sorted by: times first, the least before; then items/s, the most before; then what has none.

    Thousands are sorted at once, so that this looks at no more than it must.
    """
    amount, _, rest = row.headline.partition(" ")
    unit = rest.partition(" ")[0].removesuffix("/batch")
    try:
        if unit in _FACTOR:
            return 0, float(amount) * _FACTOR[unit]
        return (1, -float(amount)) if unit == "items/s" else (9, 0.0)
    except ValueError:
        return 9, 0.0


def half_of(row: BenchmarkRow) -> float:
    """The interval of its number in percent; without one it comes last."""
    words = row.headline.split(" ", 3)
    try:
        return float(words[2].removeprefix("±")) if len(words) > 2 and words[2][:1] == "±" else math.inf
    except ValueError:
        return math.inf


def _number(row: BenchmarkRow, amount: str, unit: str, cell: str, times: str) -> str:
    """The number, and at which cell of several."""
    text = f"{amount} /s" if unit == "items/s" else f"{amount} {unit}"
    several = "," in row.cores or "," in row.batches
    place = {noun: count for count, noun in _NUMBER.findall(cell)}
    batch = _BATCH.search(cell)
    at = times.join(filter(None, (place.get("core", ""), batch[1] if batch else "")))
    where = [f"@{at}"] if several and at else []
    return " ".join([text, *where, *_DIM.findall(cell)])


def _verdict(part: str) -> str:
    """Of two sides that were measured in turn, as short as a column needs it."""
    if found := _VERDICT.match(part):
        return f"{engine_word(found[1])} {found[2]}: {found[4]}"
    if found := _EQUIVALENT.match(part):
        return f"{engine_word(found[1])}, {engine_word(found[2])} equivalent (±{found[3]})"
    return "undecided" if "undecided" in part else ""
