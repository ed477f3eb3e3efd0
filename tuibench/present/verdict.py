"""The sentences of all comparisons: how much less time, how many more items per second, or how many times as fast."""

from __future__ import annotations

import math

from tuibench.core.reason import Drift, Verdict
from tuibench.core.scenario import THROUGHPUT
from tuibench.core.text import show
from tuibench.core.units import count_of, seconds, short
from tuibench.present.reason import all_words, reason_words
from tuibench.stats.interval import least_share

FACTOR = 2.0
"""From this factor on a change is shown as a factor, below it as a percentage."""
_LEAST_PAIRS = 3
_MAX_CHARS = 500


def verdict_sentence(found: Verdict, *, brief: bool = False) -> str:
    """Return the sentence of a comparison, safe to print; `brief` omits intervals and drift, for narrow lists."""
    drift = "" if brief or found.drift is None or found.drift.reason is not None else f"; {drift_words(found.drift)}"
    return _sentence(found, brief) + drift


def drift_words(found: Drift) -> str:
    """Return how far the outputs of two models are from each other."""
    if found.reason is not None:
        return f"outputs not compared: {reason_words(found.reason, _MAX_CHARS)}"
    samples = count_of(found.samples, "generated sample" if found.is_generated else "sample")
    if found.is_equal:
        return f"outputs are equal on {samples}"
    parts = [f"SQNR {found.sqnr_db:.0f} dB"] if found.sqnr_db is not None else []
    parts += [f"at most {short(found.max_abs)} apart"] if found.sqnr_db is None and found.max_abs else []
    parts += [f"{count_of(found.differing, 'value')} not comparable as numbers"] if found.differing else []
    if found.same_top is not None and found.rows:
        # Rounded down, as a bound is.
        least = math.floor(least_share(found.same_top, found.rows) * 1000) / 10
        parts.append(f"same top class in {found.same_top} of {count_of(found.rows, 'row')} (at least {least:.1f} %)")
    words = f"outputs drift: {', '.join(parts)} on {samples}"
    return f"{words}, which is no accuracy check: give --inputs" if found.is_generated else words


def _sentence(found: Verdict, brief: bool) -> str:
    if found.told:
        return show(found.told, _MAX_CHARS)
    base, new, margin = show(found.base), show(found.new), f"{found.margin * 100:g} %"
    if found.kind is None:
        return f"{_plain(found, brief)}; no verdict: {'; '.join(all_words(found.reasons))}"
    if found.low is None or found.high is None:
        return f"{_plain(found, brief)}; undecided: {found.n} of at least {_LEAST_PAIRS} pairs"
    if found.kind == "equivalent":
        return f"{new} and {base} are equivalent within {margin}" + ("" if brief else f" ({_span(found)})")
    if found.kind == "undecided":
        return f"undecided: {new} {_verb(found)} {_span(found)} than {base}{_settling(found, brief)}"
    if is_factor(found.ratio):
        return _plain(found, brief)
    sure = found.low > 1 + found.margin if found.kind == "slower" else found.high < 1 - found.margin
    caveat = "" if sure else f", perhaps by less than {margin}"
    return f"{new} is {found.kind} than {base}: {change_words(found, brief=brief)}{caveat}"


def verdict_words(found: Verdict) -> str:
    """Return the verdict without names, short enough for a column: `faster: 13 % less time`."""
    if found.kind == "equivalent":
        return f"equivalent within {found.margin * 100:g} %"
    if found.kind not in ("faster", "slower"):
        return found.kind or "no verdict"
    change = change_words(found, brief=True)
    return change if is_factor(found.ratio) else f"{found.kind}: {change}"


def change_words(found: Verdict, *, brief: bool = False) -> str:
    """Return `13 % less time [12, 14]`, `8 % more items/s [6, 10]` or `2.1× as fast [2.0, 2.2]`."""
    amount, interval = _change(found)
    return amount if brief else amount + interval


def is_factor(ratio: float) -> bool:
    """Return whether a ratio of times is shown as a factor."""
    return ratio >= FACTOR or ratio <= 1 / FACTOR


def _change(found: Verdict) -> tuple[str, str]:
    """Return the change with its unit, and its interval in the same unit."""
    ratios = [one for one in (found.ratio, found.low, found.high) if one is not None]
    slow, rates = found.ratio > 1, found.metric == THROUGHPUT
    if is_factor(found.ratio):
        return _with_interval([one if slow else 1 / one for one in ratios], "×", "as slow" if slow else "as fast")
    changes = [_percent(one, rates) for one in ratios]
    sign = -1 if changes[0] < 0 else 1
    return _with_interval([sign * one for one in changes], " %", f"{_more_or_less(sign, rates)} {_noun(rates)}")


def _plain(found: Verdict, brief: bool) -> str:
    """Return the change with both names, without a verdict."""
    amount, interval = _change(found)
    joined = f"is {amount} as" if is_factor(found.ratio) else f"{_verb(found)} {amount} than"
    return f"{show(found.new)} {joined} {show(found.base)}{'' if brief else interval}"


def _verb(found: Verdict) -> str:
    return "has" if found.metric == THROUGHPUT else "takes"


def _more_or_less(change: float, rates: bool) -> str:
    return "more" if change > 0 else "fewer" if rates else "less"


def _noun(rates: bool) -> str:
    return "items/s" if rates else "time"


def _percent(ratio: float, rates: bool) -> float:
    return ((1 / ratio if rates else ratio) - 1) * 100


def _with_interval(values: list[float], unit: str, noun: str) -> tuple[str, str]:
    """Return the first value, and the others as an interval, least first, rounded to the precision of the interval."""
    value, *ends = values
    half = (max(ends) - min(ends)) / 2 if ends else abs(value) / 20
    digits = 0 if half >= 1 else 1 if half >= 0.1 or unit == " %" else 2
    shown = ", ".join(_number(end, digits) for end in sorted(ends))
    return f"{_number(value, digits)}{unit} {noun}", f" [{shown}]" if len(ends) > 1 else ""


def _number(value: float, digits: int) -> str:
    text = f"{abs(value):.{digits}f}"
    # A minus sign, because a hyphen between numbers reads as a range.
    return f"\N{MINUS SIGN}{text}" if value < 0 and float(text) else text


def _span(found: Verdict) -> str:
    """Return the interval of a change that may go either way, such as `3.0 % less to 5.1 % more time`."""
    rates = found.metric == THROUGHPUT
    low, high = sorted(_percent(one, rates) for one in (found.low, found.high) if one is not None)
    first, last = _more_or_less(low, rates), _more_or_less(high, rates)
    turn = "" if first == last else f" {first}"
    return f"{abs(low):.1f} %{turn} to {abs(high):.1f} % {last} {_noun(rates)}"


def _settling(found: Verdict, brief: bool) -> str:
    more = found.more_pairs
    if more is None:
        return "; the spread is too large for more pairs to settle it"
    cost = "" if found.more_s is None or brief else f" ({seconds(found.more_s)})"
    return f"; about {more} more {'pair' if more == 1 else 'pairs'}{cost} would settle it"
