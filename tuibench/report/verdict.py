"""The words of a comparison: the faster operand, by how much, how certain, or why there is no verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tuibench.core.headline import Verdict, verdict_of
from tuibench.core.scenario import THROUGHPUT
from tuibench.core.text import show
from tuibench.core.units import percent, seconds

if TYPE_CHECKING:  # listing needs no results, and importing their types takes 12 ms
    from tuibench.core.run import Comparison

_LEAST_PAIRS = 3
_LONGEST = 500


def comparison_sentence(found: Comparison) -> str:
    """Return the sentence of a comparison, safe to print."""
    return verdict_sentence(verdict_of(found))


def verdict_sentence(found: Verdict, *, brief: bool = False) -> str:
    """Return the sentence; `brief` omits intervals, for narrow lists."""
    if found.told:
        return show(found.told, _LONGEST)
    if found.kind is None:
        return f"{_ratio(found, brief)}; no verdict: {'; '.join(show(reason, _LONGEST) for reason in found.reasons)}"
    if found.low is None or found.high is None:
        return f"{_ratio(found, brief)}; undecided: {found.n} of at least {_LEAST_PAIRS} pairs"
    ratio = f"; ratio {_digits(found.ratio)} [{_digits(found.low)}, {_digits(found.high)}]"
    return _decision(found, found.low, found.high, brief) + ratio


def change_words(ratio: float) -> str:
    """Return a ratio of times as a percentage if small, as a factor if large."""
    if ratio >= 2 or ratio <= 0.5:
        return f"{_digits(ratio)} times the"
    return f"{percent(abs(ratio - 1))} {'more' if ratio > 1 else 'less'}"


def time_word(metric: str) -> str:
    """Return the quantity that a ratio of a metric compares."""
    return "time per item" if metric == THROUGHPUT else metric


def _decision(found: Verdict, low: float, high: float, brief: bool) -> str:
    base, new, margin = show(found.base), show(found.new), f"{found.margin * 100:g} %"
    of = time_word(found.metric)
    span = "" if brief else f" ({_span(low, high)})"
    if found.kind == "equivalent":
        return f"{new} and {base} are equivalent within {margin} in {of}{span}"
    if found.kind == "undecided":
        return f"undecided: {new} may differ from {base} by {_span(low, high)} in {of}{_settling(found, brief)}"
    sure = low > 1 + found.margin if found.kind == "slower" else high < 1 - found.margin
    caveat = "" if sure else f", perhaps by less than {margin}"
    return f"{new} is {found.kind} than {base}: {change_words(found.ratio)} {of}{span}{caveat}"


def _ratio(found: Verdict, brief: bool) -> str:
    ratio = f"{show(found.new)} / {show(found.base)} in {time_word(found.metric)}: {_digits(found.ratio)}"
    if found.low is None or found.high is None:
        return f"{ratio}, no interval"
    return ratio if brief else f"{ratio} ({_digits(found.low)} to {_digits(found.high)})"


def _settling(found: Verdict, brief: bool) -> str:
    more = found.more_pairs
    if more is None:
        return "; the spread is too large for more pairs to settle it"
    cost = "" if found.more_s is None or brief else f" ({seconds(found.more_s)})"
    return f"; about {more} more {'pair' if more == 1 else 'pairs'}{cost} would settle it"


def _span(low: float, high: float) -> str:
    if low > 2 or high < 0.5:
        return f"{_digits(low)} to {_digits(high)} times"
    return f"{_signed(low)} to {_signed(high)} %"


def _signed(ratio: float) -> str:
    value = (ratio - 1) * 100
    text = f"{abs(value):.1f}" if abs(value) < 99.5 else f"{abs(value):.0f}"
    if float(text) == 0:
        return text
    # A minus sign, because a hyphen between numbers reads as a range.
    return f"+{text}" if value > 0 else f"\N{MINUS SIGN}{text}"


def _digits(ratio: float) -> str:
    return f"{ratio:.3f}" if 0.1 <= ratio < 10 else f"{ratio:.4g}" if ratio >= 10 else f"{ratio:.3g}"
