"""The words of a headline: numbers, grade, missing cells and the verdict, in one line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tuibench.core.failure import failure_words
from tuibench.core.headline import BATCH_TIME, Headline, HeadlineNumber, ProfileFacts
from tuibench.core.label import name_cell
from tuibench.core.profile_spec import APPROXIMATED, PERFORMANCE
from tuibench.core.text import show
from tuibench.core.units import count_of, ms, percent, short
from tuibench.report.verdict import verdict_sentence

if TYPE_CHECKING:  # listing needs no results, and importing their types takes 12 ms
    from tuibench.core.run import RunResult

_LONGEST = 60
_MOST_WORDS = 200
_WHERE_KNOWN = ", where that is known"
_FINISHED = "finished"


def result_headline(result: RunResult) -> str:
    """Return the headline of a result."""
    from tuibench.core.result_headline import headline_of  # as above

    return headline_sentence(headline_of(result))


def headline_sentence(found: Headline, *, verdict: bool = True) -> str:
    """Return the whole line; `verdict` False omits the verdict, for places with a separate line for it."""
    parts = [*_numbers(found, cells=True), *grade_words(found), *remark_words(found)]
    if verdict and found.verdict is not None:
        parts.append(verdict_sentence(found.verdict))
    return " · ".join(filter(None, [*parts, *([] if found.status == _FINISHED else [show(found.status)])]))


def brief_headline(found: Headline) -> str:
    """Return the line without cells, grade and tool, which lists show in columns; an abnormal status comes first."""
    if found.status == _FINISHED:
        parts = [*_numbers(found, cells=False), *remark_words(found)]
    else:
        # An interrupted or cancelled run implies incomplete cells.
        failed = {status: count for status, count in found.missing.items() if status == "failed"}
        parts = [show(found.status), *_numbers(found, cells=False), *remark_words(found, failed)]
    if found.verdict is not None:
        parts.append(verdict_sentence(found.verdict, brief=True))
    return show(" · ".join(filter(None, parts)), _MOST_WORDS)


def number_words(number: HeadlineNumber, *, half: bool = True) -> str:
    """Return a number with its unit and interval."""
    amount = f"{short(number.value)} {number.unit}" if number.unit != "ms" else ms(number.value)
    per = "/batch" if number.metric == BATCH_TIME else ""
    return amount + per + ("" if number.half_width is None or not half else f" ±{percent(number.half_width)}")


def remark_words(found: Headline, missing: dict[str, int] | None = None) -> list[str]:
    """Return warnings about the numbers; empty without any."""
    if not found.numbers or found.profile is not None:
        return []
    remarks = ["outputs differ"] if found.differs else []
    return remarks + missing_words(found, missing)


def missing_words(found: Headline, missing: dict[str, int] | None = None) -> list[str]:
    """Return the number of incomplete cells by status."""
    every = found.missing if missing is None else missing
    return [f"{count} of {count_of(found.cells, 'cell')} {status}" for status, count in every.items()]


def grade_words(found: Headline) -> list[str]:
    """Return the grade, or a note that the tool gives none."""
    if found.tool:
        return [f"{show(found.tool)}, no grade, no interval"]
    return [f"grade {show(found.grade, 4)}"] if found.grade else []


def _numbers(found: Headline, *, cells: bool) -> Iterator[str]:
    for number in found.numbers:
        yield number_words(number) + (f" ({_cell(number, found)})" if cells and number.scenario else "")
    if found.profile is not None:
        yield from _profile_words(found)
    elif not found.numbers:
        yield _nothing(found, more=cells)


def _nothing(found: Headline, *, more: bool) -> str:
    """Return the reason of the first failure, the first thing to fix."""
    if found.failure is not None:
        others = f" (and {found.more_failures} more)" if more and found.more_failures else ""
        return failure_words(found.failure) + others
    skipped = found.missing.get("skipped", 0)
    return f"nothing measured: {count_of(skipped, 'cell')} skipped" if skipped else "nothing measured"


def _cell(number: HeadlineNumber, found: Headline) -> str:
    return name_cell(number, found.varied, model=show(number.model, _LONGEST), brief=not found.tool)


def _profile_words(found: Headline) -> Iterator[str]:
    facts = found.profile
    assert facts is not None
    if facts.kind == PERFORMANCE:
        if not found.numbers:
            yield "no time"
        yield "layers below the profiler's resolution" if facts.below_resolution else _heaviest(facts)
    elif facts.kind == APPROXIMATED:
        yield _largest_change(facts)
        yield "a proxy"
    else:
        yield from _loss_words(facts)


def _heaviest(facts: ProfileFacts) -> str:
    return f"{percent(facts.share)} {show(facts.op, _LONGEST)}" if facts.op else ""


def _largest_change(facts: ProfileFacts) -> str:
    if facts.layer and facts.db is not None:
        name = show(facts.layer, _LONGEST)
        return f"largest change of weights: {name}, {short(facts.db)} dB at {show(facts.level, 20)}"
    return "no weights change" + _WHERE_KNOWN * facts.unsure if facts.known else "no change of weights is known"


def _loss_words(facts: ProfileFacts) -> Iterator[str]:
    """Yield the layer that harms the outputs most, or the reason why there is none."""
    # If a profile ended early, the other layers are unknown.
    cut = facts.measured < facts.asked
    part = f"of {facts.measured} of {count_of(facts.asked, 'layer')} " if cut else ""
    if facts.harmed:
        others = facts.harmed_count - 1
        more = f" and {count_of(others, 'more layer')}" if others else ""
        yield f"{part}harm beyond dB: {show(facts.harmed, _LONGEST)}{more}"
    if facts.layer:
        most = "most sensitive of the others" if facts.harmed else f"{part}most sensitive"
        yield f"{most}: {sensitive_words(facts)}"
    elif not facts.harmed and facts.unknown:
        yield f"not known of any layer: {show(facts.unknown, _MOST_WORDS)}"
    elif not facts.harmed:
        yield (f"{part}none" if part else "no layer") + " loses anything" + _WHERE_KNOWN * facts.unsure


def sensitive_words(facts: ProfileFacts) -> str:
    """Return the most sensitive layer with its loss."""
    db = 0.0 if facts.db is None else facts.db
    return f"{show(facts.layer, _LONGEST)}, {short(db)} dB SQNR at {show(facts.level, 20)}"
