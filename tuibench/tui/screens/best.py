"""The one number that a list shows of a benchmark, from its row's facts, without opening the record."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tuibench.core.card import DAMAGED, BenchmarkRow
from tuibench.core.engine import short_names
from tuibench.core.headline import Headline, HeadlineNumber, Verdict, row_headline
from tuibench.core.scenario import THROUGHPUT, find
from tuibench.core.text import show
from tuibench.core.trash import NEWER
from tuibench.core.units import ms, percent_number, short
from tuibench.report.headline import missing_words, sensitive_words
from tuibench.report.listing import headline_words
from tuibench.report.verdict import change_words, time_word

_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Best:
    """The texts of the columns BEST and ±."""

    text: str
    plus_minus: str = ""
    """Percent, without the sign."""
    differs: bool = False


def engine_word(engines: str) -> str:
    """Return engines for a narrow column: ort|ov."""
    return short_names(engines.split(","))


def best_of(row: BenchmarkRow, times: str = "×") -> Best:
    """Return the best time, with its cell if there are several; else the best throughput, verdict or reason."""
    if row.status == DAMAGED:
        return Best("damaged: its record cannot be read")
    if row.status == NEWER:
        return Best("written by a newer tuibench")
    found = row_headline(row)
    if found is None or not found.numbers:
        return Best(_sensitive(found) or headline_words(row))
    number, *others = found.numbers
    words = [f"{row.status} {row.measured}/{row.cells}"] if row.status != "finished" else []
    words += ["outputs differ"] if found.differs else []
    verdict = _verdict(found.verdict) if found.verdict is not None else ""
    words.append(verdict or _number(row, found, number, times))
    if not verdict:
        words += map(_amount, others)
    if row.status == "finished":
        words += missing_words(found)
    half = "" if number.half_width is None else percent_number(number.half_width)
    return Best(" · ".join(words), half, found.differs)


def order_of(row: BenchmarkRow) -> tuple[int, float]:
    """Return the sort key: times in ascending order, then items/s in descending order, then rows without numbers.

    Reads plain values, because thousands of rows are sorted at once.
    """
    numbers = row.facts.get("numbers")
    if not numbers:
        return 9, 0.0
    value = numbers[0]["value"]
    return (1, -value) if numbers[0]["metric"] == THROUGHPUT else (0, value)


def half_of(row: BenchmarkRow) -> float:
    """Return the interval of the row's number; infinity without one, which sorts it last."""
    numbers = row.facts.get("numbers")
    half: float = numbers[0].get("half_width", math.inf) if numbers else math.inf
    return half


def _amount(number: HeadlineNumber) -> str:
    return f"{short(number.value)} /s" if number.metric == THROUGHPUT else ms(number.value)


def _number(row: BenchmarkRow, found: Headline, number: HeadlineNumber, times: str) -> str:
    """Return the number, with its cell if there are several."""
    streams = find(number.scenario).has_streams if number.scenario else False
    sizes = {"cores": number.cores, "batch": number.batch}
    at = [str(size) for axis, size in sizes.items() if size and (not streams or axis in found.varied)]
    several = "," in row.cores or "," in row.batches
    where = [f"@{times.join(at)}"] if several and at else []
    return " ".join([_amount(number), *where, *(f"{show(name, _LONGEST)}={n}" for name, n in number.dims.items())])


def _verdict(found: Verdict) -> str:
    """Return the verdict on interleaved operands, short enough for a column."""
    base, new = (short_names([show(name, _LONGEST)]) for name in (found.base, found.new))
    if found.kind in ("faster", "slower"):
        return f"{new} {found.kind}: {change_words(found.ratio)} {time_word(found.metric)}"
    return f"{new}, {base} equivalent (±{found.margin * 100:g} %)" if found.kind == "equivalent" else found.kind or ""


def _sensitive(found: Headline | None) -> str:
    """Return the most sensitive layer of a complete loss profile without harmed layers."""
    facts = found.profile if found is not None else None
    whole = facts is not None and facts.layer and not facts.harmed and facts.measured == facts.asked > 0
    return sensitive_words(facts) if facts is not None and whole and found is not None else ""
